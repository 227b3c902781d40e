"""`explore_symbol`: definition, source, documentation, callers, uses and tests of one symbol in one call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import anyio
from pydantic import Field

from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.types import Note
from sightline_lsp.answers import Hover, LspLocation
from sightline_search.tokens import estimate_tokens
from sightline_server.completeness import ToolKind
from sightline_server.definitions import (
    DefinitionModel,
    cut_note,
    cut_text,
    definition_model,
    resolve_definition,
)
from sightline_server.envelope import WireModel, dump, to_json
from sightline_server.hierarchies import Relative, Walk, walk_server
from sightline_server.locations import Location, Row, show
from sightline_server.lsp_question import Asked, ask, facts_of
from sightline_server.navigate import Provenance
from sightline_server.next_actions import NextAction
from sightline_server.place_lists import Place, listed
from sightline_server.syntactic import Found, references_by_name
from sightline_server.syntactic_hierarchies import Relatives, relatives_by_name
from sightline_server.targets import Target, TargetArgs
from sightline_server.tools.base import Answer, Call, Result, Tool, Toolset
from sightline_server.tools.find_callers import STEPS, prepare_calls
from sightline_server.tools.inspect_symbol import hover_at


class ExploreSymbolArgs(TargetArgs):
    """A symbol, and how long the answer may be."""

    max_tokens: Annotated[
        int,
        Field(
            ge=DEFAULT_LIMITS.explore_min_tokens,
            le=DEFAULT_LIMITS.explore_max_tokens,
            description="Most tokens of the answer; source, callers and files are cut to fit.",
        ),
    ] = DEFAULT_LIMITS.explore_tokens


class CallerModel(Location):
    """A function that calls it."""

    name: str
    call_lines: list[int] | None = None


class FileUsesModel(WireModel):
    """How often a file uses it."""

    path: str
    uses: int
    first_line: int
    root: str | None = None


class ReferencesModel(WireModel):
    """Where it is used, counted."""

    total: int
    in_source: int
    in_tests: int
    files: list[FileUsesModel]


class ExploreSymbolResult(Result):
    """All that is usually asked about a symbol."""

    definition: DefinitionModel
    source: str
    hover: str | None = None
    callers: list[CallerModel]
    references: ReferencesModel
    tests: Annotated[list[FileUsesModel], Field(description="Test files that use it.")]
    provenance: Provenance
    suggested_next_actions: list[NextAction] | None = None


@dataclass(slots=True)
class _Gathered:
    """What the questions gave, as far as they were answered."""

    hover: Asked[Hover | None] | None = None
    references: Asked[tuple[LspLocation, ...]] | None = None
    calls: Walk | None = None
    uses_by_name: Found = field(default_factory=Found)
    calls_by_name: Relatives = field(default_factory=Relatives)

    @property
    def asked(self) -> list[Asked[object]]:
        """Every question to a server."""
        walked = self.calls.asked if self.calls is not None else []
        return [item for item in (self.hover, self.references, *walked) if item is not None]


async def run(call: Call, args: ExploreSymbolArgs) -> Answer[ExploreSymbolResult]:
    """Ask the server for everything at once; by name and syntax for what it cannot answer."""
    target, source = await resolve_definition(call, args)
    start = Target(target.path, source.record.symbol.name_position, source.record.symbol.name, source.record)
    gathered = await _gather(call, start)
    home = call.require_workspace().path
    by_server = gathered.references.value if gathered.references is not None else ()
    places = listed(by_server, gathered.uses_by_name.places, home).all()
    relatives = _callers(gathered, call.limits.explore_callers)
    shown = await show(call, [relative.place for relative in relatives])
    result = ExploreSymbolResult(
        definition=definition_model(source.record),
        source=source.text,
        hover=gathered.hover.value.text if gathered.hover and gathered.hover.value else None,
        callers=[_caller(relative, at) for relative, at in zip(relatives, shown, strict=True)],
        references=_summary(places, home, call.limits.explore_files),
        tests=_files([place for place in places if place.is_test], home)[: call.limits.explore_files],
        provenance=_provenance(gathered),
        suggested_next_actions=_next(start, len(places)),
    )
    fitted, cuts = _fit(result, args.max_tokens)
    cuts = (*cut_note("the source", source.cut), *cuts, *gathered.uses_by_name.cuts, *gathered.calls_by_name.cuts)
    holes = (*source.holes, *gathered.uses_by_name.holes, *gathered.calls_by_name.holes)
    return Answer(fitted, facts_of(gathered.asked, cuts=cuts, holes=holes))


async def _gather(call: Call, target: Target) -> _Gathered:
    gathered = _Gathered()

    async def hover() -> None:
        gathered.hover = await hover_at(call, target)

    async def references() -> None:
        asked = await ask(
            call,
            target.path,
            lambda pool, root, left: pool.references(
                root, target.path, target.position, left, include_declaration=False
            ),
            (),
        )
        gathered.references = asked
        if not asked.is_sure:
            gathered.uses_by_name = await references_by_name(call, target, include_declaration=False)

    async def callers() -> None:
        walk = await walk_server(call, target, prepare_calls(target), [("incoming", STEPS["incoming"])], 1)
        gathered.calls = walk
        if not walk.is_sure:
            gathered.calls_by_name = await relatives_by_name(call, target, ["incoming"], 1)

    async with anyio.create_task_group() as group:
        for question in (hover, references, callers):
            group.start_soon(question)
    return gathered


def _callers(gathered: _Gathered, bound: int) -> list[Relative]:
    by_server = gathered.calls.relatives if gathered.calls is not None else []
    unique = {(item.place.path, item.place.range.start): item for item in (*gathered.calls_by_name.items, *by_server)}
    return sorted(unique.values(), key=lambda item: (item.place.is_test, item.place.path))[:bound]


def _caller(relative: Relative, at: Row) -> CallerModel:
    return CallerModel(**at, name=relative.name, call_lines=list(relative.sites) or None)


def _summary(places: list[Place], home: str, bound: int) -> ReferencesModel:
    in_tests = sum(place.is_test for place in places)
    return ReferencesModel(
        total=len(places),
        in_source=len(places) - in_tests,
        in_tests=in_tests,
        files=_files([place for place in places if not place.is_test], home)[:bound],
    )


def _files(places: Sequence[Place], home: str) -> list[FileUsesModel]:
    """Files by number of uses, most first."""
    counts = Counter((place.root, place.path) for place in places)
    first = {(place.root, place.path): place.range.start.line for place in reversed(places)}
    return [
        FileUsesModel(path=path, uses=uses, first_line=first[(root, path)], root=root if root != home else None)
        for (root, path), uses in counts.most_common()
    ]


def _provenance(gathered: _Gathered) -> list[str]:
    has_server = any(asked.error is None for asked in gathered.asked)
    return ["index", "lsp"] if has_server else ["index"]


def _next(target: Target, uses: int) -> list[NextAction] | None:
    if not uses:
        return None
    arguments = {"path": target.path.relative, "line": target.position.line, "column": target.position.column}
    return [NextAction(tool="find_references", arguments=arguments, reason="See each use with its line.")]


def _fit(result: ExploreSymbolResult, max_tokens: int) -> tuple[ExploreSymbolResult, tuple[Note, ...]]:
    """Cut to the budget: lists to half first, then the source to what is left, then the hover."""
    cuts: list[Note] = []
    shortened = result
    while _tokens(shortened, source="") > max_tokens // 2 and _longest(shortened) > 1:
        shortened = _halved(shortened)
    if shortened is not result:
        cuts.append(Note("token_budget", "Callers and files were left out to fit `max_tokens`."))
    if shortened.hover and _tokens(shortened, source="") > max_tokens // 2:
        shortened = shortened.model_copy(update={"hover": None})
        cuts.append(Note("token_budget", "The documentation was left out to fit `max_tokens`."))
    left = max(0, max_tokens - _tokens(shortened, source=""))
    source, bound = shortened.source, len(shortened.source)
    while source and estimate_tokens(source) > left:
        bound = bound * 3 // 4
        source, _ = cut_text(shortened.source, bound)
    if source != shortened.source:
        cuts.extend(cut_note("the source", len(shortened.source) - len(source)))
    return shortened.model_copy(update={"source": source}), tuple(cuts)


def _tokens(result: ExploreSymbolResult, *, source: str) -> int:
    return estimate_tokens(dump(to_json(result.model_copy(update={"source": source}))))


def _longest(result: ExploreSymbolResult) -> int:
    return max(len(result.callers), len(result.references.files), len(result.tests))


def _halved(result: ExploreSymbolResult) -> ExploreSymbolResult:
    references = result.references.model_copy(update={"files": _half(result.references.files)})
    return result.model_copy(
        update={"callers": _half(result.callers), "tests": _half(result.tests), "references": references}
    )


def _half(items: Sequence[object]) -> Sequence[object]:
    return items[: max(1, len(items) // 2)]


EXPLORE_SYMBOL = Tool(
    name="explore_symbol",
    title="Explore symbol",
    description=(
        "Gives definition, source, type and documentation, callers, a summary of the uses by file, and the tests of "
        "one symbol in one call, within max_tokens. The first choice to understand a function or class. For every "
        "single use call find_references, for the code alone get_symbol_source, for a question get_code_context."
    ),
    toolset=Toolset.ANALYSIS,
    kind=ToolKind.NAVIGATION,
    args=ExploreSymbolArgs,
    result=ExploreSymbolResult,
    run=run,
    list_field="callers",
)
