"""`get_code_context`: the most useful code for a task within a token budget."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.text import clean
from sightline_core.types import Note
from sightline_indexer.store import Snapshot
from sightline_search.context import CodeContext, build_context
from sightline_server.completeness import Facts, ToolKind
from sightline_server.envelope import WireModel
from sightline_server.freshness import FreshnessPolicy, NoSnapshot, apply_policy, read
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset
from sightline_server.tools.search_args import LanguageArg, filters_of


class ContextArgs(Args):
    """The task and the budget."""

    query: Annotated[
        str, Field(min_length=1, max_length=20_000, description="What the code is needed for: a task, a bug, a name.")
    ]
    max_tokens: Annotated[int, Field(description="The answer's code never takes more than this.")] = 4000
    strategy: Annotated[str, Field(description="breadth: many places briefly; depth: few files in full.")] = "breadth"
    language: LanguageArg = ""


class ContextItemModel(WireModel):
    """A stretch of code."""

    path: str
    line_start: int
    line_end: int
    symbol: str | None = None
    reason: str
    content: str


class ContextResult(Result):
    """The code."""

    context_items: list[ContextItemModel]
    estimated_tokens: int
    truncated: Annotated[bool, Field(description="True when something that belongs to it did not fit.")]


async def run(call: Call, args: ContextArgs) -> Answer[ContextResult]:
    """Search, then collect whole definitions as far as the budget goes."""
    await apply_policy(call, FreshnessPolicy.BALANCED)
    filters_of("", [], args.language, None, include_tests=True)
    root = call.require_workspace().root

    def work(snapshot: Snapshot) -> CodeContext:
        return build_context(
            snapshot,
            root,
            args.query,
            max_tokens=args.max_tokens,
            strategy=args.strategy,
            language=args.language,
            limits=call.limits,
            deadline=call.deadline,
        )

    found = await read(call, work)
    if isinstance(found, NoSnapshot):
        empty = ContextResult(context_items=[], estimated_tokens=0, truncated=False)
        return Answer(empty, Facts(holes=(found.note,)))
    result = ContextResult(
        context_items=[
            ContextItemModel(
                path=item.path,
                line_start=item.line_start,
                line_end=item.line_end,
                symbol=item.symbol or None,
                reason=item.reason,
                content=clean(item.content),
            )
            for item in found.items
        ],
        estimated_tokens=found.estimated_tokens,
        truncated=found.truncated,
    )
    cut = Note("max_tokens", "More code belongs to this than the budget holds; raise max_tokens or narrow the query.")
    holes = tuple(note for note in found.notes if note.code == "index_incomplete")
    notes = tuple(note for note in found.notes if note.code != "index_incomplete")
    return Answer(result, Facts(cuts=(cut,) if found.truncated else (), holes=holes, notes=notes))


GET_CODE_CONTEXT = Tool(
    name="get_code_context",
    title="Code for a task",
    description=(
        "Collects the code that a task needs within a budget: whole definitions, then callers and tests. Use it "
        "to start on a bug or feature in one call; use search_code when you only need to know where things are."
    ),
    toolset=Toolset.CORE,
    kind=ToolKind.SEARCH,
    args=ContextArgs,
    result=ContextResult,
    run=run,
    list_field="context_items",
)
