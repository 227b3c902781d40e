"""`sightline trust`: allow language servers that run a workspace's own code."""

from __future__ import annotations

import argparse
import json
import sys

from sightline_server.cli.command import Command, Group, config_of


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", metavar="PATH", help="the workspace; without it, list the trusted ones")
    parser.add_argument("--revoke", action="store_true", help="take the trust back")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _run(args: argparse.Namespace) -> int:
    from sightline_core.path_text import real_directory
    from sightline_server.registry import Registry

    registry = Registry(config_of(args).data_dir)
    if args.path is not None:
        registry.set_trusted(real_directory(args.path), trusted=not args.revoke)
    trusted = [entry.path for entry in registry.entries() if entry.trusted]
    if args.json:
        sys.stdout.write(json.dumps({"trusted": trusted}) + "\n")
    else:
        sys.stdout.write("".join(f"trusted  {path}\n" for path in trusted) or "no workspace is trusted\n")
    return 0 if trusted or args.path is not None else 1


TRUST = Command("trust", "allow language servers to run a workspace's own code", _configure, _run, group=Group.AGENTS)
