"""`sightline config`: the effective settings and who set each of them."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from sightline_server.cli.command import Command, config_of

if TYPE_CHECKING:
    from sightline_core.config import Config


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _run(args: argparse.Namespace) -> int:
    rows = settings_of(config_of(args))
    if args.json:
        body = {key: {"value": value, "origin": origin} for key, value, origin in rows}
        sys.stdout.write(json.dumps(body, indent=1) + "\n")
        return 0
    width = max(len(key) for key, _, _ in rows)
    for key, value, origin in rows:
        sys.stdout.write(f"{key:<{width}}  {json.dumps(value)}  # {origin}\n")
    return 0


def settings_of(config: Config) -> list[tuple[str, Any, str]]:
    """Key, value and origin of every setting."""
    from sightline_core.config import SETTINGS

    rows: list[tuple[str, Any, str]] = []
    for setting in SETTINGS:
        value: Any = getattr(config, setting.key)
        rows.append((setting.key, list(value) if setting.kind is list else value, config.origin(setting.key)))
    for item in fields(config.limits):
        key = f"limits.{item.name}"
        rows.append((key, getattr(config.limits, item.name), config.origin(key)))
    for language, servers in config.language_servers.items():
        key = f"language.{language}.servers"
        rows.append((key, list(servers), config.origin(key)))
    for name, table in config.server_tables.items():
        rows.append((f"server.{name}", dict(table), config.origin(f"server.{name}")))
    return rows


CONFIG = Command("config", "show the effective settings and where each comes from", _configure, _run)
