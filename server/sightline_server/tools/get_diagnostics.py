"""`get_diagnostics`: what the language servers find wrong in files as they are on disk."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated

import anyio
import anyio.to_thread
from pydantic import Field

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.paths import RepoPath
from sightline_core.types import Note
from sightline_indexer.store import Snapshot
from sightline_lsp.answers import Diagnostic, DiagnosticsAnswer, DiagnosticsOutcome, Reply
from sightline_lsp.pool import Pool
from sightline_search.locate import holes_of
from sightline_server.completeness import ToolKind
from sightline_server.envelope import WireModel
from sightline_server.lsp_question import Asked, Question, ask, facts_of
from sightline_server.next_actions import NextAction
from sightline_server.syntactic import in_snapshot
from sightline_server.targets import readable_path
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"


_ORDER = {severity.value: number for number, severity in enumerate(Severity)}
_UNAVAILABLE = "unavailable"
Checked = Asked[DiagnosticsAnswer | None]


class GetDiagnosticsArgs(Args):
    """Which files, and how bad a finding must be."""

    path: Annotated[str, Field(description="One file.")] = ""
    paths: Annotated[
        list[str],
        Field(
            max_length=DEFAULT_LIMITS.diagnostics_max_paths,
            description="Several files. Without path and paths: the files changed last in the workspace.",
        ),
    ] = []  # noqa: RUF012 - pydantic copies defaults
    min_severity: Annotated[Severity, Field(description="Leave out what is less severe.")] = Severity.HINT


class DiagnosticModel(WireModel):
    """One finding."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    severity: str
    message: str
    code: str | None = None
    source: str | None = None


class CheckedFileModel(WireModel):
    """One file that was asked about."""

    path: str
    outcome: Annotated[
        str, Field(description="updated, inactive (the server said nothing), server_died or unavailable.")
    ]
    errors: int = 0
    warnings: int = 0


class GetDiagnosticsResult(Result):
    """Findings, worst first within a file."""

    files: list[CheckedFileModel]
    diagnostics: list[DiagnosticModel]
    suggested_next_actions: list[NextAction] | None = None


async def run(call: Call, args: GetDiagnosticsArgs) -> Answer[GetDiagnosticsResult]:
    """Each file's own server is asked, a few files at a time, after it has seen the text on disk."""
    await call.index()
    root = call.require_workspace().root
    named = [args.path, *args.paths] if args.path else args.paths
    holes: tuple[Note, ...] = ()
    cuts: tuple[Note, ...] = ()
    if named:
        paths = [readable_path(root, text) for text in dict.fromkeys(named)]
    else:
        paths, holes, cuts = await _changed_last(call)
    asked = await _check_all(call, paths)
    failed = [item.error for item in asked if item.error is not None]
    if failed and len(failed) == len(asked):
        raise failed[0]
    checked = list(zip(paths, asked, strict=True))
    found = [one for path, item in checked for one in _findings(path, item, args)]
    result = GetDiagnosticsResult(
        files=[_file_model(path, item) for path, item in checked],
        diagnostics=found,
        suggested_next_actions=_next(found),
    )
    holes = (*holes, *_holes(paths, asked))
    return Answer(result, facts_of(asked, cuts=cuts, holes=holes))


async def _check_all(call: Call, paths: list[RepoPath]) -> list[Checked]:
    limits = call.limits
    until = min(call.now() + limits.diagnostics_timeout_s, call.deadline - 1)
    answers: dict[RepoPath, Checked] = {}
    slots = anyio.CapacityLimiter(limits.max_parallel_diagnostics)

    async def check(path: RepoPath) -> None:
        async with slots:
            answers[path] = await ask(call, path, _question(path), None, until=until)

    # Each file by itself first: a wrong path must be this call's error, not one inside a group.
    for path in paths:
        await anyio.to_thread.run_sync(_must_exist, call, path)
    async with anyio.create_task_group() as group:
        for path in dict.fromkeys(paths):
            group.start_soon(check, path)
    return [answers[path] for path in paths]


def _must_exist(call: Call, path: RepoPath) -> None:
    os.close(call.require_workspace().root.open_file(path))


