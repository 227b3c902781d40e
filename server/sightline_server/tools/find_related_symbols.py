"""`find_related_symbols`: definitions near another one."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pydantic import Field

from sightline_indexer.store import Snapshot
from sightline_search.model import DetailLevel
from sightline_search.related import RelatedResult, RelatedScope, find_related
from sightline_server.completeness import Facts, ToolKind
from sightline_server.envelope import WireModel
from sightline_server.freshness import FreshnessPolicy, NoSnapshot, apply_policy, read
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset
from sightline_server.tools.get_symbol_hierarchy import SymbolNameArg, not_indexed
from sightline_server.tools.result_models import ResultModel, result_model
from sightline_server.tools.search_args import PathFilterArg

Relation = Literal["same_file", "same_module", "same_package", "imported"]


class RelatedArgs(Args):
    """Which definition, and how far away others may be."""

    symbol_name: SymbolNameArg
    path: PathFilterArg = ""
    scope: Annotated[RelatedScope, Field(description="file, module (its folder) or package (its top folder).")] = (
        RelatedScope.FILE
    )
    limit: Annotated[int, Field(ge=1, le=100, description="How many at most.")] = 20


class RelatedModel(WireModel):
    """A definition and how it is related."""

    relation: Relation
    symbol: ResultModel


class RelatedSymbolsResult(Result):
    """The related definitions."""

    symbol: ResultModel
    related: list[RelatedModel]
    total_candidates: int


async def run(call: Call, args: RelatedArgs) -> Answer[RelatedSymbolsResult]:
    """Read them from the index and the imports of the file."""
    await apply_policy(call, FreshnessPolicy.BALANCED)
    root = call.require_workspace().root

    def work(snapshot: Snapshot) -> RelatedResult:
        return find_related(
            snapshot,
            root,
            args.symbol_name,
            path=args.path,
            scope=args.scope,
            limit=args.limit,
            limits=call.limits,
        )

    found = await read(call, work)
    if isinstance(found, NoSnapshot):
        raise not_indexed(found.note.message)
    result = RelatedSymbolsResult(
        symbol=result_model(found.symbol, DetailLevel.SIGNATURE),
        related=[
            RelatedModel(
                relation=cast("Relation", item.relation), symbol=result_model(item.hit, DetailLevel.SIGNATURE)
            )
            for item in found.related
        ],
        total_candidates=found.total,
    )
    return Answer(result, Facts(holes=found.holes))


FIND_RELATED_SYMBOLS = Tool(
    name="find_related_symbols",
    title="Related symbols",
    description=(
        "Lists definitions near one: in the same file, imported by it, in its folder or package. Use it to learn "
        "the neighbourhood of a symbol; for who calls it use find_callers where it is offered, or search_code."
    ),
    toolset=Toolset.CORE,
    kind=ToolKind.INDEX,
    args=RelatedArgs,
    result=RelatedSymbolsResult,
    run=run,
    list_field="related",
)
