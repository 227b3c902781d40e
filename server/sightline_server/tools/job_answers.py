"""What the job tools share: starting, waiting with progress, and how a job is shown."""

from __future__ import annotations

from typing import Annotated

import anyio
from pydantic import Field

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.types import JobMode, JobState
from sightline_indexer.job import Job
from sightline_server.job_follow import follow
from sightline_server.tools.base import Args, Call, Result

# Left of a call's time for its answer when it waits for a job.
_ANSWER_RESERVE_S = 2.0


class JobArgs(Args):
    """What every tool takes that starts a job; each says itself what force means."""

    force: bool = False
    wait: Annotated[bool, Field(description="Answer when the job is over (or after 45 s with it still running).")] = (
        False
    )


class JobResult(Result):
    """The job that serves the request."""

    job_id: str
    progress_token: Annotated[str, Field(description="Names the job in progress notifications.")]
    status: JobState
    mode: JobMode


async def serve_by_job(call: Call, args: JobArgs, mode: JobMode, reason: str) -> Job:
    """Start a job, or join the one that runs, and wait for it if asked to."""
    index = await call.index()
    job = index.start_job(mode=mode, force=args.force, reason=reason)
    if args.wait:
        await wait_with_progress(call, job)
    return job


def progress_token(job: Job) -> str:
    """The token under which progress of a job is sent."""
    return f"index-job-{job.job_id}"


async def wait_with_progress(call: Call, job: Job) -> None:
    """Wait for a job and report its progress to the caller, as long as the call may take.

    A job that is still running then goes on. Raises what made the job fail.
    """
    with anyio.move_on_at(call.deadline - _ANSWER_RESERVE_S):
        last = -1
        async for progress in follow(job, interval_s=call.limits.progress_interval_s):
            # Standard progress must increase with every notification.
            if progress.percentage > last:
                last = progress.percentage
                await call.progress.report(progress.percentage, 100, progress.message)
    if job.state is JobState.FAILED:
        raise job.error or SightlineError(ErrorCode.INTERNAL_ERROR, "The job failed.", hint="See the server's log.")
