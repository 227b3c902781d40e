"""`get_symbol_source`: the code of one definition."""

from __future__ import annotations

from sightline_server.completeness import Facts, ToolKind
from sightline_server.definitions import DefinitionModel, cut_note, definition_model, resolve_definition
from sightline_server.targets import TargetArgs
from sightline_server.tools.base import Answer, Call, Result, Tool, Toolset


class GetSymbolSourceResult(Result):
    """A definition with its lines as they are on disk."""

    definition: DefinitionModel
    source: str


async def run(call: Call, args: TargetArgs) -> Answer[GetSymbolSourceResult]:
    """Read the definition's lines; a file that changed is brought into the index first."""
    _, source = await resolve_definition(call, args)
    result = GetSymbolSourceResult(definition=definition_model(source.record), source=source.text)
    return Answer(result, Facts(cuts=cut_note("the source", source.cut), holes=source.holes))


GET_SYMBOL_SOURCE = Tool(
    name="get_symbol_source",
    title="Get symbol source",
    description=(
        "Returns the whole source of one function, class or other definition, by symbol or by any place inside it, "
        "so that no line numbers need to be guessed. For callers and references along with it use explore_symbol; "
        "for a list of what a file defines use get_file_outline."
    ),
    toolset=Toolset.ANALYSIS,
    kind=ToolKind.INDEX,
    args=TargetArgs,
    result=GetSymbolSourceResult,
    run=run,
    in_default_set=False,
)
