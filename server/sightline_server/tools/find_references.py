"""`find_references`: where a name is used, source apart from tests."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_lsp.answers import LspLocation, Reply
from sightline_lsp.pool import Pool
from sightline_server.completeness import ToolKind
from sightline_server.navigate import PlacesArgs, PlacesResult, find_places, symbol_arguments
from sightline_server.next_actions import NextAction
from sightline_server.syntactic import Found, references_by_name
from sightline_server.targets import Target
from sightline_server.tools.base import Answer, Call, Tool, Toolset


class FindReferencesArgs(PlacesArgs):
    """A target, and whether its own declaration counts."""

    include_declaration: Annotated[bool, Field(description="Also list the declaration itself.")] = False


async def run(call: Call, args: FindReferencesArgs) -> Answer[PlacesResult]:
    """The server's references; occurrences by name while it cannot answer or still loads."""

    async def question(pool: Pool, root: str, target: Target, left: float) -> Reply[tuple[LspLocation, ...]]:
        return await pool.references(
            root, target.path, target.position, left, include_declaration=args.include_declaration
        )

    async def fallback(call: Call, target: Target) -> Found:
        return await references_by_name(call, target, include_declaration=args.include_declaration)

    return await find_places(call, args, "find_references", question, fallback, _after)


def _after(target: Target) -> list[NextAction]:
    arguments = symbol_arguments(target)
    return [NextAction(tool="find_callers", arguments=arguments, reason="See the calls with their callers.")]


FIND_REFERENCES = Tool(
    name="find_references",
    title="Find references",
    description=(
        "Lists every use of the symbol at a place or of a named symbol: each with its line and enclosing definition, "
        "grouped by file, source files first, then tests (is_test). Give path with line and column, path with a "
        "pattern holding @@, or symbol. For callers as functions use find_callers; for mere text use search_code."
    ),
    toolset=Toolset.NAVIGATION,
    kind=ToolKind.NAVIGATION,
    args=FindReferencesArgs,
    result=PlacesResult,
    run=run,
    list_field="locations",
)
