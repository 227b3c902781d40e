"""`get_symbol_hierarchy`: what contains a definition, or what it contains."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.errors import ErrorCode, SightlineError
from sightline_indexer.store import Snapshot
from sightline_search.hierarchy import Direction, Hierarchy, symbol_hierarchy
from sightline_search.model import DetailLevel
from sightline_server.completeness import Facts, ToolKind
from sightline_server.envelope import WireModel
from sightline_server.freshness import FreshnessPolicy, NoSnapshot, apply_policy, read
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset
from sightline_server.tools.result_models import ResultModel, result_model
from sightline_server.tools.search_args import PathFilterArg

SymbolNameArg = Annotated[
    str, Field(min_length=1, max_length=1000, description="Bare or qualified: `Foo`, `foo.bar`, `Foo::bar`.")
]


class HierarchyArgs(Args):
    """Which definition, and which way."""

    symbol_name: SymbolNameArg
    path: PathFilterArg = ""
    direction: Annotated[Direction, Field(description="ancestors contain it, descendants are inside.")] = (
        Direction.ANCESTORS
    )


class LevelModel(WireModel):
    """A definition of the chain."""

    distance: Annotated[int, Field(description="1 is the parent or a child.")]
    symbol: ResultModel


class HierarchyResult(Result):
    """The chain."""

    symbol: ResultModel | None = None
    direction: Direction
    chain: list[LevelModel]


def not_indexed(note: str) -> SightlineError:
    """The error of a tool that needs a symbol before there is any."""
    return SightlineError(ErrorCode.INDEX_NOT_READY, note, hint="Wait for the running job with index_status.")


async def run(call: Call, args: HierarchyArgs) -> Answer[HierarchyResult]:
    """Read the chain from the index."""
    await apply_policy(call, FreshnessPolicy.BALANCED)

    def work(snapshot: Snapshot) -> Hierarchy:
        return symbol_hierarchy(
            snapshot, args.symbol_name, path=args.path, direction=args.direction, limits=call.limits
        )

    found = await read(call, work)
    if isinstance(found, NoSnapshot):
        raise not_indexed(found.note.message)
    result = HierarchyResult(
        symbol=result_model(found.symbol, DetailLevel.SIGNATURE),
        direction=found.direction,
        chain=[
            LevelModel(distance=level.distance, symbol=result_model(level.hit, DetailLevel.SIGNATURE))
            for level in found.levels
        ],
    )
    return Answer(result, Facts(cuts=found.cuts, holes=found.holes))


GET_SYMBOL_HIERARCHY = Tool(
    name="get_symbol_hierarchy",
    title="Symbol hierarchy",
    description=(
        "Shows the chain of definitions around one: the class and module that contain it, or the members inside it. "
        "This is containment, not inheritance: for supertypes and subtypes use type_hierarchy where it is offered."
    ),
    toolset=Toolset.CORE,
    kind=ToolKind.INDEX,
    args=HierarchyArgs,
    result=HierarchyResult,
    run=run,
    list_field="chain",
)
