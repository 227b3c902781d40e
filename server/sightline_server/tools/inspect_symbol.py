"""`inspect_symbol` and `get_symbol_documentation`: what is known about the name at a place, without its uses."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import Field

from sightline_core.limits import Limits
from sightline_core.types import Note
from sightline_indexer.records import SymbolRecord
from sightline_indexer.store import Snapshot
from sightline_lsp.answers import Hover
from sightline_search.locate import holes_of
from sightline_server.completeness import ToolKind
from sightline_server.definitions import DefinitionModel, definition_model
from sightline_server.lsp_question import Asked, ask, facts_of
from sightline_server.navigate import Provenance, symbol_arguments
from sightline_server.next_actions import NextAction
from sightline_server.syntactic import definitions_of, in_snapshot
from sightline_server.targets import Target, TargetArgs, TargetModel, resolve_target, target_model
from sightline_server.tools.base import Answer, Call, Result, Tool, Toolset


class InspectSymbolResult(Result):
    """Type, signature and documentation of the target."""

    target: TargetModel
    hover: Annotated[str | None, Field(description="What the language server shows: type, signature, docs.")] = None
    definitions: Annotated[
        list[DefinitionModel],
        Field(description="Definitions of that name in the index; several when unclear."),
    ]
    provenance: Provenance
    suggested_next_actions: list[NextAction] | None = None


async def run(call: Call, args: TargetArgs) -> Answer[InspectSymbolResult]:
    """The server's hover with what the index knows; the index alone when the server cannot answer."""
    target = await resolve_target(call, args)
    asked = await hover_at(call, target)
    records, holes = await known_definitions(call, target)
    if asked.error is not None and not records:
        raise asked.error
    result = InspectSymbolResult(
        target=target_model(target),
        hover=asked.value.text if asked.value is not None else None,
        definitions=[definition_model(record) for record in records],
        provenance=[name for name, part in (("lsp", asked.value), ("index", records)) if part],
        suggested_next_actions=[
            NextAction(tool="explore_symbol", arguments=symbol_arguments(target), reason="See its code and its uses.")
        ],
    )
    return Answer(result, facts_of([asked], holes=holes if not asked.is_sure else target.holes))


async def hover_at(call: Call, target: Target) -> Asked[Hover | None]:
    """What the server shows at the target."""
    return await ask(
        call, target.path, lambda pool, root, left: pool.hover(root, target.path, target.position, left), None
    )


async def known_definitions(call: Call, target: Target) -> tuple[list[SymbolRecord], tuple[Note, ...]]:
    """Definitions that the name may mean, a few at most, and what the index could not see."""
    return await in_snapshot(call, partial(_known, target, call.limits), lambda holes: ([], holes))


def _known(target: Target, limits: Limits, snapshot: Snapshot) -> tuple[list[SymbolRecord], tuple[Note, ...]]:
    found = snapshot.with_texts(definitions_of(snapshot, target)[: limits.max_shown_candidates])
    return found, holes_of(snapshot)


INSPECT_SYMBOL = Tool(
    name="inspect_symbol",
    title="Inspect symbol",
    description=(
        "Shows type, signature and documentation of the name at a place or of a named symbol (hover), with its "
        "definition in the index. Small and quick. Use explore_symbol when you also need code, callers and tests, "
        "go_to_definition for the place alone."
    ),
    toolset=Toolset.NAVIGATION,
    kind=ToolKind.NAVIGATION,
    args=TargetArgs,
    result=InspectSymbolResult,
    run=run,
    list_field="definitions",
)
GET_SYMBOL_DOCUMENTATION = Tool(
    name="get_symbol_documentation",
    title="Get symbol documentation",
    description=(
        "Returns the documentation of a symbol: what the language server shows for it and the first line that the "
        "index keeps. Never runs code of the workspace. Use inspect_symbol in the same way when types matter more, "
        "get_symbol_source for the code."
    ),
    toolset=Toolset.ANALYSIS,
    kind=ToolKind.NAVIGATION,
    args=TargetArgs,
    result=InspectSymbolResult,
    run=run,
    in_default_set=False,
    list_field="definitions",
)
