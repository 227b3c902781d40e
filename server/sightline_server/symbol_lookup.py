"""Names resolved through the index: the one definition a caller means, or why there is not one.

**Invariant**: never a look-alike; near names are only ever suggestions in an error.
"""

from __future__ import annotations

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.languages import is_primary
from sightline_core.limits import Limits
from sightline_core.types import Position
from sightline_indexer.records import SymbolRecord
from sightline_indexer.store import Snapshot
from sightline_indexer.workspace_index import WorkspaceIndex
from sightline_search.locate import find_definitions, suggest_names
from sightline_search.model import Filters
from sightline_search.names import parse_name


def choose_symbol(snapshot: Snapshot, text: str, path: str, line: int | None, limits: Limits) -> SymbolRecord:
    """The definition that `text` names, in `path` and around `line` when given.

    Raises `invalid_input`, `symbol_not_found` with near names, or `ambiguous_symbol` with candidates.
    """
    found = find_symbols(snapshot, text, limits)
    narrowed = [record for record in found if not path or record.path == path or record.path.startswith(f"{path}/")]
    if line is not None:
        narrowed = [record for record in narrowed if _covers(record, line)] or narrowed
    if not narrowed:
        raise _not_found(snapshot, text, path, found, limits)
    distinct = {(record.path, record.symbol.qualified_name): record for record in reversed(narrowed)}
    if len(distinct) > 1:
        raise _ambiguous(text, narrowed, limits)
    return narrowed[0]


def find_symbols(snapshot: Snapshot, text: str, limits: Limits) -> list[SymbolRecord]:
    """The definitions of a name in its own case: those whose qualifiers fit best, written before announced ones."""
    wanted = parse_name(text)
    if wanted is None:
        raise SightlineError(
            ErrorCode.INVALID_INPUT, f"'{text[:80]}' is not a name.", hint="Give one such as Basket.total."
        )
    found = find_definitions(snapshot, wanted, Filters(), limits)
    best = snapshot.definitions([item.row for item in found if item.match is found[0].match])
    return written_first([record for record in best if record.symbol.name == wanted.name])


def primary_first(records: list[SymbolRecord]) -> list[SymbolRecord]:
    """Functions and types when there are any, without those that are only announced; all otherwise."""
    primary = [record for record in records if is_primary(record.symbol.kind, record.language)] or records
    return written_first(primary)


def written_first(records: list[SymbolRecord]) -> list[SymbolRecord]:
    """Without what is only announced, unless there is nothing else."""
    return [record for record in records if not record.symbol.declaration] or records


def definition_at(index: WorkspaceIndex, path: str, position: Position, name: str) -> SymbolRecord | None:
    """The definition whose name stands at a position, if the index knows it there; without signature and doc line."""
    try:
        with index.snapshot() as snapshot:
            file = snapshot.file(path) if name else None
            symbol = snapshot.symbol_around(file.file_id, position.line) if file is not None else None
    except SightlineError:
        # Without an index the position alone is the target.
        return None
    if file is None or symbol is None or symbol.name != name:
        return None
    at = symbol.name_position
    if at.line != position.line or not 0 <= position.column - at.column <= len(name):
        return None
    return SymbolRecord(file.file_id, file.path, file.language, file.traits, symbol)


def candidate_rows(records: list[SymbolRecord], limits: Limits) -> list[dict[str, object]]:
    """Definitions as the `data` of an error shows them."""
    return [
        {
            "symbol": record.symbol.qualified_name,
            "kind": record.symbol.kind.value,
            "path": record.path,
            "line": record.symbol.name_position.line,
        }
        for record in records[: limits.max_shown_candidates]
    ]


def _covers(record: SymbolRecord, line: int) -> bool:
    span = record.symbol.range
    return span.start.line <= line <= span.end.line


def _not_found(
    snapshot: Snapshot, text: str, path: str, elsewhere: list[SymbolRecord], limits: Limits
) -> SightlineError:
    wanted = parse_name(text)
    near = list(suggest_names(snapshot, wanted, limits)) if wanted is not None else []
    data: dict[str, object] = {"near_names": near}
    if elsewhere:
        data["candidates"] = candidate_rows(elsewhere, limits)
    where = f" in '{path}'" if path else ""
    hint = f"Near names: {', '.join(near)}." if near else "Find it with search_code."
    if not snapshot.complete:
        data["index_complete"] = False
        hint = f"The first index is still being built: ask again when index_status says ready. {hint}"
    return SightlineError(ErrorCode.SYMBOL_NOT_FOUND, f"No definition of '{text}'{where}.", hint=hint, data=data)


def _ambiguous(text: str, records: list[SymbolRecord], limits: Limits) -> SightlineError:
    return SightlineError(
        ErrorCode.AMBIGUOUS_SYMBOL,
        f"'{text}' names {len(records)} definitions.",
        hint="Qualify it, or add `path` and `line` of one of the candidates in `data`.",
        data={"candidates": candidate_rows(records, limits), "total": len(records)},
    )
