"""Whether a stored index can be trusted: its versions, its bytes, and what to tell the user when it cannot.

**Invariant**: an index that is damaged, foreign or of another version is refused with `index_incompatible` and the
remedy; nothing of it reaches an answer.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sqlite3
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.types import SchemaStatus
from sightline_indexer import manifest
from sightline_indexer.layout import FINGERPRINT_NAME, TEXT_FOLDER
from sightline_indexer.schema import SCHEMA_VERSION, build_schema, open_text_index
from sightline_indexer.vocabulary import VOCABULARY_NAME

# Reading shares memory through a file of its own, which has to be made where no other process reads.
_NO_ROOM_NAMES = frozenset(
    {"SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMOPEN", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_SHMMAP"}
)
_REMEDY = "Run index_repo with force=true to build it anew."
_READ_BYTES = 1 << 20
_ATTEMPTS = 10
_SEGMENT_NAME = re.compile(r"[0-9a-f]{32}")
_FOOTER_MAGIC = 1337  # the last four bytes of a segment file; the four before them are the footer's length


@dataclass(frozen=True, slots=True)
class Health:
    """The verdict on a stored index; `blocked` when a full disk keeps a sound one from being opened."""

    status: SchemaStatus
    reason: str = ""
    stored_version: int = 0
    blocked: bool = False

    def check(self) -> None:
        """Raise `index_incompatible` unless the index can be used or is not there yet, another error when blocked."""
        if self.blocked:
            raise _no_room(self.reason)
        if self.status in (SchemaStatus.REINDEX_REQUIRED, SchemaStatus.CORRUPT_MANIFEST):
            raise incompatible(self.reason)


class UnusableIndexError(Exception):
    """Why an index is refused; becomes a `Health`."""

    def __init__(self, status: SchemaStatus, reason: str, stored_version: int = 0) -> None:
        super().__init__(reason)
        self.health = Health(status, reason, stored_version)


def incompatible(reason: str) -> SightlineError:
    """The error of an index that cannot be used."""
    return SightlineError(ErrorCode.INDEX_INCOMPATIBLE, f"The stored index cannot be used: {reason}.", hint=_REMEDY)


def is_out_of_room(error: Exception) -> bool:
    """Whether an engine failed because the disk has no room for what even reading needs."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorname", "") in _NO_ROOM_NAMES
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def _no_room(reason: str) -> SightlineError:
    return SightlineError(
        ErrorCode.INTERNAL_ERROR, f"The stored index cannot be opened: {reason}.", hint="Make room on its disk."
    )


@contextmanager
def reading() -> Generator[None]:
    """Turn what damaged files do to the engines into `index_incompatible`."""
    try:
        yield
    except (sqlite3.DatabaseError, zlib.error, msgspec.DecodeError) as error:
        if is_out_of_room(error):
            raise _no_room(f"its disk is full ({error})") from error
        raise incompatible(f"reading it failed ({error})") from error


def examine(folder: str, root: str) -> Health:
    """The health of the index in `folder`, by reading all of its bytes once."""
    try:
        version = _check_manifest_version(folder, root)
        if not _matches_fingerprint(folder, version):
            # No clean close: the text files carry their own checksums, the manifest is checked by its structure.
            _check_segments(os.path.join(folder, TEXT_FOLDER))
            _check_structure(folder)
        _check_schema(folder)
    except UnusableIndexError as error:
        return error.health
    except (OSError, ValueError, LookupError, TypeError, AttributeError, sqlite3.DatabaseError) as error:
        if is_out_of_room(error):
            return Health(SchemaStatus.COMPATIBLE, f"its disk is full ({error})", blocked=True)
        return Health(SchemaStatus.CORRUPT_MANIFEST, f"it is damaged ({error})")
    return Health(SchemaStatus.COMPATIBLE, stored_version=version)


def write_fingerprint(folder: str) -> None:
    """Note what the files of a closed index look like; removed again before they change."""
    target = os.path.join(folder, FINGERPRINT_NAME)
    temporary = target + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(_compute_fingerprint(folder), file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, target)


def close_well(folder: str) -> None:
    """Fingerprint an index that nobody else has open; only under the write lock, when our own readers are closed."""
    connection = manifest.open_manifest(folder, read_only=False)
    try:
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
    # The last one to close removes the log; while it is there, another process may still change the database.
    if not os.path.exists(os.path.join(folder, manifest.MANIFEST_NAME + "-wal")):
        write_fingerprint(folder)


def remove_fingerprint(folder: str) -> None:
    """Say that the files are about to change."""
    try:
        os.unlink(os.path.join(folder, FINGERPRINT_NAME))
    except FileNotFoundError:
        return


