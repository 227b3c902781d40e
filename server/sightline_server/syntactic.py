"""Navigation without a language server: candidate files from the index, parsed on demand, names taken at face value.

**Invariant**: this is syntax, not resolution. Whoever uses it labels the answer; what could not be looked at is
in `cuts` and `holes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeVar

import anyio.to_thread

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.languages import language_of
from sightline_core.limits import Limits
from sightline_core.types import Note, Position, Range, SymbolKind
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.occurrence_run import occurrences_in
from sightline_indexer.occurrences import Occurrence, OccurrenceRole
from sightline_indexer.records import FileRecord, SymbolRecord
from sightline_indexer.store import Snapshot
from sightline_lsp.servers import builtin_servers
from sightline_search.locate import holes_of
from sightline_server.locations import Place
from sightline_server.symbol_lookup import primary_first
from sightline_server.targets import Target
from sightline_server.tools.base import Call

T = TypeVar("T")
TYPE_KINDS = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.STRUCT, SymbolKind.ENUM})
_NO_INDEX = frozenset({ErrorCode.INDEX_NOT_READY, ErrorCode.INDEX_INCOMPATIBLE})


@dataclass(frozen=True, slots=True)
class Use:
    """A name at one place, with the file it is in."""

    file: FileRecord
    occurrence: Occurrence


@dataclass(frozen=True, slots=True)
class Uses:
    """What parsing gave; `cuts` and `holes` say what it did not see."""

    items: tuple[Use, ...]
    cuts: tuple[Note, ...] = ()
    holes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The places of a fallback, and what it did not see."""

    places: tuple[Place, ...] = ()
    cuts: tuple[Note, ...] = ()
    holes: tuple[Note, ...] = ()


async def in_snapshot(call: Call, work: Callable[[Snapshot], T], nothing: Callable[[tuple[Note, ...]], T]) -> T:
    """Run `work` on one snapshot in a thread; without a usable index `nothing` is made of the reason."""
    index = await call.index()

    def run() -> T:
        try:
            snapshot = index.snapshot()
        except SightlineError as error:
            if error.code not in _NO_INDEX:
                raise
            return nothing((Note(error.code.value, error.full_message),))
        with snapshot:
            return work(snapshot)

    return await anyio.to_thread.run_sync(run, abandon_on_cancel=True)


def time_left_s(call: Call) -> float:
    """How long a fallback may take now."""
    return max(0.0, min(call.limits.fallback_timeout_s, call.deadline - call.now()))


async def definitions_by_name(call: Call, target: Target) -> Found:
    """Every definition of the target's name in its language, those of its own file first."""
    return await in_snapshot(call, partial(_definitions, target), _nothing_found)


async def references_by_name(call: Call, target: Target, *, include_declaration: bool) -> Found:
    """Every occurrence of the target's name in code of its language, with its role."""
    work = partial(_references, call.require_workspace().path, target, include_declaration, call.limits)
    return await in_snapshot(call, partial(work, time_left_s(call)), _nothing_found)


async def implementations_by_name(call: Call, target: Target) -> Found:
    """The types that inherit from a type, or the methods that override a method in such types."""
    work = partial(_implementations, call.require_workspace().path, target, call.limits)
    return await in_snapshot(call, partial(work, time_left_s(call)), _nothing_found)


def uses_of(snapshot: Snapshot, root: str, name: str, near: str, limits: Limits, timeout_s: float) -> Uses:
    """Where `name` stands in code of the language of the file `near`, that file first. Blocks."""
    if not name:
        return Uses(())
    kin = kin_of(language_of(near))
    files = snapshot.files_by_id(snapshot.files_with_word(name).file_ids).values()
    chosen = sorted(
        (file for file in files if file.language in kin),
        key=lambda file: (file.path != near, FileTrait.TEST in file.traits, file.path),
    )
    cuts: tuple[Note, ...] = ()
    if len(chosen) > limits.fallback_max_files:
        left_out = len(chosen) - limits.fallback_max_files
        cuts = (Note("fallback_files_cut", f"'{name}' is in {len(chosen)} files; {left_out} were not parsed."),)
        chosen = chosen[: limits.fallback_max_files]
    run = occurrences_in(root, [(file.path, file.language) for file in chosen], name, limits, timeout_s)
    if run.cut:
        cuts = (*cuts, Note("fallback_deadline", "The time was over before every candidate file was parsed."))
    holes = holes_of(snapshot)
    if run.failed:
        shown = ", ".join(run.failed[: limits.max_candidates_shown])
        holes = (*holes, Note("files_not_parsed", f"{len(run.failed)} files could not be parsed: {shown}."))
    items = tuple(Use(file, found) for file in chosen for found in run.found.get(file.path, ()))
    return Uses(items, cuts, holes)


