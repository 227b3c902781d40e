"""The registry file: which workspaces are known and trusted, across restarts.

**Invariant**: the file is replaced whole or not at all; a damaged one is set aside and reported, never fatal.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import tempfile
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from sightline_core.errors import ErrorCode, SightlineError

logger = logging.getLogger(__name__)

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """One known workspace; `servers` are the language servers that ran in it."""

    path: str
    project_id: str
    auto_discovered: bool
    trusted: bool
    last_used_at: str
    servers: tuple[str, ...] = ()


class Registry:
    """The known workspaces of this user, by resolved path."""

    def __init__(self, data_dir: str) -> None:
        """Reads what is there; creates `data_dir` with mode 0700 if it is missing."""
        os.makedirs(data_dir, mode=0o700, exist_ok=True)
        self._file = os.path.join(data_dir, "registry.json")
        self._entries = _read(self._file)

    def entries(self) -> list[RegistryEntry]:
        """All entries in the order they were added."""
        return list(self._entries.values())

    def get(self, path: str) -> RegistryEntry | None:
        """The entry of a resolved path."""
        return self._entries.get(path)

    def remember(self, path: str, *, auto_discovered: bool) -> RegistryEntry:
        """Add or touch a workspace; an explicit registration is never turned into a discovered one."""
        known = self._entries.get(path)
        self._entries[path] = RegistryEntry(
            path=path,
            project_id=project_id_of(path),
            auto_discovered=auto_discovered if known is None else auto_discovered and known.auto_discovered,
            trusted=known is not None and known.trusted,
            last_used_at=_now(),
            servers=known.servers if known is not None else (),
        )
        self._write()
        return self._entries[path]

    def remember_server(self, path: str, server: str) -> None:
        """Note that a language server ran in a workspace: from then on answers count on it."""
        known = self._entries.get(path)
        if known is not None and server not in known.servers:
            self._entries[path] = replace(known, servers=(*known.servers, server))
            self._write()

    def forget(self, path: str) -> None:
        """Remove a workspace; its index stays on disk."""
        if self._entries.pop(path, None) is not None:
            self._write()

    def set_trusted(self, path: str, *, trusted: bool) -> RegistryEntry:
        """Allow or forbid language servers that run code of this workspace; raises when that cannot be stored."""
        entry = self._entries.get(path) or self.remember(path, auto_discovered=False)
        self._entries[path] = replace(entry, trusted=trusted)
        try:
            self._store()
        except OSError as error:
            raise SightlineError(
                ErrorCode.INTERNAL_ERROR,
                f"{self._file} cannot be written: {error.strerror}.",
                hint="Make room, or set SIGHTLINE_DATA_DIR to another folder.",
            ) from None
        return self._entries[path]

    def _write(self) -> None:
        try:
            self._store()
        except OSError as error:
            # A full disk must not stop the server: the workspace is known to this process all the same.
            logger.warning("the registry could not be written: %s", error)

    def _store(self) -> None:
        body = {"format": _FORMAT, "workspaces": [asdict(entry) for entry in self._entries.values()]}
        folder = os.path.dirname(self._file)
        descriptor, temporary = tempfile.mkstemp(prefix=".registry-", dir=folder)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(body, file, indent=1)
            os.replace(temporary, self._file)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


def project_id_of(path: str) -> str:
    """The first 16 hexadecimal digits of a hash of the resolved path."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _read(file: str) -> dict[str, RegistryEntry]:
    try:
        with open(file, encoding="utf-8") as handle:
            return _decode(json.load(handle))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        logger.warning("the registry %s cannot be read and is set aside: %s", file, error)
        with contextlib.suppress(OSError):
            os.replace(file, file + ".damaged")
        return {}


def _decode(body: Any) -> dict[str, RegistryEntry]:
    rows = cast("list[dict[str, Any]]", body["workspaces"])
    entries = [
        RegistryEntry(
            path=str(row["path"]),
            project_id=project_id_of(str(row["path"])),
            auto_discovered=row["auto_discovered"] is True,
            trusted=row["trusted"] is True,
            last_used_at=str(row["last_used_at"]),
            servers=tuple(str(name) for name in row.get("servers", ())),
        )
        for row in rows
    ]
    return {entry.path: entry for entry in entries}
