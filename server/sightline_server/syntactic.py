"""Navigation without a language server: candidate files from the index, parsed on demand, names taken at face value.

**Invariant**: this is syntax, not resolution. Whoever uses it labels the answer; what could not be looked at is
in `cuts` and `holes`.
"""

from __future__ import annotations

import re
import time
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
from sightline_indexer.occurrence_process import FindRequest, FoundAt
from sightline_indexer.occurrence_workers import OccurrenceWorkers
from sightline_indexer.occurrences import OccurrenceRole
from sightline_indexer.records import FileRecord, SymbolRecord
from sightline_indexer.store import Snapshot
from sightline_lsp.servers import builtin_servers
from sightline_search.locate import holes_of
from sightline_server.place_lists import Place
from sightline_server.symbol_lookup import primary_first
from sightline_server.targets import Target
from sightline_server.tools.base import Call

T = TypeVar("T")
TYPE_KINDS = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.STRUCT, SymbolKind.ENUM})
_WORD = re.compile(r"[^\W\d]\w*")
# Files that stand for their folder: their own name is in no import.
_NAMELESS = frozenset({"__init__", "index", "mod", "lib", "main"})
_NO_INDEX = frozenset({ErrorCode.INDEX_NOT_READY, ErrorCode.INDEX_INCOMPATIBLE})


@dataclass(frozen=True, slots=True)
class Use:
    """A name at one place, with the file it is in; `is_current` when the file is the one that was indexed."""

    file: FileRecord
    span: Range
    role: OccurrenceRole
    is_current: bool

    @property
    def line(self) -> int:
        """Where it is."""
        return self.span.start.line


@dataclass(frozen=True, slots=True)
class Parsing:
    """What parses for one call: the processes, and until when on `time.monotonic`."""

    finder: OccurrenceWorkers
    root: str
    limits: Limits
    deadline: float


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


def parsing_for(call: Call) -> Parsing:
    """The means of a fallback that begins now."""
    left_s = max(0.0, min(call.limits.fallback_timeout_s, call.deadline - call.now()))
    workspace = call.require_workspace()
    return Parsing(call.services.finders.of(workspace), workspace.path, call.limits, time.monotonic() + left_s)


async def definitions_by_name(call: Call, target: Target) -> Found:
    """Every definition of the target's name in its language, those of its own file first."""
    return await in_snapshot(call, partial(_definitions, target), _nothing_found)


async def references_by_name(call: Call, target: Target, *, include_declaration: bool) -> Found:
    """Every occurrence of the target's name in code of its language, with its role, the likely ones marked."""
    work = partial(_references, parsing_for(call), target, include_declaration)
    return await in_snapshot(call, work, _nothing_found)


async def implementations_by_name(call: Call, target: Target) -> Found:
    """The types that inherit from a type, or the methods that override a method in such types."""
    return await in_snapshot(call, partial(_implementations, parsing_for(call), target), _nothing_found)


async def highlights_by_name(call: Call, target: Target) -> Found:
    """Every occurrence of the target's name in its own file."""
    return await in_snapshot(call, partial(_highlights, parsing_for(call), target), _nothing_found)


def uses_of(snapshot: Snapshot, parsing: Parsing, name: str, near: str) -> Uses:
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
    bound = parsing.limits.fallback_max_files
    if len(chosen) > bound:
        message = f"'{name}' is in {len(chosen)} files; {len(chosen) - bound} were not parsed."
        cuts = (Note("fallback_files_cut", message),)
    uses = _parsed(parsing, chosen[:bound], name)
    return Uses(uses.items, (*cuts, *uses.cuts), (*holes_of(snapshot), *uses.holes))


def _parsed(parsing: Parsing, files: list[FileRecord], name: str) -> Uses:
    requests = [FindRequest(file.path, file.language, name) for file in files]
    answers = {found.answer.path: found for found in parsing.finder.find(requests, parsing.deadline)}
    cuts: tuple[Note, ...] = ()
    holes: tuple[Note, ...] = ()
    if len(answers) < len(files):
        message = f"The time was over: {len(answers)} of {len(files)} candidate files were parsed."
        cuts = (Note("fallback_deadline", message),)
    failed = sorted(path for path, found in answers.items() if found.unparsable or not found.answer.readable)
    if failed:
        shown = ", ".join(failed[: parsing.limits.max_shown_candidates])
        holes = (Note("files_not_parsed", f"{len(failed)} files could not be parsed: {shown}."),)
    items: list[Use] = []
    for file in files:
        found = answers.get(file.path)
        if found is not None:
            is_current = found.answer.stat == (file.size, file.mtime_ns, file.inode)
            items += [_use(file, one, is_current) for one in found.answer.found]
    return Uses(tuple(items), cuts, holes)


