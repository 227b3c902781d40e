"""Definitions by name for a search: the name itself first, then names that begin with it, then names that hold it.

**Invariant**: everything returned holds what was asked for; nothing is returned when nothing is called that.
"""

from __future__ import annotations

import tantivy

from sightline_core.limits import Limits
from sightline_indexer import schema
from sightline_indexer.records import SymbolRecord
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
) -> list[tuple[SymbolRecord, float]]:
    """Definitions with their score; `alike` adds longer names to those of a name that is defined."""
    found = [(item.record, EXACT) for item in find_definitions(snapshot, wanted, filters, limits)]
    if not found or not alike or wanted.qualifiers:
        return found
    seen = {_key(record) for record, _ in found}
    accepts = symbol_test(filters, limits)
    for record, score in (*_longer(snapshot, wanted, limits), *_holding(snapshot, wanted, limits)):
        if _key(record) not in seen and fold(record.symbol.name) != fold(wanted.name) and accepts(record):
            seen.add(_key(record))
            found.append((record, score))
    return found


def _longer(snapshot: Snapshot, wanted: SymbolName, limits: Limits) -> list[tuple[SymbolRecord, float]]:
    records = snapshot.symbols_with_prefix(wanted.name, limit=limits.max_related_names, texts=False)
    records.sort(key=lambda record: (len(record.symbol.name), record.symbol.name, record.path))
    return [(record, PREFIX) for record in records]


def _holding(snapshot: Snapshot, wanted: SymbolName, limits: Limits) -> list[tuple[SymbolRecord, float]]:
    parts = word_parts(wanted.name) or [fold(wanted.name)]
    clauses = [
        (tantivy.Occur.Must, tantivy.Query.term_query(snapshot.schema, schema.SYMBOLS, part, "freq"))
        for part in parts[: limits.max_query_words]
    ]
    query = tantivy.Query.boolean_query(clauses)
    hits = snapshot.searcher.search(query, limits.max_part_files, count=False).hits
    file_ids = snapshot.file_ids([address for _, address in hits])
    files = snapshot.files_by_id(file_ids)
    found: list[tuple[SymbolRecord, float]] = []
    for file_id in file_ids:
        for record in snapshot.symbols_in(files[file_id], texts=False) if file_id in files else ():
            if set(parts) <= set(word_parts(record.symbol.name)):
                found.append((record, PART))
    found.sort(key=lambda item: (len(item[0].symbol.name), item[0].symbol.name, item[0].path))
    return found[: limits.max_related_names]


def _key(record: SymbolRecord) -> tuple[int, int, int, str]:
    start = record.symbol.range.start
    return record.file_id, start.line, start.column, record.symbol.name
