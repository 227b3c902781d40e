"""`get_document_highlights`: the uses of a name inside its own file."""

from __future__ import annotations

from typing import Annotated

import anyio.to_thread
from pydantic import Field

from sightline_core.languages import language_of
from sightline_core.types import Note, Position, Range
from sightline_indexer.occurrence_run import occurrences_in
from sightline_server.completeness import ToolKind
from sightline_server.locations import Location, Place, show
from sightline_server.lsp_question import ask, facts_of
from sightline_server.navigate import Provenance
from sightline_server.syntactic import time_left_s
from sightline_server.targets import Target, TargetArgs, TargetModel, resolve_target, target_model
from sightline_server.tools.base import Answer, Call, Result, Tool, Toolset


class HighlightModel(Location):
    """A use in the same file."""

    kind: Annotated[str | None, Field(description="text, read or write.")] = None


class GetDocumentHighlightsResult(Result):
    """The uses in the file."""

    target: TargetModel
    highlights: list[HighlightModel]
    provenance: Provenance


async def run(call: Call, args: TargetArgs) -> Answer[GetDocumentHighlightsResult]:
    """The server's highlights; occurrences of the name in the file when it cannot answer."""
    target = await resolve_target(call, args)
    asked = await ask(
        call,
        target.path,
        lambda pool, root, left: pool.document_highlights(root, target.path, target.position, left),
        (),
    )
    root = call.require_workspace().path
    kinds = {highlight.range: highlight.kind for highlight in asked.value}
    places = [Place(root, target.path.relative, highlight.range) for highlight in asked.value]
    holes: tuple[Note, ...] = ()
    if not asked.is_sure and not places:
        places, holes = await _by_name(call, target)
    shown = await show(call, places)
    highlights = [
        HighlightModel(**at.model_dump(), kind=kinds.get(place.range))
        for at, place in zip(shown, places, strict=True)
    ]
    result = GetDocumentHighlightsResult(
        target=target_model(target),
        highlights=highlights,
        provenance=["lsp"] if asked.value or asked.is_sure else ["index"],
    )
    return Answer(result, facts_of([asked], holes=(*target.holes, *holes)))


async def _by_name(call: Call, target: Target) -> tuple[list[Place], tuple[Note, ...]]:
    path, timeout_s = target.path.relative, time_left_s(call)
    files = [(path, language_of(path))]
    run = await anyio.to_thread.run_sync(
        occurrences_in, target.path.root, files, target.name, call.limits, timeout_s, abandon_on_cancel=True
    )
    holes = (Note("files_not_parsed", f"'{path}' could not be parsed."),) if run.failed or run.cut else ()
    places = [
        Place(
            target.path.root,
            path,
            Range(found.position, Position(found.position.line, found.end_column)),
            found.role.value,
        )
        for found in run.found.get(path, ())
    ]
    return places, holes


GET_DOCUMENT_HIGHLIGHTS = Tool(
    name="get_document_highlights",
    title="Get document highlights",
    description=(
        "Lists the uses of the name at a place inside its own file, told apart as reads and writes where the language "
        "server knows. For the whole workspace use find_references."
    ),
    toolset=Toolset.NAVIGATION,
    kind=ToolKind.NAVIGATION,
    args=TargetArgs,
    result=GetDocumentHighlightsResult,
    run=run,
    in_default_set=False,
    list_field="highlights",
)