def _use(file: FileRecord, found: FoundAt, is_current: bool) -> Use:
    span = Range(Position(found.line, found.column), Position(found.line, found.end_column))
    return Use(file, span, OccurrenceRole(found.role), is_current)


def enclosing(snapshot: Snapshot, use: Use) -> SymbolRecord | None:
    """The definition around a use; None when there is none, or the file changed since it was indexed."""
    symbol = snapshot.symbol_around(use.file.file_id, use.line) if use.is_current else None
    if symbol is None:
        return None
    return SymbolRecord(use.file.file_id, use.file.path, use.file.language, use.file.traits, symbol)


@cache
def kin_of(language: str) -> frozenset[str]:
    """The languages that call each other's code: those that one server serves together."""
    together = (row.languages for row in builtin_servers().values() if language in row.languages)
    return frozenset({language}.union(*together))


def place_of_use(root: str, use: Use) -> Place:
    """An occurrence as a place."""
    return Place(root, use.file.path, use.span, use.role.value)


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


def subtypes_of(snapshot: Snapshot, parsing: Parsing, name: str, near: str) -> tuple[list[SymbolRecord], Uses]:
    """The types in whose heads `name` stands as what they inherit from."""
    uses = uses_of(snapshot, parsing, name, near)
    found: dict[tuple[str, Position], SymbolRecord] = {}
    for use in uses.items:
        heir = enclosing(snapshot, use) if use.role is OccurrenceRole.INHERITANCE else None
        if heir is not None:
            found[(heir.path, heir.symbol.name_position)] = heir
    return list(found.values()), uses


def _definitions(target: Target, snapshot: Snapshot) -> Found:
    places = tuple(place_of_symbol(target.path.root, record) for record in definitions_of(snapshot, target))
    return Found(places, holes=holes_of(snapshot))


def likely_files(snapshot: Snapshot, target: Target) -> frozenset[int] | None:
    """The files that can see the definition; None when nothing tells them from others.

    They are in its folder, or hold the name of its module, its package or its owner, as an import or a qualified
    use must. A name with one definition needs no telling apart.
    """
    definitions = definitions_of(snapshot, target)
    if len(definitions) != 1:
        return None
    definition = definitions[0]
    named = snapshot.symbols_named(target.name)
    if len({(record.path, record.symbol.container) for record in named}) < 2:
        return None
    folder, _, file = definition.path.rpartition("/")
    stem = file.partition(".")[0]
    owner = definition.symbol.container.rpartition(".")[2]
    words = {word for word in (stem, folder.rpartition("/")[2], owner) if _WORD.fullmatch(word)} - _NAMELESS
    seen = {file_id for word in words for file_id in snapshot.files_with_word(word).file_ids}
    return frozenset(seen)


def _references(parsing: Parsing, target: Target, include_declaration: bool, snapshot: Snapshot) -> Found:
    uses = uses_of(snapshot, parsing, target.name, target.path.relative)
    likely = likely_files(snapshot, target)
    folder = target.path.relative.rpartition("/")[0]
    places = tuple(
        place_of_use(parsing.root, use)._replace(
            is_likely=likely is None or use.file.file_id in likely or use.file.path.rpartition("/")[0] == folder
        )
        for use in uses.items
        if include_declaration or use.role is not OccurrenceRole.DEFINITION
    )
    return Found(places, uses.cuts, uses.holes)


def _highlights(parsing: Parsing, target: Target, snapshot: Snapshot) -> Found:
    file = snapshot.file(target.path.relative)
    if file is None or not target.name:
        return Found(holes=holes_of(snapshot))
    uses = _parsed(parsing, [file], target.name)
    return Found(tuple(place_of_use(parsing.root, use) for use in uses.items), uses.cuts, uses.holes)


def _implementations(parsing: Parsing, target: Target, snapshot: Snapshot) -> Found:
    candidates = definitions_of(snapshot, target)
    if not candidates:
        return Found(holes=holes_of(snapshot))
    first = candidates[0]
    if first.symbol.kind in TYPE_KINDS or not first.symbol.container:
        heirs, uses = subtypes_of(snapshot, parsing, first.symbol.name, first.path)
    else:
        owner = first.symbol.container.rpartition(".")[2]
        types, uses = subtypes_of(snapshot, parsing, owner, first.path)
        owners = {(record.path, record.symbol.qualified_name) for record in types}
        named = snapshot.symbols_named(first.symbol.name)
        heirs = [record for record in named if (record.path, record.symbol.container) in owners]
    return Found(tuple(place_of_symbol(parsing.root, record) for record in heirs), uses.cuts, uses.holes)


def _nothing_found(holes: tuple[Note, ...]) -> Found:
    return Found(holes=holes)
