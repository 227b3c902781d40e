"""`get_document_highlights`: the uses of a name inside its own file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_server.completeness import ToolKind
from sightline_server.locations import Location, show
from sightline_server.lsp_question import ask, facts_of
from sightline_server.navigate import Provenance
from sightline_server.place_lists import Place
from sightline_server.syntactic import Found, highlights_by_name
from sightline_server.targets import TargetArgs, TargetModel, resolve_target, target_model
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
    by_name = Found() if asked.is_sure or places else await highlights_by_name(call, target)
    places += by_name.places
    shown = await show(call, places)
    highlights = [HighlightModel(**at, kind=kinds.get(place.range)) for at, place in zip(shown, places, strict=True)]
    result = GetDocumentHighlightsResult(
        target=target_model(target),
        highlights=highlights,
        provenance=["lsp"] if asked.value or asked.is_sure else ["index"],
    )
    return Answer(result, facts_of([asked], cuts=by_name.cuts, holes=(*target.holes, *by_name.holes)))


GET_DOCUMENT_HIGHLIGHTS = Tool(
    name="get_document_highlights",
    title="Get document highlights",
    description=(
        "Lists the uses of the name at a place inside its own file, told apart as reads and writes where the "
        "language server knows. For the whole workspace use find_references."
    ),
    toolset=Toolset.NAVIGATION,
    kind=ToolKind.NAVIGATION,
    args=TargetArgs,
    result=GetDocumentHighlightsResult,
    run=run,
    in_default_set=False,
    list_field="highlights",
)
