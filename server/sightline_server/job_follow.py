"""Following an index job from the event loop, whose thread it does not run on.

**Invariant**: a slow follower misses records in the middle, never the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import anyio

from sightline_core.progress import Progress
from sightline_indexer.job import Job


async def follow(job: Job, *, interval_s: float) -> AsyncGenerator[Progress, None]:
    """The progress of a job, at most once per interval, until it is over; the last record is always given."""
    loop = asyncio.get_running_loop()
    changed = asyncio.Event()

    def wake(_job: Job) -> None:
        # Called on the job's thread, possibly after the loop has closed.
        if not loop.is_closed():
            loop.call_soon_threadsafe(changed.set)

    job.add_listener(wake)
    try:
        while not job.is_over:
            yield job.progress
            await changed.wait()
            changed.clear()
            if not job.is_over:
                await anyio.sleep(interval_s)
        yield job.progress
    finally:
        job.remove_listener(wake)


async def wait_for(job: Job, *, interval_s: float, deadline: float) -> bool:
    """Wait until a job is over; False when the deadline came first."""
    with anyio.move_on_at(deadline):
        async for _ in follow(job, interval_s=interval_s):
            pass
    return job.is_over
