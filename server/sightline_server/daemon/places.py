"""Which daemon is whose: the key of a configuration, and what a daemon is started with.

**Invariant**: what shapes the shared services is part of the key, what belongs to a session is not; every setting
is in exactly one of the groups.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sightline_core.config import Config
from sightline_core.limits import Limits
from sightline_core.version import __version__
from sightline_server.daemon.launch import LISTENER
from sightline_server.daemon.place import Place, Way, place_name
from sightline_server.daemon.plain_json import encode

SERVICE_SETTINGS = ("data_dir", "watch", "audit_log")
SESSION_SETTINGS = ("workspace", "auto_workspace", "allowed_root", "toolset", "allow_write", "prewarm")
OWN_SETTINGS = ("transport", "port", "bind", "token_file", "daemon", "runtime_dir")


def place_of(config: Config, version: str = __version__) -> Place:
    """Where the daemon of this user, version, installation and configuration listens."""
    shaped = json.dumps([os.geteuid(), version, sys.prefix, service_settings(config)], sort_keys=True)
    data = hashlib.sha256(os.fsencode(config.data_dir)).hexdigest()
    key = hashlib.sha256(shaped.encode()).hexdigest()
    return Place(config.runtime_dir, place_name(data, key), os.path.join(config.data_dir, "logs"))


def way_to(config: Config, greeting: Mapping[str, Any], verbose: int) -> Way:
    """How the daemon of this configuration is reached and started, with this hello."""
    place = place_of(config)
    order = {
        "settings": service_settings(config),
        "folder": place.folder,
        "name": place.name,
        "listener": LISTENER,
        "verbose": verbose,
    }
    argv = [sys.executable, "-P", "-m", "sightline_server.daemon"]
    return Way(place, encode(dict(greeting)), argv, encode(order), config.limits)


def all_places(config: Config) -> list[Place]:
    """Every socket in the user's folder, whoever listens there."""
    try:
        names = sorted(os.listdir(config.runtime_dir))
    except OSError:
        return []
    logs = os.path.join(config.data_dir, "logs")
    return [Place(config.runtime_dir, name[:-5], logs) for name in names if name.endswith(".sock")]


def service_settings(config: Config) -> dict[str, Any]:
    """What the daemon must know to open its services."""
    return {
        **{key: getattr(config, key) for key in SERVICE_SETTINGS},
        # The daemon runs in no directory of the user's.
        "audit_log": config.audit_log and os.path.abspath(os.path.expanduser(config.audit_log)),
        "limits": {item.name: getattr(config.limits, item.name) for item in fields(Limits)},
        "language_servers": {name: list(servers) for name, servers in config.language_servers.items()},
        "server_tables": {name: dict(table) for name, table in config.server_tables.items()},
    }


def service_config(settings: Mapping[str, Any], runtime_dir: str) -> Config:
    """The configuration of a daemon; sessions bring their own part."""
    return Config(
        **{key: settings[key] for key in SERVICE_SETTINGS},
        prewarm=False,
        toolset=("all",),
        runtime_dir=runtime_dir,
        limits=Limits(**settings["limits"]),
        language_servers={name: tuple(servers) for name, servers in settings["language_servers"].items()},
        server_tables=settings["server_tables"],
    )
