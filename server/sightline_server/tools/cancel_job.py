"""`cancel_job`: stop a running index job."""

from __future__ import annotations

from typing import Annotated

import anyio
from pydantic import Field

from sightline_core.types import JobState
from sightline_server.completeness import ToolKind
from sightline_server.job_follow import wait_for
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset

_UNFINISHED = (JobState.QUEUED, JobState.RUNNING)


class CancelJobArgs(Args):
    """Which job to stop."""

    job_id: Annotated[str, Field(min_length=1, max_length=64, description="As index_repo and index_status give it.")]


class CancelJobResult(Result):
    """The job after the request."""

    job_id: str
    status: JobState


async def run(call: Call, args: CancelJobArgs) -> Answer[CancelJobResult]:
    """Ask the job to stop, in whatever process it runs, and wait until it has."""
    index = await call.index()
    deadline = min(call.deadline, call.now() + call.limits.cancel_wait_s)
    if index.job(args.job_id) is not None:
        job = index.cancel(args.job_id)
        await wait_for(job, interval_s=0, deadline=deadline)
        return Answer(CancelJobResult(job_id=job.job_id, status=job.state))
    record = index.cancel_elsewhere(args.job_id)
    while record.state in _UNFINISHED and call.now() < deadline:
        await anyio.sleep(call.limits.progress_interval_s)
        record = index.recorded_job(args.job_id) or record
    return Answer(CancelJobResult(job_id=record.job_id, status=record.state))


CANCEL_JOB = Tool(
    name="cancel_job",
    title="Cancel an index job",
    description=(
        "Stops a running index or sync job; what was published before stays searchable. "
        "Use index_status to find the id of the running job."
    ),
    toolset=Toolset.CORE,
    kind=ToolKind.INDEX,
    args=CancelJobArgs,
    result=CancelJobResult,
    run=run,
    changes_state=True,
)