@cache
def kin_of(language: str) -> frozenset[str]:
    """The languages that call each other's code: those that one server serves together."""
    together = (row.languages for row in builtin_servers().values() if language in row.languages)
    return frozenset({language}.union(*together))


def place_of_use(root: str, use: Use) -> Place:
    """An occurrence as a place."""
    start = use.occurrence.position
    span = Range(start, Position(start.line, use.occurrence.end_column))
    return Place(root, use.file.path, span, use.occurrence.role.value)


def place_of_symbol(root: str, record: SymbolRecord) -> Place:
    """The name of a definition as a place."""
    start = record.symbol.name_position
    end = Position(start.line, start.column + len(record.symbol.name))
    return Place(root, record.path, Range(start, end))


def definitions_of(snapshot: Snapshot, target: Target) -> list[SymbolRecord]:
    """Definitions that the name at a target may mean."""
    if target.record is not None:
        return [target.record]
    if not target.name:
        return []
    kin = kin_of(language_of(target.path.relative))
    named = [record for record in snapshot.symbols_named(target.name) if record.language in kin]
    return sorted(primary_first(named), key=lambda record: record.path != target.path.relative)


def subtypes_of(
    snapshot: Snapshot, root: str, name: str, near: str, limits: Limits, timeout_s: float
) -> tuple[list[SymbolRecord], Uses]:
    """The types in whose heads `name` stands as what they inherit from."""
    uses = uses_of(snapshot, root, name, near, limits, timeout_s)
    found: dict[tuple[str, Position], SymbolRecord] = {}
    for use in uses.items:
        if use.occurrence.role is not OccurrenceRole.INHERITANCE:
            continue
        around = snapshot.symbol_around(use.file.file_id, use.occurrence.position.line)
        if around is not None:
            record = SymbolRecord(use.file.file_id, use.file.path, use.file.language, use.file.traits, around)
            found[(use.file.path, around.name_position)] = record
    return list(found.values()), uses


def _definitions(target: Target, snapshot: Snapshot) -> Found:
    places = tuple(place_of_symbol(target.path.root, record) for record in definitions_of(snapshot, target))
    return Found(places, holes=holes_of(snapshot))


def _references(
    root: str, target: Target, include_declaration: bool, limits: Limits, timeout_s: float, snapshot: Snapshot
) -> Found:
    uses = uses_of(snapshot, root, target.name, target.path.relative, limits, timeout_s)
    places = tuple(
        place_of_use(root, use)
        for use in uses.items
        if include_declaration or use.occurrence.role is not OccurrenceRole.DEFINITION
    )
    return Found(places, uses.cuts, uses.holes)


def _implementations(root: str, target: Target, limits: Limits, timeout_s: float, snapshot: Snapshot) -> Found:
    candidates = definitions_of(snapshot, target)
    if not candidates:
        return Found(holes=holes_of(snapshot))
    first = candidates[0]
    if first.symbol.kind in TYPE_KINDS or not first.symbol.container:
        heirs, uses = subtypes_of(snapshot, root, first.symbol.name, first.path, limits, timeout_s)
        return Found(tuple(place_of_symbol(root, record) for record in heirs), uses.cuts, uses.holes)
    owner = first.symbol.container.rpartition(".")[2]
    heirs, uses = subtypes_of(snapshot, root, owner, first.path, limits, timeout_s)
    owners = {(record.path, record.symbol.qualified_name) for record in heirs}
    methods = [
        record
        for record in snapshot.symbols_named(first.symbol.name)
        if (record.path, record.symbol.container) in owners
    ]
    return Found(tuple(place_of_symbol(root, record) for record in methods), uses.cuts, uses.holes)


def _nothing_found(holes: tuple[Note, ...]) -> Found:
    return Found(holes=holes)
