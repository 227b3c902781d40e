"""Symbols in the manifest: looked up by name, prefix, file and likeness.

**Invariant**: what is returned is ordered by text and place, never by row ids, so that an index that grew by edits
answers like a fresh one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import replace

from sightline_core.types import Symbol
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.records import FileRecord, SymbolEntry, SymbolRecord, to_symbol, unpack_texts
from sightline_indexer.words import fold

_COLUMNS = (
    "s.file_id, s.ordinal, s.name, s.qualified, s.container, s.kind,"
    " s.line, s.col, s.end_line, s.end_col, s.name_line, s.name_col"
)
_LOOKUP = (
    f"SELECT {_COLUMNS}, f.path, f.language, f.traits FROM symbols s JOIN files f ON f.id = s.file_id"  # noqa: S608
    " WHERE f.born <= :generation AND f.died > :generation"
)


def named(
    connection: sqlite3.Connection, generation: int, name: str, *, match_case: bool, limit: int, texts: bool = True
) -> list[SymbolRecord]:
    """Definitions called `name`; without `texts` their signatures and doc lines are left empty."""
    # The column compares without case; that finds the rows through the index, the second comparison is exact.
    exact = " AND s.name = :name COLLATE BINARY" if match_case else ""
    sql = f"{_LOOKUP} AND s.name = :name{exact} ORDER BY f.path, s.ordinal LIMIT :limit"
    return _records(connection, sql, {"generation": generation, "name": name, "limit": limit}, texts=texts)


def with_prefix(
    connection: sqlite3.Connection, generation: int, prefix: str, *, limit: int, texts: bool = True
) -> list[SymbolRecord]:
    """Definitions whose name begins with `prefix`, in any case."""
    sql = f"{_LOOKUP} AND s.name >= :low AND s.name < :high ORDER BY s.name, f.path, s.ordinal LIMIT :limit"
    bounds = {"low": prefix, "high": prefix + "\U0010ffff", "generation": generation, "limit": limit}
    return _records(connection, sql, bounds, texts=texts)


def in_file(connection: sqlite3.Connection, file: FileRecord, *, texts: bool = True) -> list[SymbolRecord]:
    """The definitions of one file."""
    sql = f"SELECT {_COLUMNS} FROM symbols s WHERE s.file_id = ? ORDER BY s.ordinal"  # noqa: S608
    known = _texts(connection, file.file_id) if texts else []
    return [
        _record(row[1], SymbolEntry(*row[2:12]), file.file_id, (file.path, file.language, file.traits), known)
        for row in connection.execute(sql, (file.file_id,))
    ]


def around(connection: sqlite3.Connection, file_id: int, line: int) -> Symbol | None:
    """The innermost definition whose lines hold `line`, without its signature and doc line."""
    sql = (
        f"SELECT {_COLUMNS} FROM symbols s WHERE s.file_id = ? AND s.line <= ? AND s.end_line >= ?"  # noqa: S608
        " ORDER BY s.line DESC, s.end_line, s.ordinal DESC LIMIT 1"
    )
    row = connection.execute(sql, (file_id, line, line)).fetchone()
    return None if row is None else to_symbol(SymbolEntry(*row[2:12]))


def names_in_files(connection: sqlite3.Connection, file_ids: Iterable[int]) -> set[str]:
    """The distinct names defined in some files."""
    names: set[str] = set()
    for file_id in file_ids:
        names.update(row[0] for row in connection.execute("SELECT name FROM symbols WHERE file_id = ?", (file_id,)))
    return names


def nearest(name: str, known: Iterable[str], distance: int, limit: int) -> list[str]:
    """The known names at most `distance` edits away, nearest first, without the name itself."""
    wanted = fold(name)
    ranked: list[tuple[int, str]] = []
    for other in known:
        if other == name:
            continue
        edits = _edits(wanted, fold(other), distance)
        if edits <= distance:
            ranked.append((edits, other))
    return [other for _, other in sorted(ranked)[:limit]]


def with_texts(connection: sqlite3.Connection, records: Iterable[SymbolRecord]) -> list[SymbolRecord]:
    """Definitions with their signatures and doc lines."""
    sql = "SELECT ordinal FROM symbols WHERE file_id = ? AND name = ? AND line = ? AND col = ?"
    texts: dict[int, list[tuple[str, str]]] = {}
    filled: list[SymbolRecord] = []
    for record in records:
        symbol, file_id = record.symbol, record.file_id
        if file_id not in texts:
            texts[file_id] = _texts(connection, file_id)
        start = symbol.range.start
        row = connection.execute(sql, (file_id, symbol.name, start.line, start.column)).fetchone()
        if row is not None and row[0] < len(texts[file_id]):
            ordinal: int = row[0]
            signature, doc = texts[file_id][ordinal]
            symbol = replace(symbol, signature=signature, doc=doc)
        filled.append(replace(record, symbol=symbol))
    return filled


def _records(
    connection: sqlite3.Connection, sql: str, values: dict[str, str | int], *, texts: bool = True
) -> list[SymbolRecord]:
    known: dict[int, list[tuple[str, str]]] = {}
    records: list[SymbolRecord] = []
    for row in connection.execute(sql, values).fetchall():
        file_id = row[0]
        if file_id not in known:
            known[file_id] = _texts(connection, file_id) if texts else []
        place = (row[12], row[13], FileTrait(row[14]))
        records.append(_record(row[1], SymbolEntry(*row[2:12]), file_id, place, known[file_id]))
    return records


def _record(
    ordinal: int,
    entry: SymbolEntry,
    file_id: int,
    place: tuple[str, str, FileTrait],
    texts: list[tuple[str, str]],
) -> SymbolRecord:
    signature, doc = texts[ordinal] if ordinal < len(texts) else ("", "")
    path, language, traits = place
    return SymbolRecord(file_id, path, language, traits, to_symbol(entry, signature, doc))


def _texts(connection: sqlite3.Connection, file_id: int) -> list[tuple[str, str]]:
    row = connection.execute("SELECT packed FROM texts WHERE file_id = ?", (file_id,)).fetchone()
    return unpack_texts(row[0]) if row else []


def _edits(left: str, right: str, bound: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between two texts; `bound` + 1 when more."""
    if abs(len(left) - len(right)) > bound:
        return bound + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > bound:
            return bound + 1
    return row[-1]
