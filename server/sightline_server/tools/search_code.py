"""`search_code`: the one search for names, text, paths, errors and questions."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Annotated, Self

from pydantic import Field, model_validator

from sightline_core.types import Note, Source
from sightline_indexer.store import Snapshot
from sightline_search.engine import search
from sightline_search.merge import merge_live
from sightline_search.model import DetailLevel, Intent, SearchMode, SearchOptions, SearchResult
from sightline_search.result_filters import file_test
from sightline_search.truncate import fit_result
from sightline_server.completeness import Facts, ToolKind
from sightline_server.enrichment import Live, alongside, can_be_symbol
from sightline_server.envelope import WireModel
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

_MODES_WITH_SYMBOLS = (SearchMode.AUTO, SearchMode.SYMBOL)
QueryText = Annotated[str, Field(min_length=1, max_length=20_000)]


class SearchArgs(Args):
    """The question and what narrows it."""

    query: Annotated[
        str,
        Field(
            max_length=20_000,
            description=(
                "A name, words, a path, an error or stack trace, or a whole bug report. Inline filters work: "
                'lang:go path:pkg/ kind:class -path:vendor "exact phrase".'
            ),
        ),
    ] = ""
    queries: Annotated[
        list[QueryText], Field(max_length=10, description="Up to ten queries at once, in place of `query`.")
    ] = Field(default_factory=list[str])
    mode: Annotated[
        SearchMode, Field(description="auto decides by the query; literal and regex (RE2) are exact, as in ripgrep.")
    ] = SearchMode.AUTO
    path: PathFilterArg = ""
    exclude: Annotated[list[str], Field(max_length=50, description="Globs of paths to leave out.")] = Field(
        default_factory=list[str]
    )
    language: LanguageArg = ""
    kind: KindArg = None
    case_sensitive: Annotated[
        bool | None, Field(description="By default case counts in literal and regex and not elsewhere.")
    ] = None
    include_tests: Annotated[bool, Field(description="False leaves test files out.")] = True
    limit: LimitArg = 10
    cursor: CursorArg = ""
    count_only: Annotated[bool, Field(description="Only how many matches each file has.")] = False
    detail_level: DetailArg = DetailLevel.SIGNATURE
    max_tokens: Annotated[
        int | None, Field(ge=50, le=100_000, description="The results never take more tokens than this.")
    ] = None
    freshness_policy: FreshnessArg = FreshnessPolicy.BALANCED
    enrich: EnrichArg = True
    explain: Annotated[bool, Field(description="Say how the query was read and what each score is made of.")] = False

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        if bool(self.query.strip()) == bool(self.queries):
            raise ValueError("give either `query` or `queries`")
        if self.queries and self.cursor:
            raise ValueError("a cursor goes with `query`, not with `queries`")
        return self


class CountModel(WireModel):
    """Matches of one file."""

    path: str
    matches: int


class SearchAnswerModel(WireModel):
    """The answer to one query."""

    query: str | None = None
    query_intent: Intent
    why: Annotated[str | None, Field(description="How the query was read; with explain.")] = None
    results: ResultRows
    did_you_mean: list[str] | None = None
    total_candidates: int | None = None
    next_cursor: str | None = None
    counts: Annotated[list[CountModel] | None, Field(description="Matches per file; with count_only.")] = None


class SearchCodeResult(Result):
    """The answer, or one per query in `answers`."""

    as_rows = frozenset({"results"})

    query_intent: Intent | None = None
    why: str | None = None
    results: ResultRows
    did_you_mean: list[str] | None = None
    total_candidates: int | None = None
    next_cursor: str | None = None
    counts: list[CountModel] | None = None
    answers: Annotated[list[SearchAnswerModel] | None, Field(description="One entry per entry of `queries`.")] = None
    suggested_next_actions: list[ActionModel]


async def run(call: Call, args: SearchArgs) -> Answer[SearchCodeResult]:
    """Answer one query, or each of several from the same index."""
    await apply_policy(call, args.freshness_policy)
    options = SearchOptions(
        mode=args.mode,
        filters=filters_of(args.path, args.exclude, args.language, args.kind, include_tests=args.include_tests),
        case_sensitive=args.case_sensitive,
        limit=args.limit,
        cursor=args.cursor,
        count_only=args.count_only,
        detail=args.detail_level,
        max_tokens=args.max_tokens,
        explain=args.explain,
    )
    if args.queries:
        return await _run_batch(call, args, options)
    found, live = await _search_one(call, args.query, options, enrich=args.enrich)
    shown = _answer_model(found, args)
    result = SearchCodeResult(
        **{name: getattr(shown, name) for name in SearchAnswerModel.model_fields if name != "query"},
        suggested_next_actions=[
            *follow_up_actions(found.hits, call.limits.max_suggestions),
            *install_actions(live.sources, call.limits.max_suggestions),
        ],
    )
    return Answer(result, _facts([found], live.sources))


async def _run_batch(call: Call, args: SearchArgs, options: SearchOptions) -> Answer[SearchCodeResult]:
    if options.max_tokens is not None:
        options = replace(options, max_tokens=max(1, options.max_tokens // len(args.queries)))
    pairs = [await _search_one(call, query, options, enrich=args.enrich) for query in args.queries]
    answers = [
        _answer_model(found, args).model_copy(update={"query": query})
        for query, (found, _) in zip(args.queries, pairs, strict=True)
    ]
    sources = _latest([live.sources for _, live in pairs])
    result = SearchCodeResult(
        results=[],
        answers=answers,
        suggested_next_actions=install_actions(sources, call.limits.max_suggestions),
    )
    return Answer(result, _facts([found for found, _ in pairs], sources))


async def _search_one(call: Call, query: str, options: SearchOptions, *, enrich: bool) -> tuple[SearchResult, Live]:
    workspace = call.require_workspace()
    helpers = call.services.helpers
    narrowed = options.filters.kind is not None or options.filters.paths or options.cursor or options.count_only
    can_ask = enrich and options.mode in _MODES_WITH_SYMBOLS and not narrowed and can_be_symbol(query)

    def work(snapshot: Snapshot) -> SearchResult:
        helped = helpers.search(snapshot, workspace.root, query, options, call.deadline, fits=not can_ask)
        if helped is not None:
            return helped
        found = search(snapshot, workspace.root, query, options, call.limits, call.deadline)
        return found if can_ask else fit_result(found, options, call.limits)

    with helpers.noticing():
        found, live = await alongside(call, query if can_ask else None, functools.partial(read, call, work))
    if isinstance(found, NoSnapshot):
        found = SearchResult(Intent.NATURAL_LANGUAGE, holes=(found.note,))
    if not can_ask:
        return found, live
    if live.symbols:
        accepts = file_test(options.filters, call.limits)
        merged = merge_live(found.hits, live.symbols, workspace.path, query, accepts)
        found = replace(found, hits=tuple(merged[: options.limit]))
    return fit_result(found, options, call.limits), live


def _answer_model(found: SearchResult, args: SearchArgs) -> SearchAnswerModel:
    return SearchAnswerModel(
        query_intent=found.intent,
        why=found.why or None if args.explain else None,
        results=[result_row(hit, args.detail_level, explain=args.explain) for hit in found.hits],
        did_you_mean=list(found.did_you_mean) or None,
        total_candidates=found.total_candidates,
        next_cursor=found.next_cursor or None,
        counts=[CountModel(path=count.path, matches=count.matches) for count in found.counts] or None,
    )


def _facts(found: list[SearchResult], sources: tuple[Source, ...] | None) -> Facts:
    def collect(name: str) -> tuple[Note, ...]:
        return tuple(note for result in found for note in getattr(result, name))

    return Facts(cuts=collect("cuts"), holes=collect("holes"), notes=collect("notes"), sources=sources)


def _latest(all_sources: list[tuple[Source, ...] | None]) -> tuple[Source, ...] | None:
    """The last word on each language, from a batch that may have asked several times."""
    known = [sources for sources in all_sources if sources is not None]
    if not known:
        return None
    return tuple({source.language: source for sources in known for source in sources}.values())


SEARCH_CODE = Tool(
    name="search_code",
    title="Search code",
    description=(
        "Searches files and symbols of the workspace: give a name, words, a path, an error or stack trace, or a "
        "whole bug report, and get ranked places, definitions first. mode=literal and mode=regex give every exact "
        "match. Use locate_symbol when you know the exact name of a definition."
    ),
    toolset=Toolset.CORE,
    kind=ToolKind.SEARCH,
    args=SearchArgs,
    result=SearchCodeResult,
    run=run,
    list_field="results",
)