def _question(path: RepoPath) -> Question[DiagnosticsAnswer | None]:
    async def question(pool: Pool, root: str, left: float) -> Reply[DiagnosticsAnswer | None]:
        answer = await pool.diagnostics(root, path, left)
        return Reply(answer, answer.source, truncated=answer.truncated)

    return question


async def _changed_last(call: Call) -> tuple[list[RepoPath], tuple[Note, ...], tuple[Note, ...]]:
    """The files that changed last among those that a server could check, and what was left out."""
    workspace = call.require_workspace()
    known = frozenset(call.services.language_servers.languages_of(workspace))
    root, limits = workspace.root, call.limits

    def work(snapshot: Snapshot) -> tuple[list[RepoPath], tuple[Note, ...], tuple[Note, ...]]:
        names, left_out = _newest(snapshot, known, limits)
        message = f"{left_out} files that changed earlier were not checked; name them in `paths`."
        cuts = (Note("files_not_checked", message),) if left_out else ()
        return [root.known(name) for name in names], holes_of(snapshot), cuts

    def nothing(holes: tuple[Note, ...]) -> tuple[list[RepoPath], tuple[Note, ...], tuple[Note, ...]]:
        raise SightlineError(ErrorCode.INDEX_NOT_READY, holes[0].message, hint="Name files in `paths`.")

    return await in_snapshot(call, work, nothing)


def _newest(snapshot: Snapshot, known: frozenset[str], limits: Limits) -> tuple[list[str], int]:
    files = sorted((file for file in snapshot.files() if file.language in known), key=lambda file: -file.mtime_ns)
    bound = limits.diagnostics_max_paths
    return [file.path for file in files[:bound]], max(0, len(files) - bound)


def _findings(path: RepoPath, item: Checked, args: GetDiagnosticsArgs) -> list[DiagnosticModel]:
    found = item.value.items if item.value is not None else ()
    wanted = [one for one in found if _ORDER.get(one.severity, 0) <= _ORDER[args.min_severity.value]]
    wanted.sort(key=lambda one: (_ORDER.get(one.severity, 0), one.range.start))
    return [_model(path, one) for one in wanted]


def _model(path: RepoPath, one: Diagnostic) -> DiagnosticModel:
    start, end = one.range.start, one.range.end
    return DiagnosticModel(
        path=path.relative,
        line=start.line,
        column=start.column,
        end_line=end.line,
        end_column=end.column,
        severity=one.severity,
        message=one.message,
        code=one.code or None,
        source=one.source or None,
    )


def _file_model(path: RepoPath, item: Checked) -> CheckedFileModel:
    answer = item.value
    if answer is None:
        return CheckedFileModel(path=path.relative, outcome=_UNAVAILABLE)
    severities = [one.severity for one in answer.items]
    return CheckedFileModel(
        path=path.relative,
        outcome=answer.outcome.value,
        errors=severities.count(Severity.ERROR.value),
        warnings=severities.count(Severity.WARNING.value),
    )


def _holes(paths: list[RepoPath], asked: list[Checked]) -> tuple[Note, ...]:
    """Files about which a server said nothing are not known to be clean."""
    return tuple(
        Note(f"diagnostics_{item.value.outcome.value}", f"Nothing is known about '{path.relative}'.")
        for path, item in zip(paths, asked, strict=True)
        if item.value is not None and item.value.outcome is not DiagnosticsOutcome.UPDATED
    )


def _next(found: list[DiagnosticModel]) -> list[NextAction] | None:
    if not found:
        return None
    first = found[0]
    arguments = {"path": first.path, "line": first.line}
    return [NextAction(tool="suggest_fixes", arguments=arguments, reason="See what the server proposes.")]


GET_DIAGNOSTICS = Tool(
    name="get_diagnostics",
    title="Get diagnostics",
    description=(
        "Reports errors and warnings of the language servers for one file, several, or the files changed last in the "
        "workspace, as they are on disk now; waits for what an edit caused. Call it after editing. `outcome` says "
        "for each file whether the server really looked. For proposed fixes use suggest_fixes."
    ),
    toolset=Toolset.ANALYSIS,
    kind=ToolKind.NAVIGATION,
    args=GetDiagnosticsArgs,
    result=GetDiagnosticsResult,
    run=run,
    list_field="diagnostics",
)
