"""Definitions of a snapshot: looked up by name, beginning, file and likeness.

**Invariant**: what is returned is ordered by text and place, never by ids, so that an index that grew by edits
answers like a fresh one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from sightline_core.types import Symbol
from sightline_indexer import manifest
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.generation_cache import GenerationCache
from sightline_indexer.manifest import FileFacts
from sightline_indexer.name_keys import case_mark, owner_mark
from sightline_indexer.name_table import find_records
from sightline_indexer.outlines import Outline, Texts
from sightline_indexer.records import FileRecord, SymbolRecord, to_symbol
from sightline_indexer.words import fold

_KEPT_OUTLINES = 64
_NO_TEXTS = Texts(b"")


class DefinitionRow(NamedTuple):
    """As much of a definition as its place in an order depends on; `kind` as it is stored.

    `nested` when it belongs to something.
    """

    ordinal: int
    kind: int
    line: int
    nested: bool
    file: FileFacts

    @property
    def file_id(self) -> int:
        """The id of its file."""
        return self.file.file_id

    @property
    def path(self) -> str:
        """Where its file lies."""
        return self.file.path


class NamedRow(NamedTuple):
    """A definition whose name was looked at."""

    name: str
    row: DefinitionRow


class Definitions:
    """The definitions of one generation, on a connection inside a read transaction. Not thread-safe."""

    def __init__(self, connection: sqlite3.Connection, cache: GenerationCache) -> None:
        self._sql = connection
        self._cache = cache
        # Showing a definition often follows looking for it: a file is unpacked once.
        self._outlines: dict[int, Outline] = {}

    def rows_named(self, name: str, *, match_case: bool, owner: str | None, limit: int) -> list[DefinitionRow]:
        """Definitions called `name`, in no order; with `owner` those that may belong to that, or to nothing."""
        wanted = find_records(
            self._sql,
            name,
            case=case_mark(name) if match_case else None,
            owner=owner_mark(owner) if owner is not None else None,
        )
        files = self._cache.facts_of(self._sql, {record[0] for record in wanted})
        # Thousands of definitions may share a name; `_make` takes half the time of the constructor.
        make = DefinitionRow._make
        rows = [
            make((ordinal, kind, line, nested, files[file_id]))
            for file_id, ordinal, kind, line, nested in wanted
            if file_id in files
        ]
        return rows[:limit]

    def named(self, name: str, *, match_case: bool, limit: int, texts: bool = True) -> list[SymbolRecord]:
        """Definitions called `name`, by path and place."""
        rows = self.rows_named(name, match_case=match_case, owner=None, limit=manifest.LIVES_ON)
        rows.sort(key=_place)
        found = self.at_rows(rows[:limit], texts=texts)
        same = str if match_case else fold
        return [record for record in found if same(record.symbol.name) == same(name)]

    def at_rows(self, rows: Iterable[DefinitionRow], *, texts: bool) -> list[SymbolRecord]:
        """The whole definitions of some rows, in their order."""
        known: dict[int, Texts] = {}
        records: list[SymbolRecord] = []
        for row in rows:
            if row.file_id not in known:
                known[row.file_id] = self._texts(row.file_id) if texts else _NO_TEXTS
            outline = self._outline(row.file_id)
            if row.ordinal >= len(outline):
                raise sqlite3.DatabaseError("a definition is not in its file")
            entry = outline.entry(row.ordinal)
            symbol = to_symbol(entry, *known[row.file_id][row.ordinal])
            file = row.file
            records.append(SymbolRecord(file.file_id, file.path, file.language, FileTrait(file.traits), symbol))
        return records

    def containers(self, rows: Iterable[DefinitionRow]) -> list[str]:
        """What each of some definitions belongs to, empty for nothing."""
        return [self._outline(row.file_id).container(row.ordinal) if row.nested else "" for row in rows]

    def in_file(self, file: FileRecord, *, texts: bool) -> list[SymbolRecord]:
        """The definitions of one file."""
        known = self._texts(file.file_id) if texts else _NO_TEXTS
        return [
            SymbolRecord(file.file_id, file.path, file.language, file.traits, to_symbol(entry, *known[ordinal]))
            for ordinal, entry in enumerate(self._outline(file.file_id).entries())
        ]

    def holding(
        self, file_ids: Iterable[int], pieces: Sequence[str], accepts: Callable[[str], bool]
    ) -> list[NamedRow]:
        """The definitions of some files whose name holds every piece, in any case, and is accepted."""
        wanted = list(file_ids)
        self._unpack(wanted)
        facts = self._cache.facts_of(self._sql, set(wanted))
        folded = [fold(piece) for piece in pieces]
        found: list[NamedRow] = []
        for file_id in wanted:
            file, outline = facts.get(file_id), self._outline(file_id)
            if file is None:
                continue
            for ordinal in outline.holding(folded, every=True):
                if accepts(outline.names[ordinal]):
                    found.append(_named_row(file, outline, ordinal))
        return found

    def names_holding(self, file_id: int, pieces: Sequence[str]) -> list[tuple[int, str, int]]:
        """Number, name and kind of a file's definitions whose name holds one of some folded pieces."""
        outline = self._outline(file_id)
        names, kinds = outline.names, outline.kinds
        return [(ordinal, names[ordinal], kinds[ordinal]) for ordinal in outline.holding(pieces)]

    def row_at(self, file: FileFacts, ordinal: int) -> DefinitionRow:
        """A definition of a file by its number there."""
        return _named_row(file, self._outline(file.file_id), ordinal).row

    def beginning(self, file_ids: Iterable[int], prefix: str) -> list[NamedRow]:
        """The definitions of some files whose name begins with `prefix` in any case, by name, path and place."""
        wanted = fold(prefix)

        def begins(name: str) -> bool:
            return fold(name).startswith(wanted)

        found = self.holding(file_ids, (prefix,), begins)
        return sorted(found, key=lambda item: (fold(item.name), *_place(item.row)))

    def expect(self, file_ids: Sequence[int]) -> None:
        """Unpack files together that will be asked for one by one."""
        self._unpack(file_ids)

    def around(self, file_id: int, line: int) -> Symbol | None:
        """The innermost definition whose lines hold `line`, without its signature and doc line."""
        outline = self._outline(file_id)
        ordinal = outline.around(line)
        return None if ordinal is None else to_symbol(outline.entry(ordinal))

    def spans(self, file_id: int, first: int, last: int) -> list[tuple[int, int, str]]:
        """First line, last line and qualified name of what touches some lines; the innermost come last."""
        return self._outline(file_id).spans(first, last)

    def names_in(self, file_ids: Iterable[int]) -> set[str]:
        """The distinct names defined in some files."""
        names: set[str] = set()
        for _, blob in manifest.outline_blobs(self._sql, file_ids):
            names.update(Outline(blob).names)
        return names

    def _outline(self, file_id: int) -> Outline:
        known = self._outlines.get(file_id)
        if known is None:
            self._unpack([file_id])
            known = self._outlines.setdefault(file_id, Outline(b""))
        return known

    def _unpack(self, file_ids: Sequence[int]) -> None:
        if len(self._outlines) + len(file_ids) > _KEPT_OUTLINES:
            self._outlines.clear()
        missing = [file_id for file_id in file_ids if file_id not in self._outlines]
        for file_id, blob in manifest.outline_blobs(self._sql, missing):
            self._outlines[file_id] = Outline(blob)

    def _texts(self, file_id: int) -> Texts:
        return Texts(manifest.texts_blob(self._sql, file_id))


def _named_row(file: FileFacts, outline: Outline, ordinal: int) -> NamedRow:
    nested = bool(outline.container(ordinal))
    row = DefinitionRow(ordinal, outline.kinds[ordinal], outline.lines[ordinal], nested, file)
    return NamedRow(outline.names[ordinal], row)


def _place(row: DefinitionRow) -> tuple[str, int]:
    return row.file.path, row.ordinal


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
