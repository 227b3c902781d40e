"""The paths that git tracks, read from its index file.

**Invariant**: no process is started and nothing is believed: an index that is not of a known form gives no paths and
`readable` False, never an exception. Versions 2 to 4, split and sparse indexes, SHA-1 and SHA-256 repositories.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from sightline_core.limits import Limits
from sightline_indexer.repo_ref import GitDirectory, read_regular

_HEADER = struct.Struct(">4sII")
_FLAGS = struct.Struct(">H")
_WORD = struct.Struct(">I")
_STAT_BYTES = 40
_LONG_NAME = 0x0FFF
_EXTENDED = 0x4000
_HASH_BYTES = (20, 32)
_VERSIONS = (2, 3, 4)


@dataclass(frozen=True, slots=True)
class TrackedPaths:
    """The tracked paths of one repository, sorted bytewise, relative to the top of its work tree."""

    paths: Sequence[bytes] = ()
    readable: bool = True

    def __contains__(self, path: bytes) -> bool:
        at = bisect_left(self.paths, path)
        return at < len(self.paths) and self.paths[at] == path

    def has_below(self, directory: bytes) -> bool:
        """True when a tracked path lies below `directory`, or when it is itself tracked as a submodule."""
        below = directory + b"/"
        at = bisect_left(self.paths, below)
        return (at < len(self.paths) and self.paths[at].startswith(below)) or directory in self


def read_tracked(git: GitDirectory, limits: Limits) -> TrackedPaths:
    """What `git` tracks; nothing, and readable, before the first `git add`."""
    path = os.path.join(git.path, "index")
    if not os.path.lexists(path):
        return TrackedPaths()
    data = read_regular(path, limits.max_git_index_bytes)
    if data is None or len(data) > limits.max_git_index_bytes:
        return TrackedPaths(readable=False)
    for hash_bytes in _HASH_BYTES:
        try:
            return TrackedPaths(_all_names(data, hash_bytes, git, limits))
        except (_MalformedError, struct.error, IndexError):
            continue
    return TrackedPaths(readable=False)


class _MalformedError(Exception):
    """The bytes are no index with hashes of the size that was tried."""


def _all_names(data: bytes, hash_bytes: int, git: GitDirectory, limits: Limits) -> list[bytes]:
    names, end = _read_entries(data, hash_bytes)
    link = _link_extension(data, end, hash_bytes)
    if link is None:
        return names if _is_sorted(names) else sorted(names)
    shared_path = os.path.join(git.path, f"sharedindex.{link[:hash_bytes].hex()}")
    shared = read_regular(shared_path, limits.max_git_index_bytes)
    if shared is None:
        raise _MalformedError
    base, _ = _read_entries(shared, hash_bytes)
    deleted = _bitmap(link[hash_bytes:], len(base)) if len(link) > hash_bytes else set[int]()
    kept = {name for position, name in enumerate(base) if position not in deleted}
    # An entry that replaces one of the shared index leaves its name empty.
    kept.update(name for name in names if name)
    return sorted(kept)


def _is_sorted(names: list[bytes]) -> bool:
    return all(map(bytes.__le__, names, names[1:]))


def _read_entries(data: bytes, hash_bytes: int) -> tuple[list[bytes], int]:
    """The names in file order, and where the extensions begin."""
    signature, version, count = _HEADER.unpack_from(data)
    if signature != b"DIRC" or version not in _VERSIONS or count > len(data) // (_STAT_BYTES + hash_bytes):
        raise _MalformedError
    if version == _VERSIONS[-1]:
        return _read_compressed(data, count, hash_bytes)
    names: list[bytes] = []
    append = names.append
    flags_at = _STAT_BYTES + hash_bytes
    unpack = _FLAGS.unpack_from
    at = end = _HEADER.size
    for _ in range(count):
        (flags,) = unpack(data, at + flags_at)
        start = at + flags_at + (4 if flags & _EXTENDED else 2)
        end = start + (flags & _LONG_NAME)
        if flags & _LONG_NAME == _LONG_NAME:
            end = data.find(b"\0", end)
            if end < 0:
                raise _MalformedError
        append(data[start:end])
        at += (end - at + 8) & ~7
    if at > len(data) - hash_bytes or (count and data[end] != 0):
        raise _MalformedError
    return names, at


def _read_compressed(data: bytes, count: int, hash_bytes: int) -> tuple[list[bytes], int]:
    names: list[bytes] = []
    previous = b""
    flags_at = _STAT_BYTES + hash_bytes
    at = _HEADER.size
    for _ in range(count):
        (flags,) = _FLAGS.unpack_from(data, at + flags_at)
        at += flags_at + (4 if flags & _EXTENDED else 2)
        byte = data[at]
        at += 1
        dropped = byte & 127
        while byte & 128:
            byte = data[at]
            at += 1
            dropped = ((dropped + 1) << 7) | (byte & 127)
        end = data.find(b"\0", at)
        if end < 0 or dropped > len(previous):
            raise _MalformedError
        previous = previous[: len(previous) - dropped] + data[at:end]
        names.append(previous)
        at = end + 1
    if at > len(data) - hash_bytes:
        raise _MalformedError
    return names, at


def _link_extension(data: bytes, at: int, hash_bytes: int) -> bytes | None:
    """The body of the split-index extension; raises when the extensions do not end where the checksum begins."""
    end = len(data) - hash_bytes
    found: bytes | None = None
    while at + 8 <= end:
        signature = data[at : at + 4]
        (size,) = _WORD.unpack_from(data, at + 4)
        if signature == b"link":
            found = data[at + 8 : at + 8 + size]
        at += 8 + size
    if at != end:
        raise _MalformedError
    return found


def _bitmap(data: bytes, count: int) -> set[int]:
    """The set bits below `count` of an EWAH bitmap, git's compressed form."""
    (words,) = _WORD.unpack_from(data, _WORD.size)
    buffer = struct.unpack_from(f">{words}Q", data, 2 * _WORD.size)
    found: set[int] = set()
    at = position = 0
    while at < len(buffer) and position < count:
        marker = buffer[at]
        run, literals = (marker >> 1) & 0xFFFFFFFF, marker >> 33
        if marker & 1:
            found.update(range(position, min(position + run * 64, count)))
        position += run * 64
        for word in buffer[at + 1 : at + 1 + literals]:
            found.update(position + bit for bit in range(64) if word >> bit & 1)
            position += 64
        at += 1 + literals
    return found
