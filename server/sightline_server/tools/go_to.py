"""The `go_to_` tools: definition, declaration, type definition and implementation of what is at a place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from sightline_server.completeness import ToolKind
from sightline_server.navigate import PlacesArgs, PlacesResult, find_places, symbol_arguments
from sightline_server.next_actions import NextAction
from sightline_server.syntactic import definitions_by_name, implementations_by_name
from sightline_server.targets import Target
from sightline_server.tools.base import Answer, Call, Tool, Toolset

Run = Callable[[Call, PlacesArgs], Awaitable[Answer[PlacesResult]]]


async def run_definition(call: Call, args: PlacesArgs) -> Answer[PlacesResult]:
    """Where it is defined; by name from the index when no server can say."""
    return await find_places(
        call,
        args,
        "go_to_definition",
        lambda pool, root, target, left: pool.definition(root, target.path, target.position, left),
        definitions_by_name,
        _after_definition,
    )


async def run_declaration(call: Call, args: PlacesArgs) -> Answer[PlacesResult]:
    """Where it is declared; the index knows definitions, which are declarations, too."""
    return await find_places(
        call,
        args,
        "go_to_declaration",
        lambda pool, root, target, left: pool.declaration(root, target.path, target.position, left),
        definitions_by_name,
    )


async def run_type_definition(call: Call, args: PlacesArgs) -> Answer[PlacesResult]:
    """Where its type is defined; only a server knows types."""
    return await find_places(
        call,
        args,
        "go_to_type_definition",
        lambda pool, root, target, left: pool.type_definition(root, target.path, target.position, left),
        None,
    )


async def run_implementation(call: Call, args: PlacesArgs) -> Answer[PlacesResult]:
    """Where it is implemented; by what stands in the heads of types when no server can say."""
    return await find_places(
        call,
        args,
        "go_to_implementation",
        lambda pool, root, target, left: pool.implementation(root, target.path, target.position, left),
        implementations_by_name,
    )


def _after_definition(target: Target) -> list[NextAction]:
    arguments = symbol_arguments(target)
    return [NextAction(tool="find_references", arguments=arguments, reason="See where it is used.")]


def _tool(
    name: str, title: str, description: str, run: Run, *, in_default_set: bool
) -> Tool[PlacesArgs, PlacesResult]:
    return Tool(
        name=name,
        title=title,
        description=description,
        toolset=Toolset.NAVIGATION,
        kind=ToolKind.NAVIGATION,
        args=PlacesArgs,
        result=PlacesResult,
        run=run,
        in_default_set=in_default_set,
        list_field="locations",
    )


GO_TO_DEFINITION = _tool(
    "go_to_definition",
    "Go to definition",
    "Finds where the name at a place is defined, asking the language server. Give path with line and column, or path "
    "with a pattern holding @@ at the cursor, or symbol. If you only have a name and want its definitions, "
    "locate_symbol is faster; for the code itself use explore_symbol.",
    run_definition,
    in_default_set=True,
)
GO_TO_DECLARATION = _tool(
    "go_to_declaration",
    "Go to declaration",
    "Finds where the name at a place is declared, such as a C prototype in a header or an import. "
    "Use go_to_definition for the code that implements it.",
    run_declaration,
    in_default_set=False,
)
GO_TO_TYPE_DEFINITION = _tool(
    "go_to_type_definition",
    "Go to type definition",
    "Finds where the type of the expression at a place is defined: for a variable its class. Needs a language "
    "server. Use go_to_definition for the variable itself.",
    run_type_definition,
    in_default_set=False,
)
GO_TO_IMPLEMENTATION = _tool(
    "go_to_implementation",
    "Go to implementation",
    "Finds the types that implement or inherit from an interface or class, or the methods that override a method. "
    "Use type_hierarchy for the whole chain, go_to_definition for the one place a name comes from.",
    run_implementation,
    in_default_set=True,
)
