"""Which files define a name: the records of all definitions, in buckets by their key.

**Invariant**: records are only added; those of versions of files that are gone are passed over by readers and dropped
when parts of a bucket are joined, never while a reader may still ask for them. A bucket is a handful of parts, so
that one saved file writes little and a name is found by searching a few kilobytes of bytes.
"""

from __future__ import annotations

import sqlite3
import struct

from sightline_core.limits import Limits
from sightline_indexer.name_keys import BUCKET_BYTES, ENTRY_BYTES, NEEDLE_BYTES, bucket_and_needle

TABLE = "CREATE TABLE names (id INTEGER PRIMARY KEY, records BLOB NOT NULL);"

_RECORD = struct.Struct(f"<{NEEDLE_BYTES}sHHBIHI")
_SIZE = _RECORD.size
_FILE = struct.Struct("<I")
_FILE_AT = _SIZE - _FILE.size
assert ENTRY_BYTES - BUCKET_BYTES + _FILE.size == _SIZE
# The id of a part is its bucket and a number within it.
_PART_BITS = 32


# A definition that bears a name, as far as its key tells: file, number in it, kind, line, and whether it belongs to
# something. A plain tuple, because thousands of definitions may share a name.
NameRecord = tuple[int, int, int, int, bool]


def find_records(
    connection: sqlite3.Connection, name: str, *, case: int | None = None, owner: int | None = None
) -> list[NameRecord]:
    """All records of a name, also of files that are gone, in no order.

    With `case` only those of that mark; with `owner` those of that mark and those that belong to nothing.
    """
    bucket, needle = bucket_and_needle(name)
    low = bucket << _PART_BITS
    sql = "SELECT records FROM names WHERE id >= ? AND id < ?"
    found: list[NameRecord] = []
    for (records,) in connection.execute(sql, (low, low + (1 << _PART_BITS))).fetchall():
        _search(records, needle, case, owner, found)
    return found


def _search(records: bytes, needle: bytes, case: int | None, owner: int | None, found: list[NameRecord]) -> None:
    find, unpack = records.find, _RECORD.unpack_from
    at = find(needle)
    while at >= 0:
        if at % _SIZE:
            # The bytes stand across two records.
            at = find(needle, at + 1)
            continue
        _, case_mark, owner_mark, kind, line, ordinal, file_id = unpack(records, at)
        if (case is None or case == case_mark) and (owner is None or not owner_mark or owner == owner_mark):
            found.append((file_id, ordinal, kind, line, owner_mark != 0))
        at = find(needle, at + _SIZE)


class NameTableWriter:
    """Gathers the records of a generation and writes them with it; used by one thread, inside its transactions."""

    def __init__(self, connection: sqlite3.Connection, limits: Limits) -> None:
        self._sql = connection
        self._max_parts = limits.max_name_parts
        self._max_gathered = limits.max_gathered_name_bytes
        self._gathered = 0
        self._pending: dict[bytes, bytearray] = {}
        self._parts: dict[int, dict[int, int]] | None = None

    def add(self, keys: bytes, file_id: int) -> None:
        """The keys of a file's definitions, as `pack_keys` made them."""
        pending = self._pending
        file = _FILE.pack(file_id)
        for at in range(0, len(keys), ENTRY_BYTES):
            bucket = keys[at : at + BUCKET_BYTES]
            if bucket not in pending:
                pending[bucket] = bytearray()
            pending[bucket] += keys[at + BUCKET_BYTES : at + ENTRY_BYTES] + file
        self._gathered += len(keys)
        if self._gathered >= self._max_gathered:
            self.flush()

    def flush(self) -> None:
        """Write what was gathered, and join the parts of buckets that have too many."""
        parts = self._known_parts()
        added: list[tuple[int, bytearray]] = []
        crowded: list[int] = []
        for packed, records in self._pending.items():
            bucket = int.from_bytes(packed, "little")
            own = parts.setdefault(bucket, {})
            part = max(own, default=bucket << _PART_BITS) + 1
            own[part] = len(records)
            added.append((part, records))
            if len(own) > self._max_parts:
                crowded.append(bucket)
        # In the order of the table, so that its pages are filled one after the other.
        added.sort()
        self._sql.executemany("INSERT INTO names VALUES (?, ?)", added)
        self._pending.clear()
        self._gathered = 0
        if crowded:
            living = {row[0] for row in self._sql.execute("SELECT id FROM files")}
            for bucket in crowded:
                self._join(parts[bucket], living)

    def forget(self) -> None:
        """Drop what was gathered or written since the last commit."""
        self._pending.clear()
        self._gathered = 0
        self._parts = None

    def _known_parts(self) -> dict[int, dict[int, int]]:
        """Bucket → id of each part → its size."""
        if self._parts is None:
            self._parts = {}
            for part, size in self._sql.execute("SELECT id, length(records) FROM names"):
                self._parts.setdefault(part >> _PART_BITS, {})[part] = size
        return self._parts

    def _join(self, own: dict[int, int], living: set[int]) -> None:
        """Make one part of several: of all, unless the largest outweighs the others by far."""
        largest = max(own, key=lambda part: own[part])
        others = sum(own.values()) - own[largest]
        joined = sorted(part for part in own if part != largest or others * 4 >= own[largest])
        records = b"".join(self._read(part) for part in joined)
        kept = b"".join(
            records[at : at + _SIZE]
            for at in range(0, len(records), _SIZE)
            if _FILE.unpack_from(records, at + _FILE_AT)[0] in living
        )
        self._sql.executemany("DELETE FROM names WHERE id = ?", [(part,) for part in joined])
        into = max(own) + 1
        self._sql.execute("INSERT INTO names VALUES (?, ?)", (into, kept))
        for part in joined:
            del own[part]
        own[into] = len(kept)

    def _read(self, part: int) -> bytes:
        return self._sql.execute("SELECT records FROM names WHERE id = ?", (part,)).fetchone()[0]