def remove_unpublished(text_folder: str) -> None:
    """Remove segment files that no commit names; only under the write lock, with no writer open."""
    published = set(_segment_files(text_folder))
    for name in os.listdir(text_folder):
        if _SEGMENT_NAME.fullmatch(name.split(".", 1)[0]) and name not in published:
            os.unlink(os.path.join(text_folder, name))


def _check_manifest_version(folder: str, root: str) -> int:
    connection = manifest.open_manifest(folder, read_only=True)
    try:
        application, version = manifest.read_versions(connection)
        if application != manifest.APPLICATION_ID:
            raise UnusableIndexError(SchemaStatus.CORRUPT_MANIFEST, "its manifest was not written by Sightline")
        if version != SCHEMA_VERSION:
            reason = f"it has schema version {version}, this is version {SCHEMA_VERSION}"
            raise UnusableIndexError(SchemaStatus.REINDEX_REQUIRED, reason, version)
        stored_root = manifest.read_meta(connection, "root")
        if stored_root != root:
            raise UnusableIndexError(SchemaStatus.CORRUPT_MANIFEST, "it belongs to another directory", version)
        return version
    finally:
        connection.close()


def _matches_fingerprint(folder: str, version: int) -> bool:
    """False when there is none; raises when the files are others than it says."""
    fingerprint = _read_fingerprint(folder)
    if fingerprint is None:
        return False
    try:
        same = fingerprint == _compute_fingerprint(folder)
    except FileNotFoundError:
        same = False
    if not same and _read_fingerprint(folder) == fingerprint:
        raise UnusableIndexError(SchemaStatus.CORRUPT_MANIFEST, "its files are not as they were written", version)
    # A writer in another process took the fingerprint away while we looked.
    return same


def _check_structure(folder: str) -> None:
    connection = manifest.open_manifest(folder, read_only=True)
    try:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()
    finally:
        connection.close()
    if verdict is None or verdict[0] != "ok":
        raise UnusableIndexError(SchemaStatus.CORRUPT_MANIFEST, "its manifest is damaged")


def _check_schema(folder: str) -> None:
    if open_text_index(os.path.join(folder, TEXT_FOLDER)).schema != build_schema():
        raise UnusableIndexError(SchemaStatus.REINDEX_REQUIRED, "its text index has other fields")


def _check_segments(folder: str) -> None:
    checked: set[str] = set()
    for attempt in range(_ATTEMPTS):
        try:
            for name in _segment_files(folder):
                if name not in checked and not _footer_agrees(os.path.join(folder, name)):
                    raise UnusableIndexError(SchemaStatus.CORRUPT_MANIFEST, f"'{name}' of its text index is damaged")
                checked.add(name)
            return
        except FileNotFoundError:
            # A writer in another process merged segments while we looked.
            if attempt == _ATTEMPTS - 1:
                raise


def _segment_files(folder: str) -> list[str]:
    """The files of the committed segments, by the engine's own list; others are leftovers it will remove."""
    with open(os.path.join(folder, "meta.json"), encoding="utf-8") as file:
        deletions = {
            str(item["segment_id"]).replace("-", ""): item["deletes"] for item in json.load(file)["segments"]
        }
    return sorted(name for name in os.listdir(folder) if _is_committed(name, deletions))


def _is_committed(name: str, deletions: Mapping[str, Mapping[str, int] | None]) -> bool:
    """Of a segment's deletion files a commit names one; another is what a kill left of the next commit."""
    segment, _, rest = name.partition(".")
    if segment not in deletions:
        return False
    if not rest.endswith(".del"):
        return True
    committed = deletions[segment]
    return committed is not None and rest == f"{committed['opstamp']}.del"


def _footer_agrees(path: str) -> bool:
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 8 or int.from_bytes(data[-4:], "little") != _FOOTER_MAGIC:
        return False
    length = int.from_bytes(data[-8:-4], "little")
    footer = json.loads(data[-8 - length : -8])
    return footer["crc"] == zlib.crc32(data[: -8 - length])


def _read_fingerprint(folder: str) -> dict[str, list[int]] | None:
    try:
        with open(os.path.join(folder, FINGERPRINT_NAME), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def _compute_fingerprint(folder: str) -> dict[str, list[int]]:
    """Name → size and checksum of every file that answers come from."""
    text = os.path.join(folder, TEXT_FOLDER)
    names = [manifest.MANIFEST_NAME, VOCABULARY_NAME, f"{TEXT_FOLDER}/meta.json"]
    names += [f"{TEXT_FOLDER}/{name}" for name in _segment_files(text)]
    return {name: _sum_file(os.path.join(folder, name)) for name in names}


def _sum_file(path: str) -> list[int]:
    checksum, size = 0, 0
    with open(path, "rb") as file:
        while chunk := file.read(_READ_BYTES):
            checksum = zlib.crc32(chunk, checksum)
            size += len(chunk)
    return [size, checksum]
