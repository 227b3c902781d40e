"""All searchable files of one generation in the order in which a scan shows them.

**Invariant**: the order depends on the generation alone, so that a place in it can be kept by a cursor: code first,
then tests, then other texts, then what people did not write here; by path among equals.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sightline_core.languages import languages
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.manifest import searchable_rows

_FOREIGN = FileTrait.GENERATED | FileTrait.VENDORED | FileTrait.MINIFIED
_TIERS = 4


class FileEntry(NamedTuple):
    """What a scan must know of a file before it reads it."""

    file_id: int
    path: str
    language: str
    traits: int


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The files of a generation; `places` leads from a file's id to its index in `entries`."""

    entries: tuple[FileEntry, ...]
    places: Mapping[int, int]

    def places_of(self, file_ids: Iterable[int]) -> list[int]:
        """The places of some files, in order; ids of other generations are left out."""
        places = self.places
        return sorted([places[file_id] for file_id in file_ids if file_id in places])


def build_catalogue(connection: sqlite3.Connection, generation: int) -> Catalogue:
    """The catalogue of a generation."""
    tiers: list[list[FileEntry]] = [[] for _ in range(_TIERS)]
    with_symbols = {name for name, row in languages().items() if row.symbols}
    for row in searchable_rows(connection, generation):
        entry = FileEntry._make(row)
        tiers[_tier(entry, with_symbols)].append(entry)
    entries = tuple(entry for tier in tiers for entry in tier)
    return Catalogue(entries, {entry.file_id: place for place, entry in enumerate(entries)})


def _tier(entry: FileEntry, with_symbols: set[str]) -> int:
    if entry.traits & _FOREIGN:
        return 3
    if entry.language not in with_symbols:
        return 2
    return 1 if entry.traits & FileTrait.TEST else 0
