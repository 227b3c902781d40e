"""What contains a definition, and what it contains.

**Invariant**: one definition is meant or the caller is told which ones there are; nothing is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_core.types import Note
from sightline_indexer.records import SymbolRecord
from sightline_indexer.store import Snapshot
from sightline_search.locate import find_definitions, holes_of, suggest_names, symbol_hit
from sightline_search.model import Filters, Hit
from sightline_search.names import NameMatch, parse_name
from sightline_search.query import clean_text


class Direction(StrEnum):
    """Which way a hierarchy is walked."""

    ANCESTORS = "ancestors"
    DESCENDANTS = "descendants"


@dataclass(frozen=True, slots=True)
class Level:
    """A definition and how far it is from the one that was asked for: 1 is its parent or its child."""

    hit: Hit
    distance: int


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The chain of a definition: ancestors from the nearest outwards, descendants in the order of the file."""

    symbol: Hit
    direction: Direction
    levels: tuple[Level, ...]
    cuts: tuple[Note, ...] = ()
    holes: tuple[Note, ...] = ()


def symbol_hierarchy(
    snapshot: Snapshot, name: str, *, path: str = "", direction: Direction = Direction.ANCESTORS, limits: Limits
) -> Hierarchy:
    """The containment chain of one definition; raises `symbol_not_found` or `ambiguous_symbol`."""
    target = one_definition(snapshot, name, path, limits)
    file = snapshot.files_by_id([target.file_id])[target.file_id]
    siblings = snapshot.symbols_in(file)
    if direction is Direction.ANCESTORS:
        chain = [record for record in siblings if _contains(record, target)]
        chain.reverse()
        levels = [Level(symbol_hit(record), number) for number, record in enumerate(chain, 1)]
    else:
        levels = _descendants(target, siblings)
    cuts: tuple[Note, ...] = ()
    if len(levels) > limits.max_hierarchy_symbols:
        levels = levels[: limits.max_hierarchy_symbols]
        cuts = (Note("hierarchy_cut", f"Only the first {limits.max_hierarchy_symbols} definitions are listed."),)
    return Hierarchy(symbol_hit(target), direction, tuple(levels), cuts, holes_of(snapshot))


def one_definition(snapshot: Snapshot, name: str, path: str, limits: Limits) -> SymbolRecord:
    """The definition that a name means; raises `symbol_not_found` with near names, or `ambiguous_symbol`."""
    wanted = parse_name(clean_text(name[: limits.max_query_chars]))
    filters = Filters(paths=(path,)) if path else Filters()
    found = find_definitions(snapshot, wanted, filters, limits) if wanted is not None else []
    if wanted is None or not found:
        near = suggest_names(snapshot, wanted, limits) if wanted is not None else ()
        raise SightlineError(
            ErrorCode.SYMBOL_NOT_FOUND,
            f"No definition is called '{name[: limits.max_signature_chars]}'" + (f" in '{path}'." if path else "."),
            hint="Use one of the near names, or search the text with search_code.",
            data={"did_you_mean": list(near)},
        )
    # A name that one definition bears at the top level means that one, whatever members share it.
    best = [item for item in found if item.match is NameMatch.QUALIFIED] or found
    if len(best) == 1:
        return snapshot.definitions([best[0].row])[0]
    shown = snapshot.definitions([item.row for item in best[: limits.default_results]])
    raise SightlineError(
        ErrorCode.AMBIGUOUS_SYMBOL,
        f"{len(best)} definitions are called '{wanted.dotted}'.",
        hint="Name one by its qualified name or add `path`.",
        data={"candidates": [_candidate(record) for record in shown], "count": len(best)},
    )


def _candidate(record: SymbolRecord) -> dict[str, str | int]:
    symbol = record.symbol
    return {
        "path": record.path,
        "line": symbol.range.start.line,
        "kind": symbol.kind.value,
        "qualified_name": symbol.qualified_name,
    }


def _contains(outer: SymbolRecord, inner: SymbolRecord) -> bool:
    a, b = outer.symbol.range, inner.symbol.range
    return a.start <= b.start and a.end >= b.end and (a.start, a.end) != (b.start, b.end)


def _descendants(target: SymbolRecord, siblings: list[SymbolRecord]) -> list[Level]:
    inside = [record for record in siblings if _contains(target, record)]
    # Members may be written elsewhere in the file: methods of Go, bodies of C++, impl blocks of Rust.
    name = target.symbol.qualified_name
    inside += [
        record
        for record in siblings
        if record not in inside
        and record is not target
        and (record.symbol.container == name or record.symbol.container.startswith(f"{name}."))
    ]
    inside.sort(key=lambda record: record.symbol.range.start)
    base = name.count(".")
    return [Level(symbol_hit(record), max(1, record.symbol.qualified_name.count(".") - base)) for record in inside]
