"""`suggest_fixes`: what the language server proposes for a line, as text."""

from __future__ import annotations

from typing import Annotated

import anyio.to_thread
from pydantic import Field

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.paths import RepoPath
from sightline_core.types import Position, Range
from sightline_lsp.answers import CodeAction, Edit
from sightline_server.completeness import ToolKind
from sightline_server.envelope import WireModel
from sightline_server.lsp_question import answered, ask, facts_of
from sightline_server.targets import readable_path
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset


class SuggestFixesArgs(Args):
    """A stretch of lines."""

    path: Annotated[str, Field(min_length=1, description="A file, relative to the workspace.")]
    line: Annotated[int, Field(ge=1, description="1-based line.")]
    end_line: Annotated[int | None, Field(ge=1, description="Last line; `line` when omitted.")] = None


class EditModel(WireModel):
    """A replacement that was proposed; nothing is written."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    new_text: str
    external: bool | None = None


class FixModel(WireModel):
    """One proposal."""

    title: str
    kind: str | None = None
    preferred: bool | None = None
    runs_command: Annotated[bool | None, Field(description="True when the server would run a command for it.")] = None
    edits: list[EditModel]


class SuggestFixesResult(Result):
    """The proposals, in the server's order."""

    path: str
    fixes: list[FixModel]


async def run(call: Call, args: SuggestFixesArgs) -> Answer[SuggestFixesResult]:
    """Ask for code actions over whole lines; only a server can tell."""
    await call.index()
    path = readable_path(call.require_workspace().root, args.path)
    span = await line_span(call, path, args.line, args.end_line)
    asked = await ask(call, path, lambda pool, root, left: pool.code_actions(root, path, span, left), ())
    fixes = [_model(action) for action in answered(asked)]
    return Answer(SuggestFixesResult(path=path.relative, fixes=fixes), facts_of([asked]))


async def line_span(call: Call, path: RepoPath, line: int | None, end_line: int | None) -> Range:
    """Whole lines of a file, all of them by default; raises `invalid_input` for lines it does not have."""
    texts = call.services.language_servers.pool.texts
    text = (await anyio.to_thread.run_sync(texts.read, call.require_workspace().root, path)).lines
    first = line or 1
    last = min(end_line or (line or text.line_count), text.line_count)
    if first > text.line_count or last < first:
        raise SightlineError(
            ErrorCode.INVALID_INPUT, f"The file has {text.line_count} lines.", hint="Lines begin with 1."
        )
    return Range(Position(first, 1), Position(last, len(text.line(last)) + 1))


def _model(action: CodeAction) -> FixModel:
    return FixModel(
        title=action.title,
        kind=action.kind or None,
        preferred=action.preferred or None,
        runs_command=action.has_command or None,
        edits=[_edit(edit) for edit in action.edits],
    )


def _edit(edit: Edit) -> EditModel:
    start, end = edit.location.range.start, edit.location.range.end
    return EditModel(
        path=edit.location.relative,
        line=start.line,
        column=start.column,
        end_line=end.line,
        end_column=end.column,
        new_text=edit.new_text,
        external=True if edit.location.in_root is None else None,
    )


SUGGEST_FIXES = Tool(
    name="suggest_fixes",
    title="Suggest fixes",
    description=(
        "Lists the quick fixes and refactorings that the language server proposes for some lines, with their edits "
        "as text; nothing is written. Use get_diagnostics first to see what is wrong and where."
    ),
    toolset=Toolset.ANALYSIS,
    kind=ToolKind.NAVIGATION,
    args=SuggestFixesArgs,
    result=SuggestFixesResult,
    run=run,
    in_default_set=False,
    list_field="fixes",
)
