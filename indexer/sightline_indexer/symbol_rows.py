"""Symbols in the manifest: looked up by name, prefix, file and likeness.

**Invariant**: what is returned is ordered by text and place, never by row ids, so that an index that grew by edits
answers like a fresh one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

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


_LIGHT = (
    "SELECT s.file_id, s.ordinal, s.name, s.container, s.kind, s.line, f.path, f.language, f.traits"
    " FROM symbols s JOIN files f ON f.id = s.file_id"
)


class DefinitionRow(NamedTuple):
    """As much of a definition as its place in an order depends on; `kind` as it is stored."""

    file_id: int
    ordinal: int
    name: str
    container: str
    kind: int
    line: int
    path: str
    language: str
    traits: int


def named(
    connection: sqlite3.Connection, generation: int, name: str, *, match_case: bool, limit: int
) -> list[SymbolRecord]:
    """Definitions called `name`."""
    # The column compares without case; that finds the rows through the index, the second comparison is exact.
    exact = " AND s.name = :name COLLATE BINARY" if match_case else ""
    sql = f"{_LOOKUP} AND s.name = :name{exact} ORDER BY f.path, s.ordinal LIMIT :limit"
    return _records(connection, sql, {"generation": generation, "name": name, "limit": limit})


def rows_named(
    connection: sqlite3.Connection, generation: int, name: str, *, match_case: bool, limit: int
) -> list[DefinitionRow]:
    """Definitions called `name`, in no order; cheap for names that thousands of definitions have."""
    exact = " AND s.name = :name COLLATE BINARY" if match_case else ""
    sql = f"{_LIGHT} WHERE f.born <= :generation AND f.died > :generation AND s.name = :name{exact} LIMIT :limit"
    values = {"generation": generation, "name": name, "limit": limit}
    return list(map(DefinitionRow._make, connection.execute(sql, values)))


def at_rows(connection: sqlite3.Connection, rows: Iterable[DefinitionRow], *, texts: bool) -> list[SymbolRecord]:
    """The whole definitions of some rows, in their order."""
    sql = f"SELECT {_COLUMNS} FROM symbols s WHERE s.file_id = ? AND s.ordinal = ?"  # noqa: S608
    known: dict[int, list[tuple[str, str]]] = {}
    records: list[SymbolRecord] = []
    for row in rows:
        if row.file_id not in known:
            known[row.file_id] = _texts(connection, row.file_id) if texts else []
        stored = connection.execute(sql, (row.file_id, row.ordinal)).fetchone()
        place = (row.path, row.language, FileTrait(row.traits))
        records.append(_record(row.ordinal, SymbolEntry(*stored[2:12]), row.file_id, place, known[row.file_id]))
    return records


def with_prefix(connection: sqlite3.Connection, generation: int, prefix: str, *, limit: int) -> list[SymbolRecord]:
    """Definitions whose name begins with `prefix`, in any case."""
    sql = f"{_LOOKUP} AND s.name >= :low AND s.name < :high ORDER BY s.name, f.path, s.ordinal LIMIT :limit"
    bounds = {"low": prefix, "high": prefix + "\U0010ffff", "generation": generation, "limit": limit}
    return _records(connection, sql, bounds)


def in_file(connection: sqlite3.Connection, file: FileRecord, *, texts: bool = True) -> list[SymbolRecord]:
    """The definitions of one file."""
    sql = f"SELECT {_COLUMNS} FROM symbols s WHERE s.file_id = ? ORDER BY s.ordinal"  # noqa: S608
    known = _texts(connection, file.file_id) if texts else []
    return [
        _record(row[1], SymbolEntry(*row[2:12]), file.file_id, (file.path, file.language, file.traits), known)
        for row in connection.execute(sql, (file.file_id,))
    ]


def rows_holding(
    connection: sqlite3.Connection, file_ids: Iterable[int], pieces: Sequence[str], *, every: bool
) -> list[DefinitionRow]:
    """The definitions of some files whose name holds one of some pieces, or `every` one, in any case."""
    joined = (" AND " if every else " OR ").join(["s.name LIKE ?"] * len(pieces)) or "1"
    sql = f"{_LIGHT} WHERE s.file_id = ? AND ({joined}) ORDER BY s.ordinal"
    patterns = [f"%{piece}%" for piece in pieces]
    found: list[DefinitionRow] = []
    for file_id in file_ids:
        found.extend(map(DefinitionRow._make, connection.execute(sql, (file_id, *patterns))))
    return found


def names_holding(
    connection: sqlite3.Connection, file_id: int, pieces: Sequence[str]
) -> list[tuple[int, str, str, int, int]]:
    """Ordinal, name, container, kind and line of a file's definitions whose name holds a piece, in any case."""
    joined = " OR ".join(["name LIKE ?"] * len(pieces)) or "1"
    sql = (
        "SELECT ordinal, name, container, kind, line FROM symbols"  # noqa: S608
        f" WHERE file_id = ? AND ({joined}) ORDER BY ordinal"
    )
    return connection.execute(sql, (file_id, *[f"%{piece}%" for piece in pieces])).fetchall()


def rows_with_prefix(
    connection: sqlite3.Connection, generation: int, prefix: str, *, limit: int
) -> list[DefinitionRow]:
    """Definitions whose name begins with `prefix`, in any case, by name, path and place."""
    sql = (
        f"{_LIGHT} WHERE f.born <= :generation AND f.died > :generation AND s.name >= :low AND s.name < :high"
        " ORDER BY s.name, f.path, s.ordinal LIMIT :limit"
    )
    bounds = {"low": prefix, "high": prefix + "\U0010ffff", "generation": generation, "limit": limit}
    return list(map(DefinitionRow._make, connection.execute(sql, bounds)))


def around(connection: sqlite3.Connection, file_id: int, line: int) -> Symbol | None:
    """The innermost definition whose lines hold `line`, without its signature and doc line."""
    sql = (
        f"SELECT {_COLUMNS} FROM symbols s WHERE s.file_id = ? AND s.line <= ? AND s.end_line >= ?"  # noqa: S608
        " ORDER BY s.line DESC, s.end_line, s.ordinal DESC LIMIT 1"
    )
    row = connection.execute(sql, (file_id, line, line)).fetchone()
    return None if row is None else to_symbol(SymbolEntry(*row[2:12]))


def spans_between(connection: sqlite3.Connection, file_id: int, first: int, last: int) -> list[tuple[int, int, str]]:
    """First line, last line and qualified name of the definitions that touch some lines; the innermost come last."""
    sql = (
        "SELECT s.line, s.end_line, CASE WHEN s.qualified <> '' THEN s.qualified"
        " WHEN s.container <> '' THEN s.container || '.' || s.name ELSE s.name END"
        " FROM symbols s WHERE s.file_id = ? AND s.line <= ? AND s.end_line >= ?"
        " ORDER BY s.line, s.end_line DESC, s.ordinal"
    )
    return connection.execute(sql, (file_id, last, first)).fetchall()


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
