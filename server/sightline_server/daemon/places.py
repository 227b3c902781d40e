"""Where a daemon is found: its key, its socket, its lock and its log.

**Invariant**: what shapes the shared services is part of the key, what belongs to a session is not; every setting
is in exactly one of the groups.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from sightline_core.config import Config
from sightline_core.limits import Limits
from sightline_core.version import __version__

SERVICE_SETTINGS = ("data_dir", "watch", "audit_log")
SESSION_SETTINGS = ("workspace", "auto_workspace", "allowed_root", "toolset", "allow_write", "prewarm")
OWN_SETTINGS = ("transport", "port", "bind", "token_file", "daemon", "runtime_dir")
# The kernel's structure has 108 bytes (104 elsewhere), with the final zero.
_MAX_ADDRESS_BYTES = 100
_DIGITS_OF_DATA = 8
_DIGITS_OF_KEY = 16


class NoDaemonError(Exception):
    """There can be no daemon here, or none could be reached; the message says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one daemon listens."""

    folder: str
    name: str
    log_folder: str = ""

    @property
    def socket(self) -> str:
        """The socket."""
        return os.path.join(self.folder, f"{self.name}.sock")

    @property
    def lock(self) -> str:
        """The file whose lock is held while a daemon is started or ends."""
        return os.path.join(self.folder, f"{self.name}.lock")

    @property
    def log(self) -> str:
        """What the daemon has to say."""
        return os.path.join(self.log_folder, f"{self.name}.log")

    def is_sibling(self, other: Place) -> bool:
        """True for a daemon of the same data directory with another version or configuration."""
        return self.name != other.name and self.name[:_DIGITS_OF_DATA] == other.name[:_DIGITS_OF_DATA]


def place_of(config: Config, version: str = __version__) -> Place:
    """Where the daemon of this user, version, installation and configuration listens."""
    shaped = json.dumps([os.geteuid(), version, sys.prefix, service_settings(config)], sort_keys=True)
    data = hashlib.sha256(os.fsencode(config.data_dir)).hexdigest()[:_DIGITS_OF_DATA]
    key = hashlib.sha256(shaped.encode()).hexdigest()[:_DIGITS_OF_KEY]
    return Place(config.runtime_dir, f"{data}-{key}", os.path.join(config.data_dir, "logs"))


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
        "limits": asdict(config.limits),
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


def prepare_folder(folder: str) -> None:
    """Make the folder of the sockets, open to this user alone; raises `NoDaemonError` if it cannot be so."""
    if not hasattr(socket, "AF_UNIX"):
        raise NoDaemonError("this system has no Unix sockets")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.stat(folder)
        if found.st_uid != os.geteuid():
            raise NoDaemonError(f"{folder} belongs to somebody else")
        if stat.S_IMODE(found.st_mode) & 0o077:
            os.chmod(folder, 0o700)
    except OSError as error:
        raise NoDaemonError(f"{folder} cannot be used: {error.strerror or error}") from None


@contextmanager
def address_of(place: Place) -> Generator[str, None, None]:
    """The socket's address, also where its path is longer than the kernel takes."""
    if len(os.fsencode(place.socket)) <= _MAX_ADDRESS_BYTES:
        yield place.socket
        return
    if not os.path.isdir("/proc/self/fd"):
        raise NoDaemonError(f"{place.socket} is too long for a socket; set SIGHTLINE_RUNTIME_DIR")
    try:
        descriptor = os.open(place.folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise FileNotFoundError(error.errno, error.strerror) from None
    try:
        yield f"/proc/self/fd/{descriptor}/{place.name}.sock"
    finally:
        os.close(descriptor)
