"""Runs one job from the write lock to the published index.

**Invariant**: everything that changes an index happens here, on the workspace's job thread, under the write lock; the
job's record is on disk before the first change and after the last one.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.types import JobMode, JobState, SchemaStatus
from sightline_indexer import layout
from sightline_indexer.index_health import examine
from sightline_indexer.job import Job, now
from sightline_indexer.job_log import forget_cancel, is_cancel_requested, mark_interrupted, record_job
from sightline_indexer.kept_writer import WriterKeeper, close_quietly
from sightline_indexer.locks import WriteLock
from sightline_indexer.manifest import read_generation
from sightline_indexer.path_filter import PathFilter
from sightline_indexer.pipeline import CancelledError, Difference, Pass, Scope, Tally, run_pass
from sightline_indexer.workers import WorkerPool
from sightline_indexer.writer import IndexWriter, write_failure

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Workplace:
    """What jobs of one workspace work with.

    `take_more` gives what was asked for since the job began, None when nothing was; `on_commit` is told that readers
    may find a newer generation. With `keeps_writer` the writer of a good job stays open for the next one.
    """

    root: RepoRoot
    folder: str
    limits: Limits
    lock: WriteLock
    pool: WorkerPool
    path_filter: PathFilter
    take_more: Callable[[], Scope | None]
    on_commit: Callable[[], None]
    on_difference: Callable[[Difference], None]
    keeper: WriterKeeper
    keeps_writer: bool
    between_commits: Callable[[], None] | None = None


def run_job(job: Job, place: Workplace) -> None:
    """Run a job to its end; what goes wrong ends up in the job."""
    try:
        if not place.keeper.is_holding and not _take_lock(job, place):
            return
        try:
            _run_locked(job, place)
        finally:
            if not place.keeper.is_holding:
                place.lock.release()
    except SightlineError as error:
        job.fail(error)
    except (OSError, sqlite3.Error) as error:
        job.fail(write_failure(error))
    except Exception:  # noqa: BLE001 - the job thread must live on, and the job says that it failed
        _LOG.exception("an index job failed")
        job.fail(SightlineError(ErrorCode.INTERNAL_ERROR, "The job failed.", hint="The log has the details."))


def _take_lock(job: Job, place: Workplace) -> bool:
    limits = place.limits
    if place.lock.acquire(
        timeout_s=limits.write_lock_wait_s, poll_s=limits.write_lock_poll_ms / 1000, cancelled=job.is_cancelled
    ):
        return True
    if job.is_cancelled():
        job.end_cancelled()
        return False
    raise SightlineError(
        ErrorCode.INDEX_IN_PROGRESS,
        "Another process has been changing this index for too long.",
        hint="Wait for it, or end it.",
    )


def _run_locked(job: Job, place: Workplace) -> None:
    mark_interrupted(place.folder, now())
    job.begin()
    job.watch_for_cancel(lambda: is_cancel_requested(place.folder, job.job_id))
    _record(job, place)
    job.keep_record = lambda: _record(job, place)
    try:
        writer, rebuilding = _open_writer(job, place)
        try:
            _run_passes(job, place, writer, rebuilding=rebuilding)
        except CancelledError:
            job.end_cancelled()
        except (SightlineError, OSError, ValueError, sqlite3.Error) as error:
            job.fail(error if isinstance(error, SightlineError) else write_failure(error))
        if place.keeps_writer and job.state is JobState.PUBLISHED:
            place.keeper.keep(writer)
        else:
            close_quietly(writer, settle=job.error is None and not job.is_cancelled())
    finally:
        forget_cancel(place.folder, job.job_id)
        if not job.is_over:
            # An engine panicked or the interpreter is going down: whoever waits must not wait for ever.
            job.fail(SightlineError(ErrorCode.INTERNAL_ERROR, "The job was cut off.", hint="Run sync_repo."))


def _open_writer(job: Job, place: Workplace) -> tuple[IndexWriter, bool]:
    """A writer for the current index, or for a new one beside it (then True)."""
    kept = place.keeper.take()
    current = layout.current_index(place.folder)
    if kept is not None:
        if not job.force and kept.folder == current and kept.commits < place.limits.max_kept_commits:
            return kept, False
        close_quietly(kept, settle=False)
    layout.remove_others(place.folder)
    health = examine(current, place.root.path) if current and job.force else None
    usable = current is not None and (health is None or health.status is SchemaStatus.COMPATIBLE)
    if current is not None and usable:
        update = job.mode is JobMode.INCREMENTAL
        writer = IndexWriter(current, place.limits, for_update=update, between=place.between_commits)
        if not (job.force and job.mode is JobMode.FULL):
            return writer, False
        generation = writer.published
        writer.close(settle=False)
    else:
        generation = 0
    index = layout.create_index(place.folder, place.root.path)
    if current is None:
        layout.switch_to(place.folder, index)
    writer = IndexWriter(index, place.limits, first_generation=generation, between=place.between_commits)
    return writer, current is not None


def _run_passes(job: Job, place: Workplace, writer: IndexWriter, *, rebuilding: bool) -> None:
    """The asked-for pass, then one for what was asked meanwhile, as often as there is something."""
    tally = Tally()
    scope: Scope | None = Scope(job.paths, reread=job.force)
    while scope is not None:
        # A rebuilt index shows itself when it is whole; a first one shows what it has.
        on_commit = _nothing if rebuilding else place.on_commit
        work = Pass(
            place.root,
            place.path_filter,
            writer,
            place.pool,
            place.limits,
            job.board,
            job.is_cancelled,
            on_commit,
            _is_complete(writer),
            place.on_difference,
        )
        run_pass(work, scope, tally)
        if rebuilding:
            layout.switch_to(place.folder, writer.folder)
            place.on_commit()
            rebuilding = False
        scope = place.take_more()
    record = read_generation(writer.connection, writer.published)
    files, symbols = (record.files, record.symbols) if record else (0, 0)
    job.publish(files=files, symbols=symbols, changed=tally.changed)


def _is_complete(writer: IndexWriter) -> bool:
    record = read_generation(writer.connection, writer.published)
    return record is not None and record.complete


def _record(job: Job, place: Workplace) -> None:
    try:
        record_job(place.folder, job.record(), place.limits.max_recent_jobs)
    except OSError as error:
        # History is no reason to fail a job; on a full disk the index itself says what is wrong.
        _LOG.warning("a job could not be recorded: %s", error)


def _nothing() -> None:
    return
