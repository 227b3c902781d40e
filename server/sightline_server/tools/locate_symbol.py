"""`locate_symbol`: where a name is defined."""

from __future__ import annotations

import functools
from typing import Annotated

from pydantic import Field

from sightline_core.types import Note
from sightline_indexer.store import Snapshot
from sightline_search.locate import locate
from sightline_search.merge import merge_live
from sightline_search.model import DetailLevel, Intent, SearchResult
from sightline_search.result_filters import file_test
from sightline_search.truncate import fit_hits
from sightline_server.completeness import Facts, ToolKind
from sightline_server.enrichment import alongside
from sightline_server.freshness import FreshnessPolicy, NoSnapshot, apply_policy, read
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset
from sightline_server.tools.result_models import (
    ActionModel,
    ResultRows,
    follow_up_actions,
    install_actions,
    result_row,
)
from sightline_server.tools.search_args import (
    CursorArg,
    DetailArg,
    EnrichArg,
    FreshnessArg,
    KindArg,
    LanguageArg,
    LimitArg,
    PathFilterArg,
    filters_of,
)


class LocateArgs(Args):
    """The name and what narrows it."""

    name: Annotated[
        str,
        Field(min_length=1, max_length=1000, description="Bare, dotted or qualified: `Foo`, `foo.bar`, `Foo::bar`."),
    ]
    kind: KindArg = None
    path: PathFilterArg = ""
    language: LanguageArg = ""
    limit: LimitArg = 10
    cursor: CursorArg = ""
    detail_level: DetailArg = DetailLevel.SIGNATURE
    freshness_policy: FreshnessArg = FreshnessPolicy.BALANCED
    enrich: EnrichArg = True


class LocateResult(Result):
    """The definitions."""

    as_rows = frozenset({"results"})

    results: ResultRows
    values: Annotated[
        ResultRows | None,
        Field(description="Variables, fields and bare declarations of the name, when no function or type has it."),
    ] = None
    did_you_mean: Annotated[list[str] | None, Field(description="Near names, when the name is defined nowhere.")] = (
        None
    )
    total_candidates: int | None = None
    next_cursor: str | None = None
    suggested_next_actions: list[ActionModel]


async def run(call: Call, args: LocateArgs) -> Answer[LocateResult]:
    """Ask the index and the servers at the same time, and merge."""
    await apply_policy(call, args.freshness_policy)
    filters = filters_of(args.path, [], args.language, args.kind, include_tests=True)

    def work(snapshot: Snapshot) -> SearchResult:
        return locate(
            snapshot,
            args.name,
            kind=args.kind,
            filters=filters,
            limit=args.limit,
            cursor=args.cursor,
            detail=args.detail_level,
            limits=call.limits,
        )

    # Live symbols belong to the first page; the cursor counts definitions of the index.
    asked = args.name if args.enrich and not args.cursor and args.kind is None and not args.path else None
    found, live = await alongside(call, asked, functools.partial(read, call, work))
    holes: tuple[Note, ...] = ()
    if isinstance(found, NoSnapshot):
        holes = (found.note,)
        found = SearchResult(Intent.SYMBOL)
    accepts = file_test(filters, call.limits)
    merged = merge_live(found.hits, live.symbols, call.require_workspace().path, args.name, accepts)[: args.limit]
    hits, cuts = fit_hits(merged, args.detail_level, None, call.limits.max_structured_bytes, call.limits)
    result = LocateResult(
        results=[result_row(hit, args.detail_level) for hit in hits],
        values=[result_row(hit, args.detail_level) for hit in found.values] or None if not hits else None,
        did_you_mean=list(found.did_you_mean) or None if not hits else None,
        total_candidates=found.total_candidates,
        next_cursor=found.next_cursor or None,
        suggested_next_actions=[
            *follow_up_actions(hits, call.limits.max_suggestions),
            *install_actions(live.sources, call.limits.max_suggestions),
        ],
    )
    facts = Facts(cuts=(*found.cuts, *cuts), holes=(*holes, *found.holes), notes=found.notes, sources=live.sources)
    return Answer(result, facts)


LOCATE_SYMBOL = Tool(
    name="locate_symbol",
    title="Locate a symbol",
    description=(
        "Finds where a name is defined: class, function, method, type, constant. Exact names only; an unknown name "
        "gives no results and near names in did_you_mean. Use search_code when you do not know the name, or want its "
        "uses."
    ),
    toolset=Toolset.CORE,
    kind=ToolKind.SEARCH,
    args=LocateArgs,
    result=LocateResult,
    run=run,
    list_field="results",
)
