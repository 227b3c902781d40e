"""`find_callers`: who calls a function, and whom it calls."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from sightline_core.limits import DEFAULT_LIMITS
from sightline_lsp.answers import Call as LspCall
from sightline_lsp.answers import HierarchyItem, Reply
from sightline_lsp.pool import Pool
from sightline_server.completeness import ToolKind
from sightline_server.hierarchies import Link, Prepare, Step
from sightline_server.relatives import HierarchyArgs, RelativesResult, find_relatives
from sightline_server.targets import Target
from sightline_server.tools.base import Answer, Call, Tool, Toolset

Links = Reply[tuple[Link, ...]]


class CallDirection(StrEnum):
    """Which way to follow calls."""

    INCOMING = "incoming"
    OUTGOING = "outgoing"
    BOTH = "both"


class FindCallersArgs(HierarchyArgs):
    """A function, the direction and how far to go."""

    direction: Annotated[
        CallDirection, Field(description="incoming: who calls it; outgoing: whom it calls; both.")
    ] = CallDirection.INCOMING
    depth: Annotated[int, Field(ge=1, le=DEFAULT_LIMITS.max_call_depth, description="How many calls away to go.")] = 1


async def run(call: Call, args: FindCallersArgs) -> Answer[RelativesResult]:
    """The server's call hierarchy; calls by name when it has none or cannot answer."""
    wanted = STEPS if args.direction is CallDirection.BOTH else {args.direction.value: STEPS[args.direction.value]}
    return await find_relatives(call, args, "find_callers", prepare_calls, wanted, args.depth)


def prepare_calls(target: Target) -> Prepare:
    """The question for the functions at the target."""
    return lambda pool, root, left: pool.prepare_calls(root, target.path, target.position, left)


async def _incoming(pool: Pool, root: str, target: Target, item: HierarchyItem, left: float) -> Links:
    return _links(await pool.incoming_calls(root, target.path, item, left))


async def _outgoing(pool: Pool, root: str, target: Target, item: HierarchyItem, left: float) -> Links:
    return _links(await pool.outgoing_calls(root, target.path, item, left))


def _links(reply: Reply[tuple[LspCall, ...]]) -> Links:
    links = tuple(Link(found.item, found.sites) for found in reply.value)
    return Reply(links, reply.source, reply.dropped, reply.truncated)


STEPS: dict[str, Step] = {"incoming": _incoming, "outgoing": _outgoing}

FIND_CALLERS = Tool(
    name="find_callers",
    title="Find callers",
    description=(
        "Lists the functions that call a function (incoming), those it calls (outgoing), or both, up to three calls "
        "away, each with the lines of the calls. Give symbol, or path with line and column, or path with a pattern "
        "holding @@. For uses that are not calls, or of variables and types, use find_references."
    ),
    toolset=Toolset.NAVIGATION,
    kind=ToolKind.NAVIGATION,
    args=FindCallersArgs,
    result=RelativesResult,
    run=run,
    list_field="items",
)
