"""`index_status`: the state of a workspace's index and of its jobs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.types import IndexingStatus, JobMode, JobState
from sightline_indexer.index_state import IndexState
from sightline_indexer.job import Job
from sightline_indexer.job_log import JobRecord, RecoveryReport
from sightline_server.completeness import ToolKind
from sightline_server.envelope import WireModel
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset
from sightline_server.tools.job_answers import progress_token


class IndexStatusArgs(Args):
    """`index_status` takes no argument of its own."""


class ActiveJobModel(WireModel):
    """The job that runs now."""

    job_id: str
    progress_token: str
    mode: JobMode
    status: JobState
    stage: str
    files_scanned: int
    files_indexed: int
    symbols_extracted: int
    estimated_completion_pct: int
    started_at: str | None = None
    message: str


class RecentJobModel(WireModel):
    """A job that is over."""

    job_id: str
    mode: JobMode
    status: JobState
    started_at: str | None = None
    ended_at: str | None = None
    message: str | None = None
    changed_files: int | None = None


class WatcherModel(WireModel):
    """Whether changes on disk are noticed."""

    state: str
    reason: str | None = None


class RecoveryModel(WireModel):
    """Jobs that a crash ended, until a good one follows."""

    detected: bool
    interrupted_jobs: int
    last_interrupted_at: str
    recommended_action: str


class IndexStatusResult(Result):
    """The index of one workspace."""

    project_id: str
    repo_root: str
    index_status: IndexingStatus
    active_job: ActiveJobModel | None = None
    recent_jobs: list[RecentJobModel]
    file_count: int
    symbol_count: int
    skipped: Annotated[dict[str, int], Field(description="Files left out, by reason.")]
    languages: Annotated[dict[str, int], Field(description="Indexed files, by language.")]
    last_indexed_at: str | None = None
    current_schema_version: int | None = None
    required_schema_version: int
    watcher: WatcherModel
    problem: Annotated[str | None, Field(description="Why the index cannot be used, and the remedy.")] = None
    interrupted_recovery_report: RecoveryModel | None = None


def recovery_model(report: RecoveryReport | None) -> RecoveryModel | None:
    """The report as it is shown; None when nothing was interrupted."""
    if report is None:
        return None
    return RecoveryModel(
        detected=report.detected,
        interrupted_jobs=len(report.interrupted_jobs),
        last_interrupted_at=report.last_interrupted_at,
        recommended_action=report.recommended_action,
    )


async def run(call: Call, _args: IndexStatusArgs) -> Answer[IndexStatusResult]:
    """Read the state; a workspace that was not open yet is opened."""
    index = await call.index()
    workspace = call.require_workspace()
    return Answer(status_model(workspace.project_id, workspace.path, index.status()))


def status_model(project_id: str, root: str, state: IndexState) -> IndexStatusResult:
    """The state of an index as it is shown."""
    return IndexStatusResult(
        project_id=project_id,
        repo_root=root,
        index_status=state.indexing_status,
        active_job=_active(state.active_job) if state.active_job else None,
        recent_jobs=[_recent(job) for job in state.recent_jobs],
        file_count=state.file_count,
        symbol_count=state.symbol_count,
        skipped=dict(sorted(state.skipped.items())),
        languages=dict(sorted(state.languages.items(), key=lambda item: (-item[1], item[0]))),
        last_indexed_at=state.last_indexed_at or None,
        current_schema_version=state.current_schema_version or None,
        required_schema_version=state.required_schema_version,
        watcher=WatcherModel(state=state.watcher_state.value, reason=state.watcher_reason or None),
        problem=state.problem or None,
        interrupted_recovery_report=recovery_model(state.recovery),
    )


def _active(job: Job) -> ActiveJobModel:
    progress = job.progress
    return ActiveJobModel(
        job_id=job.job_id,
        progress_token=progress_token(job),
        mode=job.mode,
        status=job.state,
        stage=progress.stage.value,
        files_scanned=progress.files_scanned,
        files_indexed=progress.files_indexed,
        symbols_extracted=progress.symbols_extracted,
        estimated_completion_pct=progress.percentage,
        started_at=job.started_at or None,
        message=progress.message,
    )


def _recent(record: JobRecord) -> RecentJobModel:
    return RecentJobModel(
        job_id=record.job_id,
        mode=record.mode,
        status=record.state,
        started_at=record.started_at or None,
        ended_at=record.ended_at or None,
        message=record.error or record.message or None,
        changed_files=record.changed_files if record.state is JobState.PUBLISHED else None,
    )


INDEX_STATUS = Tool(
    name="index_status",
    title="Index status",
    description=(
        "Shows whether a workspace is indexed, the progress of a running job, what was skipped and why, and whether "
        "changes are being watched. Poll it while indexing runs. For all workspaces at once use health_check."
    ),
    toolset=Toolset.CORE,
    kind=ToolKind.INDEX,
    args=IndexStatusArgs,
    result=IndexStatusResult,
    run=run,
    list_field="recent_jobs",
)
