"""`sync_repo`: bring the index up to what is on disk."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.types import JobMode
from sightline_indexer.job import Job
from sightline_server.completeness import ToolKind
from sightline_server.tools.base import Answer, Call, Tool, Toolset
from sightline_server.tools.job_answers import JobArgs, JobResult, progress_token, serve_by_job


class SyncRepoArgs(JobArgs):
    """How to sync."""

    force: Annotated[bool, Field(description="Read every file again instead of trusting size and time.")] = False


class SyncRepoResult(JobResult):
    """The job that serves the request."""

    changed_files: int | None = None


async def run(call: Call, args: SyncRepoArgs) -> Answer[SyncRepoResult]:
    """Start or join a job."""
    return Answer(shown(await serve_by_job(call, args, JobMode.INCREMENTAL, "sync_repo")))


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
