"""Where a name is defined: definitions only, exact names only.

**Invariant**: a name that nothing is called by gives no result; names that are merely like it are suggestions.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from sightline_core.languages import is_primary
from sightline_core.limits import Limits
from sightline_core.types import Note, SymbolKind
from sightline_indexer.definitions import DefinitionRow
from sightline_indexer.records import DECLARATION, SymbolRecord, is_declaration, stored_kind
from sightline_indexer.store import Snapshot
from sightline_search.cursor import decode_cursor, encode_cursor, question_key
from sightline_search.model import DetailLevel, Filters, Hit, Intent, SearchResult
from sightline_search.names import NameMatch, SymbolName, match_name, parse_name
from sightline_search.query import clean_text
from sightline_search.result_filters import symbol_test

_AMBIENT = (".d.ts", ".d.cts", ".d.mts", ".pyi")
_CALLABLE = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR})


class Definition(NamedTuple):
    """A definition that has the name, and how well its surroundings fit."""

    row: DefinitionRow
    match: NameMatch


def locate(
    snapshot: Snapshot,
    name: str,
    *,
    kind: SymbolKind | None = None,
    filters: Filters | None = None,
    limit: int,
    cursor: str = "",
    detail: DetailLevel = DetailLevel.SIGNATURE,
    limits: Limits,
) -> SearchResult:
    """The definitions of a name, best first; near names in `did_you_mean` when there is none."""
    chosen = filters or Filters()
    if kind is not None:
        chosen = Filters(chosen.paths, chosen.exclude, chosen.language, kind, chosen.include_tests)
    key = question_key("locate", name, chosen)
    offset = decode_cursor(cursor, snapshot.generation, key)
    wanted = parse_name(clean_text(name[: limits.max_query_chars]))
    found, others = _locate(snapshot, wanted, chosen, limits) if wanted is not None else ([], [])
    values = snapshot.definitions([item.row for item in others[:limit]])
    rows = [item.row for item in found[offset : offset + limit]]
    page = snapshot.definitions(rows, texts=detail is not DetailLevel.LOCATION)
    following = offset + limit
    return SearchResult(
        Intent.SYMBOL,
        tuple(symbol_hit(record) for record in page),
        why="definitions of that name",
        did_you_mean=() if found or values or wanted is None else suggest_names(snapshot, wanted, limits),
        values=tuple(symbol_hit(record) for record in values),
        total_candidates=len(found),
        next_cursor=encode_cursor(snapshot.generation, key, following) if following < len(found) else "",
        holes=holes_of(snapshot),
    )


def _locate(
    snapshot: Snapshot, wanted: SymbolName, filters: Filters, limits: Limits
) -> tuple[list[Definition], list[Definition]]:
    """Definitions in the case that was written; apart from them, values when nothing else has the name."""
    found = _matching(snapshot, wanted, filters, limits, match_case=True)
    values: list[Definition] = []
    if filters.kind is None:
        primary = [item for item in found if _is_primary(item.row.kind, item.row.file.language)]
        if primary:
            found = [item for item in primary if not _is_ambient(item.row)] or primary
        else:
            found, values = [], found
    found.sort(key=_order)
    values.sort(key=_order)
    return found, values


def find_definitions(snapshot: Snapshot, wanted: SymbolName, filters: Filters, limits: Limits) -> list[Definition]:
    """All definitions of a name in the order of `locate`; also in another case, and values when nothing else is."""
    found = _matching(snapshot, wanted, filters, limits, match_case=True)
    # Who types a name in small letters does not mind its case; who types capitals does.
    if not found and wanted.dotted.islower():
        found = _matching(snapshot, wanted, filters, limits, match_case=False)
    if filters.kind is None:
        found = _primary_first(found)
    return sorted(found, key=_order)


def suggest_names(snapshot: Snapshot, wanted: SymbolName, limits: Limits) -> tuple[str, ...]:
    """Names that could have been meant: the same under another qualifier or case, then one or two edits away."""
    found: dict[str, None] = {}
    known = snapshot.symbols_named(wanted.name, match_case=False, limit=limits.max_related_names, texts=False)
    for symbol in (record.symbol for record in known):
        qualified = f"{symbol.container}.{symbol.name}" if symbol.container else symbol.name
        found[qualified if wanted.qualifiers else symbol.name] = None
    for name in snapshot.near_names(wanted.name, limits.max_near_names):
        found[name] = None
    found.pop(wanted.dotted, None)
    return tuple(found)[: limits.max_near_names]


def symbol_hit(record: SymbolRecord, score: float = 1.0, parts: dict[str, float] | None = None) -> Hit:
    """A definition as a result."""
    symbol = record.symbol
    return Hit(
        path=record.path,
        line=symbol.range.start.line,
        end_line=symbol.range.end.line,
        kind=symbol.kind.value,
        name=symbol.name,
        column=symbol.name_position.column if symbol.name_position.line == symbol.range.start.line else 0,
        qualified_name=symbol.qualified_name,
        signature=symbol.signature,
        language=record.language,
        container=symbol.container,
        score=score,
        parts=parts or {},
    )


def holes_of(snapshot: Snapshot) -> tuple[Note, ...]:
    """What a snapshot cannot answer for."""
    if snapshot.complete:
        return ()
    return (Note("index_incomplete", "The first index is still being built; files may be missing from this answer."),)


def _matching(
    snapshot: Snapshot, wanted: SymbolName, filters: Filters, limits: Limits, *, match_case: bool
) -> list[Definition]:
    accepts = symbol_test(filters, limits)
    if not wanted.qualifiers:
        # Thousands of definitions may share a bare name.
        rows = snapshot.rows_named(wanted.name, match_case=match_case)
        make, free, owned = Definition._make, NameMatch.QUALIFIED, NameMatch.SUFFIX
        return [make((row, owned if row.nested else free)) for row in rows if accepts is None or accepts(row)]
    rows = snapshot.rows_named(wanted.name, match_case=match_case, owner=wanted.qualifiers[-1])
    rows = [row for row in rows if accepts is None or accepts(row)]
    found: list[Definition] = []
    for row, container in zip(rows, snapshot.containers(rows), strict=True):
        match = match_name(wanted, container, row.path, match_case=match_case)
        if match is not NameMatch.NONE:
            found.append(Definition(row, match))
    return found


def _primary_first(found: list[Definition]) -> list[Definition]:
    """Functions and types, when a name has any; its variables and fields otherwise."""
    primary = [item for item in found if _is_primary(item.row.kind, item.row.file.language)]
    return primary or found


def _is_ambient(row: DefinitionRow) -> bool:
    """Whether a function only stands in a file that describes what is written elsewhere."""
    return row.file.path.endswith(_AMBIENT) and stored_kind(row.kind) in _CALLABLE


@cache
def _is_primary(kind: int, language: str) -> bool:
    return is_primary(stored_kind(kind), language, declaration=is_declaration(kind))


def _order(item: Definition) -> tuple[object, ...]:
    ordinal, kind, line, _, file = item.row
    return item.match, kind >= DECLARATION, file.rank, line, ordinal
