"""Callers, callees, super- and subtypes by name, for when no language server can tell.

**Invariant**: like `syntactic`, names at face value; bounded in depth, number and time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from sightline_core.errors import SightlineError
from sightline_core.paths import RepoRoot
from sightline_core.text import LineIndex, decode
from sightline_core.types import Note, SymbolKind
from sightline_indexer.occurrences import OccurrenceRole
from sightline_indexer.records import SymbolRecord
from sightline_indexer.store import Snapshot
from sightline_server.hierarchies import Relative
from sightline_server.syntactic import (
    TYPE_KINDS,
    Parsing,
    definitions_of,
    enclosing,
    in_snapshot,
    kin_of,
    parsing_for,
    place_of_symbol,
    subtypes_of,
    uses_of,
)
from sightline_server.targets import Target
from sightline_server.tools.base import Call

_CALLED = re.compile(r"([^\W\d][\w$]*)\s*(?:::\s*<[^<>]{0,80}>\s*)?\(")
_NAME = re.compile(r"[^\W\d][\w$]*")
_CALLABLE = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR, SymbolKind.CLASS})


@dataclass(slots=True)
class _Search:
    """One search by name: what it works on, until when, and what it found."""

    snapshot: Snapshot
    root: RepoRoot
    parsing: Parsing
    relatives: list[Relative] = field(default_factory=list[Relative])
    cuts: tuple[Note, ...] = ()
    holes: tuple[Note, ...] = ()

    @property
    def left_s(self) -> float:
        return max(0.0, self.parsing.deadline - time.monotonic())

    @property
    def is_full(self) -> bool:
        return len(self.relatives) >= self.parsing.limits.max_hierarchy_nodes


@dataclass(frozen=True, slots=True)
class Relatives:
    """What was found by name, and what was not seen."""

    items: tuple[Relative, ...] = ()
    cuts: tuple[Note, ...] = ()
    holes: tuple[Note, ...] = ()


Step = Callable[[_Search, SymbolRecord], list[tuple[SymbolRecord, tuple[int, ...]]]]


async def relatives_by_name(call: Call, target: Target, directions: list[str], depth: int) -> Relatives:
    """Relatives of the target in each of the directions that `STEPS` knows."""
    work = partial(_walk, call.require_workspace().root, parsing_for(call), target, directions, depth)
    return await in_snapshot(call, work, lambda holes: Relatives(holes=holes))


def _walk(
    root: RepoRoot, parsing: Parsing, target: Target, directions: list[str], depth: int, snapshot: Snapshot
) -> Relatives:
    search = _Search(snapshot, root, parsing)
    start = definitions_of(snapshot, target)[:1]
    for direction in directions:
        level, seen = start, {_key(record) for record in start}
        for distance in range(1, depth + 1):
            level = _level(search, direction, distance, level, seen)
    return Relatives(tuple(search.relatives), search.cuts, search.holes)


def _level(
    search: _Search, direction: str, distance: int, level: list[SymbolRecord], seen: set[tuple[str, object]]
) -> list[SymbolRecord]:
    following: list[SymbolRecord] = []
    for record in level:
        if search.is_full or not search.left_s:
            note = Note("fallback_deadline", "The walk by name was cut; ask for a smaller depth.")
            search.cuts = tuple(dict.fromkeys((*search.cuts, note)))
            return []
        for found, sites in STEPS[direction](search, record):
            if _key(found) in seen and distance > 1:
                continue
            if _key(found) not in seen:
                seen.add(_key(found))
                following.append(found)
            place = place_of_symbol(search.root.path, found)
            name, kind = found.symbol.qualified_name, found.symbol.kind
            search.relatives.append(
                Relative(name, kind, place, direction, distance, record.symbol.qualified_name, sites)
            )
    return following


def _callers(search: _Search, record: SymbolRecord) -> list[tuple[SymbolRecord, tuple[int, ...]]]:
    uses = uses_of(search.snapshot, search.parsing, record.symbol.name, record.path)
    search.cuts, search.holes = _added(search.cuts, uses.cuts), _added(search.holes, uses.holes)
    found: dict[tuple[str, object], SymbolRecord] = {}
    lines: dict[tuple[str, object], set[int]] = {}
    for use in uses.items:
        caller = enclosing(search.snapshot, use) if use.role is OccurrenceRole.CALL else None
        if caller is not None:
            found[_key(caller)] = caller
            lines.setdefault(_key(caller), set()).add(use.line)
    return [(caller, tuple(sorted(lines[key]))) for key, caller in found.items()]


def _callees(search: _Search, record: SymbolRecord) -> list[tuple[SymbolRecord, tuple[int, ...]]]:
    lines = _lines_of(search, record)
    sites: dict[str, set[int]] = {}
    for number, line in lines:
        for match in _CALLED.finditer(line):
            sites.setdefault(match[1], set()).add(number)
    if sites.get(record.symbol.name) == {record.symbol.name_position.line}:
        del sites[record.symbol.name]
    kin = kin_of(record.language)
    found: list[tuple[SymbolRecord, tuple[int, ...]]] = []
    for name, numbers in sites.items():
        for callee in search.snapshot.symbols_named(name, limit=search.parsing.limits.max_shown_candidates):
            if callee.language in kin and callee.symbol.kind in _CALLABLE:
                found.append((callee, tuple(sorted(numbers))))
    return found


def _subtypes(search: _Search, record: SymbolRecord) -> list[tuple[SymbolRecord, tuple[int, ...]]]:
    heirs, uses = subtypes_of(search.snapshot, search.parsing, record.symbol.name, record.path)
    search.cuts, search.holes = _added(search.cuts, uses.cuts), _added(search.holes, uses.holes)
    return [(heir, ()) for heir in heirs]


def _supertypes(search: _Search, record: SymbolRecord) -> list[tuple[SymbolRecord, tuple[int, ...]]]:
    """Types whose names stand in the head of the definition after its own name."""
    signature = record.symbol.signature or next(
        (other.symbol.signature for other in search.snapshot.with_texts([record])), ""
    )
    _, _, heads = signature.partition(record.symbol.name)
    kin = kin_of(record.language)
    found: list[tuple[SymbolRecord, tuple[int, ...]]] = []
    for name in dict.fromkeys(_NAME.findall(heads)):
        for base in search.snapshot.symbols_named(name, limit=search.parsing.limits.max_shown_candidates):
            if base.language in kin and base.symbol.kind in TYPE_KINDS and _key(base) != _key(record):
                found.append((base, ()))
    return found


STEPS: dict[str, Step] = {
    "incoming": _callers,
    "outgoing": _callees,
    "subtypes": _subtypes,
    "supertypes": _supertypes,
}


def _lines_of(search: _Search, record: SymbolRecord) -> list[tuple[int, str]]:
    try:
        content = search.root.read_file(search.root.known(record.path))
    except SightlineError as error:
        search.holes = _added(search.holes, (Note("files_not_parsed", error.full_message),))
        return []
    lines = LineIndex(decode(content.data))
    span = record.symbol.range
    return [(number, lines.line(number)) for number in range(span.start.line, span.end.line + 1)]


def _key(record: SymbolRecord) -> tuple[str, object]:
    return record.path, record.symbol.name_position


def _added(known: tuple[Note, ...], more: tuple[Note, ...]) -> tuple[Note, ...]:
    return tuple(dict.fromkeys((*known, *more)))
