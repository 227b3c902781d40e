"""`index_repo`: build or refresh the index of a workspace."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.types import JobMode, JobState
from sightline_indexer.job import Job
from sightline_server.completeness import ToolKind
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset
from sightline_server.tools.job_answers import progress_token, wait_with_progress


class IndexRepoArgs(Args):
    """How to index."""

    force: Annotated[bool, Field(description="Rebuild from nothing, even where nothing changed.")] = False
    wait: Annotated[bool, Field(description="Answer when the job is over (or after 45 s with it still running).")] = (
        False
    )


class IndexRepoResult(Result):
    """The job that serves the request."""

    job_id: str
    progress_token: Annotated[str, Field(description="Names the job in progress notifications.")]
    status: JobState
    mode: JobMode
    file_count: int | None = None


async def run(call: Call, args: IndexRepoArgs) -> Answer[IndexRepoResult]:
    """Start or join a job."""
    index = await call.index()
    job = index.start_job(mode=JobMode.FULL, force=args.force, reason="index_repo")
    if args.wait:
        await wait_with_progress(call, job)
    return Answer(shown(job))


def shown(job: Job) -> IndexRepoResult:
    """A job as the tool shows it."""
    count = job.file_count if job.is_over else job.progress.files_total
    return IndexRepoResult(
        job_id=job.job_id,
        progress_token=progress_token(job),
        status=job.state,
        mode=job.mode,
        file_count=count or None,
    )


INDEX_REPO = Tool(
    name="index_repo",
    title="Index a workspace",
    description=(
        "Builds the search index of a workspace in the background, or rebuilds it with force. Workspaces are indexed "
        "and kept current by themselves, so call this only after index_incompatible or to wait for a first index. "
        "Use sync_repo to bring in recent changes, index_status to see the progress."
    ),
    toolset=Toolset.CORE,
    kind=ToolKind.INDEX,
    args=IndexRepoArgs,
    result=IndexRepoResult,
    run=run,
    changes_state=True,
)
