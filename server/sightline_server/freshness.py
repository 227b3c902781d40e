"""The freshness policy of a query, and the snapshot it is answered from.

**Invariant**: a tool answers from one snapshot; `strict` never answers from an index that is known to lag.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.types import Freshness, JobState, Note
from sightline_indexer.store import Snapshot
from sightline_server.job_follow import wait_for

if TYPE_CHECKING:
    from sightline_indexer.workspace_index import WorkspaceIndex
    from sightline_server.tools.base import Call

T = TypeVar("T")


class FreshnessPolicy(StrEnum):
    """How much a query cares about changes that are not indexed yet."""

    STRICT = "strict"
    BALANCED = "balanced"
    BEST_EFFORT = "best_effort"


NOT_INDEXED_YET = Note(
    "index_incomplete",
    "The first index of this workspace is still being built; ask again when index_status is ready.",
)


@dataclass(frozen=True, slots=True)
class NoSnapshot:
    """There is nothing to answer from yet, because the first index has not published anything."""

    note: Note = NOT_INDEXED_YET


async def apply_policy(call: Call, policy: FreshnessPolicy) -> None:
    """Bring the index as far as the policy asks; raises `index_stale` when `strict` cannot be kept."""
    index = await call.index()
    if policy is FreshnessPolicy.STRICT:
        await _catch_up(call, index)
    elif policy is FreshnessPolicy.BALANCED and index.freshness() is Freshness.STALE:
        if not call.services.indexes.starts_jobs_unasked:
            return
        try:
            index.start_job(mode=None, force=False, reason="stale")
        except SightlineError:
            # An index that cannot be used says so when the snapshot is taken.
            return


async def read(call: Call, work: Callable[[Snapshot], T]) -> T | NoSnapshot:
    """Run `work` on the newest snapshot in a thread; `NoSnapshot` while the first index has nothing to show."""
    index = await call.index()
    give_up = call.now() + call.limits.first_snapshot_wait_s
    while True:
        try:
            return await in_thread(call, functools.partial(_work, index, work))
        except SightlineError as error:
            if error.code is not ErrorCode.INDEX_NOT_READY or index.active_job is None:
                raise
        if call.now() >= give_up:
            return NoSnapshot()
        await anyio.sleep(call.limits.progress_interval_s)


async def in_thread(call: Call, work: Callable[[], T]) -> T:
    """Run blocking work in the bounded search threads, clients in turn; a cancelled call does not wait for it."""
    async with call.services.turns.turn(call.session.session_id):
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=call.services.search_threads)


async def _catch_up(call: Call, index: WorkspaceIndex) -> None:
    job = index.start_job(mode=None, force=False, reason="strict")
    deadline = min(call.deadline, call.now() + call.limits.strict_wait_s)
    await wait_for(job, interval_s=0, deadline=deadline)
    if job.state is not JobState.PUBLISHED:
        raise SightlineError(
            ErrorCode.INDEX_STALE,
            "The index could not catch up with the disk in time.",
            hint="Ask again, or with freshness_policy=balanced for an answer from what is indexed.",
            data={"job_id": job.job_id, "job_status": job.state.value},
        )


def _work(index: WorkspaceIndex, work: Callable[[Snapshot], T]) -> T:
    try:
        with index.snapshot() as snapshot:
            return work(snapshot)
    except OSError as error:
        if os.path.isdir(index.root.path):
            raise
        raise SightlineError(
            ErrorCode.FILE_NOT_FOUND,
            f"The workspace '{index.root.path}' cannot be read: {error.strerror}.",
            hint="Check that the directory is still there.",
        ) from None
