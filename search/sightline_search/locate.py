"""Where a name is defined: definitions only, exact names only.

**Invariant**: a name that nothing is called by gives no result; names that are merely like it are suggestions.
"""

from __future__ import annotations

from dataclasses import dataclass

from sightline_core.languages import is_primary
from sightline_core.limits import Limits
from sightline_core.types import Note, SymbolKind
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.records import SymbolRecord
from sightline_indexer.store import Snapshot
from sightline_search.cursor import decode_cursor, encode_cursor, question_key
from sightline_search.model import DetailLevel, Filters, Hit, Intent, SearchResult
from sightline_search.names import NameMatch, SymbolName, match_name, parse_name
from sightline_search.query import clean_text
from sightline_search.result_filters import symbol_test

_FOREIGN = FileTrait.GENERATED | FileTrait.VENDORED | FileTrait.MINIFIED


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition that has the name, and how well its surroundings fit."""

    record: SymbolRecord
    match: NameMatch
    same_case: bool


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
    found = find_definitions(snapshot, wanted, chosen, limits) if wanted is not None else []
    page = [item.record for item in found[offset : offset + limit]]
    if detail is not DetailLevel.LOCATION:
        page = snapshot.with_texts(page)
    following = offset + limit
    return SearchResult(
        Intent.SYMBOL,
        tuple(symbol_hit(record) for record in page),
        why="definitions of that name",
        did_you_mean=() if found or wanted is None else suggest_names(snapshot, wanted, limits),
        total_candidates=len(found),
        next_cursor=encode_cursor(snapshot.generation, key, following) if following < len(found) else "",
        holes=holes_of(snapshot),
    )


def find_definitions(snapshot: Snapshot, wanted: SymbolName, filters: Filters, limits: Limits) -> list[Definition]:
    """All definitions of a name in the order of `locate`, without signatures and doc lines."""
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
    for record in snapshot.symbols_named(wanted.name, match_case=False, limit=limits.max_related_names, texts=False):
        found[record.symbol.qualified_name if wanted.qualifiers else record.symbol.name] = None
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
    found: list[Definition] = []
    for record in snapshot.symbols_named(wanted.name, match_case=match_case, texts=False):
        match = match_name(wanted, record, match_case=match_case)
        if match is not NameMatch.NONE and accepts(record):
            found.append(Definition(record, match, match_case))
    return found


def _primary_first(found: list[Definition]) -> list[Definition]:
    """Functions and types, when a name has any; its variables and fields otherwise."""
    primary = [
        item
        for item in found
        if is_primary(item.record.symbol.kind, item.record.language, declaration=item.record.symbol.declaration)
    ]
    return primary or found


def _order(item: Definition) -> tuple[object, ...]:
    record = item.record
    return (
        item.match,
        record.symbol.declaration,
        bool(record.traits & _FOREIGN),
        FileTrait.TEST in record.traits,
        record.path.count("/"),
        record.path,
        record.symbol.range.start,
    )
