"""Definitions by name for a search: the name itself first, then names that begin with it, then names that hold it.

**Invariant**: everything returned holds what was asked for; nothing is returned when nothing is called that.
"""

from __future__ import annotations

import tantivy

from sightline_core.limits import Limits
from sightline_indexer import schema
from sightline_indexer.definitions import DefinitionRow, NamedRow
from sightline_indexer.store import Snapshot
from sightline_indexer.words import fold, word_parts
from sightline_search.locate import find_definitions
from sightline_search.model import Filters
from sightline_search.names import SymbolName
from sightline_search.result_filters import symbol_test

EXACT = 3.0
PREFIX = 2.0
PART = 1.5


def find_names(
    snapshot: Snapshot, wanted: SymbolName, filters: Filters, limits: Limits, *, alike: bool
) -> list[tuple[DefinitionRow, float]]:
    """Definitions with their score; `alike` adds longer names to those of a name that is defined."""
    found = [(item.row, EXACT) for item in find_definitions(snapshot, wanted, filters, limits)]
    if not found or not alike or wanted.qualifiers:
        return found
    seen = {(row.file_id, row.ordinal) for row, _ in found}
    accepts = symbol_test(filters, limits)
    for item, score in (*_longer(snapshot, wanted, limits), *_holding(snapshot, wanted, limits)):
        row = item.row
        key = (row.file_id, row.ordinal)
        if key not in seen and fold(item.name) != fold(wanted.name) and (accepts is None or accepts(row)):
            seen.add(key)
            found.append((row, score))
    return found


def _longer(snapshot: Snapshot, wanted: SymbolName, limits: Limits) -> list[tuple[NamedRow, float]]:
    found = sorted(snapshot.rows_with_prefix(wanted.name, longer=True), key=_shortest)
    return [(item, PREFIX) for item in found[: limits.max_related_names]]


def _holding(snapshot: Snapshot, wanted: SymbolName, limits: Limits) -> list[tuple[NamedRow, float]]:
    parts = word_parts(wanted.name) or [fold(wanted.name)]
    clauses = [
        (tantivy.Occur.Must, tantivy.Query.term_query(snapshot.schema, schema.SYMBOLS, part, "freq"))
        for part in parts[: limits.max_query_words]
    ]
    query = tantivy.Query.boolean_query(clauses)
    hits = snapshot.searcher.search(query, limits.max_part_files, count=False).hits
    file_ids = snapshot.file_ids([address for _, address in hits])
    found = snapshot.rows_with_parts(file_ids, parts)
    return [(item, PART) for item in sorted(found, key=_shortest)[: limits.max_related_names]]


def _shortest(item: NamedRow) -> tuple[int, str, str, int]:
    return len(item.name), item.name, item.row.path, item.row.ordinal
