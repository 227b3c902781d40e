"""`type_hierarchy`: what a type inherits from, and what inherits from it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from sightline_core.limits import DEFAULT_LIMITS
from sightline_lsp.answers import HierarchyItem, Reply
from sightline_lsp.pool import Pool
from sightline_server.completeness import ToolKind
from sightline_server.hierarchies import Link, Prepare, Step
from sightline_server.relatives import HierarchyArgs, RelativesResult, find_relatives
from sightline_server.targets import Target
from sightline_server.tools.base import Answer, Call, Tool, Toolset

Links = Reply[tuple[Link, ...]]


class TypeDirection(StrEnum):
    """Which way to follow inheritance."""

    SUPERTYPES = "supertypes"
    SUBTYPES = "subtypes"
    BOTH = "both"


class TypeHierarchyArgs(HierarchyArgs):
    """A type, the direction and how far to go."""

    direction: Annotated[
        TypeDirection, Field(description="supertypes: what it inherits from; subtypes: what inherits from it; both.")
    ] = TypeDirection.BOTH
    depth: Annotated[int, Field(ge=1, le=DEFAULT_LIMITS.max_call_depth, description="How many levels to go.")] = (
        DEFAULT_LIMITS.max_call_depth
    )


async def run(call: Call, args: TypeHierarchyArgs) -> Answer[RelativesResult]:
    """The server's type hierarchy; the heads of definitions when it has none or cannot answer."""
    wanted = STEPS if args.direction is TypeDirection.BOTH else {args.direction.value: STEPS[args.direction.value]}
    return await find_relatives(call, args, "type_hierarchy", _prepare, wanted, args.depth)


def _prepare(target: Target) -> Prepare:
    return lambda pool, root, left: pool.prepare_types(root, target.path, target.position, left)


async def _supertypes(pool: Pool, root: str, target: Target, item: HierarchyItem, left: float) -> Links:
    return _links(await pool.supertypes(root, target.path, item, left))


async def _subtypes(pool: Pool, root: str, target: Target, item: HierarchyItem, left: float) -> Links:
    return _links(await pool.subtypes(root, target.path, item, left))


def _links(reply: Reply[tuple[HierarchyItem, ...]]) -> Links:
    return Reply(tuple(Link(item) for item in reply.value), reply.source, reply.dropped, reply.truncated)


STEPS: dict[str, Step] = {"supertypes": _supertypes, "subtypes": _subtypes}

TYPE_HIERARCHY = Tool(
    name="type_hierarchy",
    title="Type hierarchy",
    description=(
        "Lists the types that a class or interface inherits from (supertypes) and those that inherit from it "
        "(subtypes), up to three levels. For what a definition contains or is contained in use get_symbol_hierarchy; "
        "for overriding methods use go_to_implementation."
    ),
    toolset=Toolset.NAVIGATION,
    kind=ToolKind.NAVIGATION,
    args=TypeHierarchyArgs,
    result=RelativesResult,
    run=run,
    list_field="items",
)
