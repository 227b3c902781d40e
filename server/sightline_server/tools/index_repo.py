"""`index_repo`: build or refresh the index of a workspace."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.types import JobMode
from sightline_indexer.job import Job
from sightline_server.completeness import ToolKind
from sightline_server.tools.base import Answer, Call, Tool, Toolset
from sightline_server.tools.job_answers import JobArgs, JobResult, progress_token, serve_by_job


class IndexRepoArgs(JobArgs):
    """How to index."""

    force: Annotated[bool, Field(description="Rebuild from nothing, even where nothing changed.")] = False


class IndexRepoResult(JobResult):
    """The job that serves the request."""

    file_count: int | None = None


async def run(call: Call, args: IndexRepoArgs) -> Answer[IndexRepoResult]:
    """Start or join a job."""
    return Answer(shown(await serve_by_job(call, args, JobMode.FULL, "index_repo")))


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
