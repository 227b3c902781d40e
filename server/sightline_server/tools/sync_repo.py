"""`sync_repo`: bring the index up to what is on disk."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.types import JobMode, JobState
from sightline_indexer.job import Job
from sightline_server.completeness import ToolKind
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset
from sightline_server.tools.job_answers import progress_token, wait_with_progress


class SyncRepoArgs(Args):
    """How to sync."""

    force: Annotated[bool, Field(description="Read every file again instead of trusting size and time.")] = False
    wait: Annotated[bool, Field(description="Answer when the job is over (or after 45 s with it still running).")] = (
        False
    )


class SyncRepoResult(Result):
    """The job that serves the request."""

    job_id: str
    progress_token: Annotated[str, Field(description="Names the job in progress notifications.")]
    status: JobState
    mode: JobMode
    changed_files: int | None = None


async def run(call: Call, args: SyncRepoArgs) -> Answer[SyncRepoResult]:
    """Start or join a job."""
    index = await call.index()
    job = index.start_job(mode=JobMode.INCREMENTAL, force=args.force, reason="sync_repo")
    if args.wait:
        await wait_with_progress(call, job)
    return Answer(shown(job))


def shown(job: Job) -> SyncRepoResult:
    """A job as the tool shows it."""
    return SyncRepoResult(
        job_id=job.job_id,
        progress_token=progress_token(job),
        status=job.state,
        mode=job.mode,
        changed_files=job.changed_files if job.is_over else None,
    )


SYNC_REPO = Tool(
    name="sync_repo",
    title="Sync the index",
    description=(
        "Brings files that changed on disk into the index. The watcher does this by itself within half a second; "
        "call it with wait=true when you must be sure, or when freshness_status is stale. Use index_repo with force "
        "to rebuild from nothing."
    ),
    toolset=Toolset.CORE,
    kind=ToolKind.INDEX,
    args=SyncRepoArgs,
    result=SyncRepoResult,
    run=run,
    changes_state=True,
)
