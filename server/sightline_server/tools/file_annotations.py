"""`get_inlay_hints` and `get_semantic_tokens`: what a language server knows about the words of a file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.types import Range
from sightline_server.completeness import ToolKind
from sightline_server.envelope import WireModel
from sightline_server.lsp_question import answered, ask, facts_of
from sightline_server.targets import readable_path
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset
from sightline_server.tools.suggest_fixes import line_span


class FileLinesArgs(Args):
    """A file, or some lines of it."""

    path: Annotated[str, Field(min_length=1, description="A file, relative to the workspace.")]
    line: Annotated[int | None, Field(ge=1, description="First line; the whole file when omitted.")] = None
    end_line: Annotated[int | None, Field(ge=1, description="Last line; `line` when omitted.")] = None


class HintModel(WireModel):
    """A hint that an editor would show inside the line."""

    line: int
    column: int
    label: str
    kind: Annotated[str | None, Field(description="type or parameter.")] = None


class GetInlayHintsResult(Result):
    """The hints, in order."""

    path: str
    hints: list[HintModel]


class TokenModel(WireModel):
    """A classified word."""

    line: int
    column: int
    end_column: int
    type: str
    modifiers: list[str] | None = None


class GetSemanticTokensResult(Result):
    """The tokens, in order."""

    path: str
    tokens: list[TokenModel]


async def run_hints(call: Call, args: FileLinesArgs) -> Answer[GetInlayHintsResult]:
    """Only a server can tell."""
    await call.index()
    path = readable_path(call.require_workspace().root, args.path)
    span = await line_span(call, path, args.line, args.end_line)
    asked = await ask(call, path, lambda pool, root, left: pool.inlay_hints(root, path, span, left), ())
    hints = [
        HintModel(line=hint.position.line, column=hint.position.column, label=hint.label, kind=hint.kind or None)
        for hint in answered(asked)
        if span.start <= hint.position <= span.end
    ]
    return Answer(GetInlayHintsResult(path=path.relative, hints=hints), facts_of([asked]))


async def run_tokens(call: Call, args: FileLinesArgs) -> Answer[GetSemanticTokensResult]:
    """Only a server can tell."""
    await call.index()
    path = readable_path(call.require_workspace().root, args.path)
    span = await line_span(call, path, args.line, args.end_line)
    asked = await ask(call, path, lambda pool, root, left: pool.semantic_tokens(root, path, left), ())
    tokens = [
        _token(token.range, token.type, token.modifiers)
        for token in answered(asked)
        if span.start <= token.range.start <= span.end
    ]
    return Answer(GetSemanticTokensResult(path=path.relative, tokens=tokens), facts_of([asked]))


def _token(span: Range, kind: str, modifiers: tuple[str, ...]) -> TokenModel:
    return TokenModel(
        line=span.start.line,
        column=span.start.column,
        end_column=span.end.column,
        type=kind,
        modifiers=list(modifiers) or None,
    )


GET_INLAY_HINTS = Tool(
    name="get_inlay_hints",
    title="Get inlay hints",
    description=(
        "Lists the inferred types and parameter names that an editor would show inside the lines of a file. "
        "For the type of one name use inspect_symbol."
    ),
    toolset=Toolset.ANALYSIS,
    kind=ToolKind.NAVIGATION,
    args=FileLinesArgs,
    result=GetInlayHintsResult,
    run=run_hints,
    in_default_set=False,
    list_field="hints",
)
GET_SEMANTIC_TOKENS = Tool(
    name="get_semantic_tokens",
    title="Get semantic tokens",
    description=(
        "Lists the words of a file with what the language server takes each for: parameter, method, type and so on. "
        "Name a few lines, because the answer is long. For definitions alone use get_file_outline."
    ),
    toolset=Toolset.ANALYSIS,
    kind=ToolKind.NAVIGATION,
    args=FileLinesArgs,
    result=GetSemanticTokensResult,
    run=run_tokens,
    in_default_set=False,
    list_field="tokens",
)
