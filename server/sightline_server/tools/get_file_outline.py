"""`get_file_outline`: what a file defines, nested."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.text import clean
from sightline_core.types import Note
from sightline_indexer.store import Snapshot
from sightline_search.outline import Outline, OutlineDepth, OutlineItem, outline
from sightline_server.completeness import Facts, ToolKind
from sightline_server.envelope import WireModel
from sightline_server.freshness import FreshnessPolicy, NoSnapshot, apply_policy, read
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset


class OutlineArgs(Args):
    """Which file."""

    path: Annotated[str, Field(min_length=1, max_length=4096, description="The file, relative to the workspace.")]
    depth: Annotated[OutlineDepth, Field(description="top for the outermost definitions only.")] = OutlineDepth.ALL


class OutlineSymbolModel(WireModel):
    """A definition with those inside it."""

    name: str
    kind: str
    line: int
    end_line: int
    signature: str | None = None
    doc: str | None = None
    children: list[OutlineSymbolModel] | None = None


class OutlineResult(Result):
    """The outline."""

    path: str
    language: str | None = None
    symbols: list[OutlineSymbolModel]
    values_left_out: Annotated[
        int | None, Field(description="How many variables and fields are not listed; find them with search_code.")
    ] = None
    problem: Annotated[str | None, Field(description="Why the file may have no symbols.")] = None


async def run(call: Call, args: OutlineArgs) -> Answer[OutlineResult]:
    """Read the outline from the index, brought up to date for this file first if it is behind."""
    await apply_policy(call, FreshnessPolicy.BALANCED)
    target = call.require_workspace().root.resolve(args.path)

    def work(snapshot: Snapshot) -> Outline:
        return outline(snapshot, target.relative, args.depth, limits=call.limits)

    found = await read(call, work)
    if isinstance(found, NoSnapshot):
        return Answer(OutlineResult(path=target.relative, symbols=[]), Facts(holes=(found.note,)))
    holes = found.holes
    if found.problem:
        holes = (*holes, Note("file_not_parsed", f"'{found.path}' could not be parsed whole: {found.problem}."))
    result = OutlineResult(
        path=found.path,
        language=found.language or None,
        symbols=[_symbol(item, 0) for item in found.items],
        values_left_out=found.left_out or None,
        problem=found.problem or None,
    )
    return Answer(result, Facts(holes=holes))


# Deeper nesting than any reader follows, and than JSON writers like.
_MAX_DEPTH = 50


def _symbol(item: OutlineItem, depth: int) -> OutlineSymbolModel:
    symbol = item.symbol
    inner = [_symbol(child, depth + 1) for child in item.children] if depth < _MAX_DEPTH else []
    return OutlineSymbolModel(
        name=clean(symbol.name),
        kind=symbol.kind.value,
        line=symbol.name_position.line,
        end_line=symbol.range.end.line,
        signature=clean(symbol.signature) or None,
        doc=clean(symbol.doc) or None,
        children=inner or None,
    )


GET_FILE_OUTLINE = Tool(
    name="get_file_outline",
    title="File outline",
    description=(
        "Lists what a file defines, nested, with signatures and lines: read it before you read the file. "
        "Use locate_symbol to find one definition in any file."
    ),
    toolset=Toolset.CORE,
    kind=ToolKind.INDEX,
    args=OutlineArgs,
    result=OutlineResult,
    run=run,
    list_field="symbols",
)
