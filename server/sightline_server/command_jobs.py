"""A job that a person asked for, followed to its end and told in lines; in a command or in the daemon."""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sightline_core.progress import Progress
from sightline_core.types import JobMode, JobState
from sightline_indexer.job import Job
from sightline_server.cli.progress_bar import duration
from sightline_server.cli.told import counted
from sightline_server.dispatch import finish
from sightline_server.job_follow import follow
from sightline_server.tools import index_repo, sync_repo
from sightline_server.tools.base import Answer
from sightline_server.workspace_status import status_of

if TYPE_CHECKING:
    from sightline_server.app import Services
    from sightline_server.workspaces import Workspace


@dataclass(frozen=True, slots=True)
class JobReport:
    """How a job ended."""

    body: dict[str, Any]
    lines: tuple[str, ...]
    published: bool


async def run_job(
    services: Services, workspace: Workspace, *, full: bool, force: bool, show: Callable[[Progress], Awaitable[None]]
) -> JobReport:
    """Start or join the job and follow it; raises what it failed with."""
    index = await services.indexes.of(workspace)
    mode = JobMode.FULL if full else JobMode.INCREMENTAL
    begun = time.monotonic()
    job = index.start_job(mode=mode, force=force, reason="command line")
    async for progress in follow(job, interval_s=services.config.limits.progress_interval_s):
        if not job.is_over:
            await show(progress)
    if job.error is not None:
        raise job.error
    lines = _summary(job, workspace, time.monotonic() - begun)
    return JobReport(_body(job, workspace, full=full), lines, job.state is JobState.PUBLISHED)


def _body(job: Job, workspace: Workspace, *, full: bool) -> dict[str, Any]:
    if full:
        return finish(index_repo.INDEX_REPO, Answer(index_repo.shown(job)), workspace, sys.maxsize).body
    return finish(sync_repo.SYNC_REPO, Answer(sync_repo.shown(job)), workspace, sys.maxsize).body


def _summary(job: Job, workspace: Workspace, seconds: float) -> tuple[str, ...]:
    state = status_of(workspace).state
    if job.state is not JobState.PUBLISHED or state is None:
        return (job.progress.message,)
    rate = f", {job.changed_files / seconds:,.0f} a second" if job.changed_files and seconds else ""
    rows = (
        ("files", f"{state.file_count:,} (looked into {job.changed_files:,} that were new or changed)"),
        ("symbols", f"{state.symbol_count:,}"),
        ("languages", counted(state.languages, total=state.file_count)),
        ("skipped", counted(state.skipped)),
        ("time", f"{duration(seconds)}{rate}"),
    )
    return (f"Indexed {workspace.path}", *(f"  {name:<10} {value}" for name, value in rows))
