"""The index of one workspace: what the rest of Sightline holds in its hands.

**Invariant**: one job at a time; requests that a running job can serve join it, and what it may already have passed
by is looked at once more before it ends. Snapshots come from the index that is current when they are asked for.
Threads: one that runs jobs, and those of the watcher.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.types import Freshness, JobMode, JobState, SchemaStatus
from sightline_indexer import layout
from sightline_indexer.index_health import Health, close_well, examine
from sightline_indexer.index_state import (
    NO_FIGURES,
    Figures,
    IndexState,
    Standing,
    count_figures,
    indexing_status,
)
from sightline_indexer.job import Job, now, union
from sightline_indexer.job_log import (
    JobRecord,
    mark_interrupted,
    read_jobs,
    recovery_report,
    request_cancel,
)
from sightline_indexer.job_runner import Workplace, run_job
from sightline_indexer.kept_writer import WriterKeeper
from sightline_indexer.locks import WriteLock
from sightline_indexer.path_filter import PathFilter
from sightline_indexer.pipeline import Difference, Scope
from sightline_indexer.repo_ref import RefReader
from sightline_indexer.schema import SCHEMA_VERSION
from sightline_indexer.store import IndexStore, Snapshot
from sightline_indexer.watch import Changes, Watcher, WatcherState
from sightline_indexer.workers import WorkerPool

_LOG = logging.getLogger(__name__)


class WorkspaceIndex:
    """Thread-safe; calls block for moments only, but for `close`."""

    def __init__(
        self,
        root: RepoRoot,
        folder: str,
        limits: Limits,
        *,
        watch: bool,
        on_difference: Callable[[Difference], None] | None = None,
        on_job: Callable[[Job], None] | None = None,
        between_commits: Callable[[], None] | None = None,
    ) -> None:
        """`folder` is this workspace's own; `on_difference` is told, on the job's thread, what changed on disk,
        `on_job` of every job that begins to wait; `between_commits` serves tests of crashes."""
        self.root = root
        self.folder = folder
        self._limits = limits
        self._on_job = on_job
        self._ref = RefReader(root.path)
        self._current = layout.CurrentIndex(folder)
        self._filter = PathFilter(root, limits)
        self._watcher = Watcher(root, self._filter, self._on_change, limits) if watch else None
        self._lock = WriteLock(folder)
        self._pool = WorkerPool(root.path, limits, max(1, len(os.sched_getaffinity(0))))
        self._keeper = WriterKeeper(self._lock)
        self._place = Workplace(
            root=root,
            folder=folder,
            limits=limits,
            lock=self._lock,
            pool=self._pool,
            path_filter=self._filter,
            take_more=self._take_more,
            on_commit=self._on_commit,
            on_difference=on_difference or _ignore,
            keeper=self._keeper,
            keeps_writer=watch,
            between_commits=between_commits,
        )
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._active: Job | None = None
        self._jobs: dict[str, Job] = {}
        self._next: Job | None = None
        self._more: Scope | None = None
        self._takes_more = False
        self._stores = threading.Lock()
        self._store: IndexStore | None = None
        self._health = Health(SchemaStatus.NOT_INDEXED)
        self._figures = NO_FIGURES
        self._checked_at: float | None = None
        self._is_behind = False
        self._sees_all = False

    # -- life ----------------------------------------------------------------------------------

    def open(self) -> None:
        """Open what is stored and begin to watch; never fails for a damaged index, see `status`."""
        layout.prepare_folder(self.folder)
        if self._lock.try_acquire():
            try:
                mark_interrupted(self.folder, now())
            except OSError as error:
                # History is no reason not to open: on a full disk the old index still answers.
                _LOG.warning("an interrupted job could not be noted: %s", error)
            finally:
                self._lock.release()
        with self._stores:
            self._refresh_store()
        self._thread = threading.Thread(target=self._work, name="sightline-index", daemon=True)
        self._thread.start()
        if self._watcher is not None:
            self._watcher.start()

    def close(self) -> None:
        """Stop jobs, workers and watcher within the shutdown grace; what is published stays."""
        if self._watcher is not None:
            self._watcher.stop()
        with self._changed:
            self._closing = True
            if self._active is not None:
                self._active.request_cancel()
            self._changed.notify_all()
        stopped = True
        if self._thread is not None:
            self._thread.join(self._limits.shutdown_grace_s)
            stopped = not self._thread.is_alive()
        if stopped:
            self._keeper.give_up(settle=False)
            self._pool.close()
        else:
            self._pool.kill()
        with self._stores:
            store, self._store = self._store, None
        if store is not None:
            store.close()
            if stopped:
                self._close_well(store.folder)

    def _close_well(self, index: str) -> None:
        if self._lock.try_acquire():
            try:
                if layout.current_index(self.folder) == index:
                    close_well(index)
            except (OSError, ValueError, sqlite3.Error) as error:
                # A full disk: the next start checks the index by its own checksums instead.
                _LOG.warning("the index was not fingerprinted: %s", error)
            finally:
                self._lock.release()

    # -- jobs ----------------------------------------------------------------------------------

    def start_job(
        self, *, mode: JobMode | None, force: bool, reason: str, paths: frozenset[str] | None = None
    ) -> Job:
        """Start a job, or join the one that runs; raises `index_in_progress`, `sync_in_progress` when forced
        against another one, `index_incompatible` when only a forced job can help."""
        if not force:
            self._current_health().check()
        ready = self._figures_now().complete
        with self._changed:
            if self._closing or self._thread is None:
                raise SightlineError(ErrorCode.INDEX_NOT_READY, "The workspace is being closed.", hint="Try again.")
            running = self._active
            joinable = self._takes_more or (running is not None and running.state is JobState.QUEUED)
            if running is not None and joinable and not running.is_over:
                return self._join(running, force=force, paths=paths)
            if self._next is not None:
                return self._join(self._next, force=force, paths=paths)
            kind = (mode or JobMode.FULL) if force else JobMode.INCREMENTAL if ready else JobMode.FULL
            job = Job(kind, reason, force=force, paths=paths if ready and not force else None)
            self._remember(job)
            if running is None:
                self._active, self._more = job, None
            else:
                self._next = job
            self._changed.notify_all()
            return job

    def job(self, job_id: str) -> Job | None:
        """A job of this process by its id."""
        with self._changed:
            return self._jobs.get(job_id)

    def cancel(self, job_id: str) -> Job:
        """Ask a job to stop; raises `job_not_found`. One that is over stays as it ended."""
        job = self.job(job_id)
        if job is None:
            raise SightlineError(
                ErrorCode.JOB_NOT_FOUND, f"There is no job '{job_id}'.", hint="index_status lists the jobs."
            )
        job.request_cancel()
        return job

    def cancel_elsewhere(self, job_id: str) -> JobRecord:
        """Ask the process that runs a job to stop it; raises `job_not_found`. What is over stays as it ended."""
        record = request_cancel(self.folder, job_id)
        if record is None:
            raise SightlineError(
                ErrorCode.JOB_NOT_FOUND, f"There is no job '{job_id}'.", hint="index_status lists the jobs."
            )
        return record

    def recorded_job(self, job_id: str) -> JobRecord | None:
        """What the log knows of a job, of whatever process."""
        return next((job for job in read_jobs(self.folder) if job.job_id == job_id), None)

    def _join(self, active: Job, *, force: bool, paths: frozenset[str] | None) -> Job:
        """Called with the condition held."""
        if force and not active.force:
            full = active.mode is JobMode.FULL
            raise SightlineError(
                ErrorCode.INDEX_IN_PROGRESS if full else ErrorCode.SYNC_IN_PROGRESS,
                f"Job {active.job_id} is running.",
                hint="Wait for it, or stop it with cancel_job.",
                data={"job_id": active.job_id},
            )
        if active.state is JobState.QUEUED:
            active.widen(paths)
        else:
            # It may have passed by what this request is about: it looks again before it ends.
            self._more = Scope(paths) if self._more is None else Scope(union(self._more.paths, paths))
        return active

    def _take_more(self) -> Scope | None:
        with self._changed:
            more, self._more = self._more, None
            # Whoever comes after this must not join: the job is about to end.
            self._takes_more = more is not None
            if more is not None:
                self._sees_all = self._sees_all or more.paths is None
            elif self._sees_all:
                # A look at some paths says nothing of what an earlier job left out.
                self._is_behind = False
                self._checked_at = time.monotonic()
            return more

    def _unfinished_job(self) -> Job | None:
        """Called with the condition held; a job is over before its files are settled."""
        if self._active is not None and not self._active.is_over:
            return self._active
        return self._next

    def _remember(self, job: Job) -> None:
        self._jobs[job.job_id] = job
        if self._on_job is not None:
            self._on_job(job)
        while len(self._jobs) > self._limits.max_recent_jobs:
            del self._jobs[next(iter(self._jobs))]

    def _work(self) -> None:
        while (job := self._next_job()) is not None:
            run_job(job, self._place)
            self._settle(job)

    def _next_job(self) -> Job | None:
        while not self._wait_for_job():
            # Nothing came for a while: other processes may write, and no worker needs to wait.
            if self._keeper.is_holding:
                self._keeper.give_up(settle=True)
            else:
                self._pool.shrink(0)
        with self._changed:
            if self._active is not None and self._closing:
                self._active.end_cancelled()
                return None
            self._takes_more = True
            self._sees_all = self._active is not None and self._active.paths is None
            return self._active

    def _wait_for_job(self) -> bool:
        """Wait for a job or the end; False when nothing came for a while."""
        seconds = self._limits.writer_linger_s if self._keeper.is_holding else self._limits.worker_idle_s
        with self._changed:
            return self._changed.wait_for(lambda: self._closing or self._active is not None, seconds)

    def _settle(self, job: Job) -> None:
        """Between two jobs: what came too late for the last one becomes the next one."""
        # One warm worker makes a saved file searchable without waiting for a process to start.
        self._pool.shrink(1)
        with self._changed:
            good = job.state is JobState.PUBLISHED
            self._is_behind = self._is_behind or not good
            if self._more is not None and good and self._next is None:
                self._next = Job(JobMode.INCREMENTAL, "follow-up", force=False, paths=self._more.paths)
                self._remember(self._next)
            self._more = None
            self._active, self._next = self._next, None
            self._changed.notify_all()

    # -- staying current -----------------------------------------------------------------------

    def _on_change(self, changes: Changes) -> None:
        try:
            self.start_job(mode=None, force=False, reason="watch", paths=changes.paths)
        except SightlineError as error:
            # An index that needs a forced rebuild, or one that is being closed: nothing to keep current.
            _LOG.info("a change was not indexed: %s", error)

    def check_stale(self, paths: Iterable[str]) -> frozenset[str]:
        """Those of some paths whose file on disk is not the indexed one, looking at a bounded number of them."""
        stale: set[str] = set()
        with self.snapshot() as snapshot:
            for path, _ in zip(paths, range(self._limits.max_stale_checks), strict=False):
                file = snapshot.file(path)
                seen = (file.size, file.mtime_ns, file.inode) if file is not None else None
                if seen != _stat_of(os.path.join(self.root.path, path)):
                    stale.add(path)
        return frozenset(stale)

    # -- reading -------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The newest generation; raises `index_not_ready` or `index_incompatible`."""
        store = self._usable_store()
        try:
            return store.snapshot()
        except SightlineError as error:
            # Another process may have put a rebuilt index in its place and removed this one.
            newer = self._usable_store()
            if error.code is not ErrorCode.INDEX_INCOMPATIBLE or newer is store:
                raise
        return newer.snapshot()

    def _usable_store(self) -> IndexStore:
        with self._stores:
            self._refresh_store()
            store, health = self._store, self._health
        health.check()
        if store is None:
            raise SightlineError(
                ErrorCode.INDEX_NOT_READY, "The workspace has no index yet.", hint="Start one with index_repo."
            )
        return store

    def status(self) -> IndexState:
        """How the index is doing."""
        figures = self._figures_now()
        jobs = read_jobs(self.folder)
        with self._changed:
            active, health = self._unfinished_job(), self._health
        watcher_state, watcher_reason = self.watcher_health()
        return IndexState(
            indexing_status=indexing_status(health, figures, active, jobs),
            schema_status=health.status,
            freshness=self._freshness(active),
            active_job=active,
            recent_jobs=tuple(reversed(jobs)),
            generation=figures.generation,
            complete=figures.complete,
            file_count=figures.files,
            symbol_count=figures.symbols,
            skipped=figures.skipped,
            languages=figures.languages,
            last_indexed_at=figures.indexed_at,
            current_schema_version=health.stored_version,
            required_schema_version=SCHEMA_VERSION,
            watcher_state=watcher_state,
            watcher_reason=watcher_reason,
            recovery=recovery_report(jobs),
            writer=self._lock.held,
            ref=self._ref.read(),
            problem=health.reason,
        )

    def standing(self) -> Standing:
        """The part of `status` that every answer shows, without opening a snapshot when nothing changed."""
        figures = self._figures if self._shows_newest() else self._figures_now()
        active = self.active_job
        health = self._health
        jobs = () if figures.complete or active is not None else read_jobs(self.folder)
        return Standing(
            indexing_status(health, figures, active, jobs), health.status, self._freshness(active), self._ref.read()
        )

    @property
    def active_job(self) -> Job | None:
        """The job that is waiting or running."""
        with self._changed:
            return self._unfinished_job()

    def freshness(self) -> Freshness:
        """Whether the index is known to be what the disk holds."""
        return self._freshness(self.active_job)

    def watcher_health(self) -> tuple[WatcherState, str]:
        """Whether changes are noticed, and why not."""
        return (self._watcher.state, self._watcher.reason) if self._watcher is not None else (WatcherState.OFF, "")

    def _freshness(self, active: Job | None) -> Freshness:
        watcher = self._watcher
        if active is not None or (watcher is not None and watcher.pending):
            return Freshness.SYNCING
        if self._knows_of_more() or self._checked_at is None:
            return Freshness.STALE
        if watcher is not None and watcher.state is WatcherState.WATCHING:
            return Freshness.FRESH
        age = time.monotonic() - self._checked_at
        return Freshness.FRESH if age <= self._limits.stale_check_age_s else Freshness.STALE

    def _knows_of_more(self) -> bool:
        """Whether a job ended without bringing in what it was for: one that was cancelled just as one that failed."""
        with self._changed:
            job = self._active
            return self._is_behind or (job is not None and job.is_over and job.state is not JobState.PUBLISHED)

    def _current_health(self) -> Health:
        with self._stores:
            self._refresh_store()
            return self._health

    def _figures_now(self) -> Figures:
        """The figures of the newest generation, counted once for each."""
        try:
            snapshot = self.snapshot()
        except SightlineError:
            return NO_FIGURES
        with snapshot:
            known = self._figures
            record = snapshot.record
            if (known.generation, known.complete, known.indexed_at) != (
                *(record.generation, record.complete),
                record.indexed_at,
            ):
                known = count_figures(snapshot)
                self._figures = known
        return known

    def _shows_newest(self) -> bool:
        """Whether the figures are those of the newest generation; one that was complete stays so."""
        if not self._figures.complete:
            return False
        try:
            return self._usable_store().newest()[1] == self._figures.generation
        except SightlineError:
            return False

    def _on_commit(self) -> None:
        with self._stores:
            self._refresh_store()

    def _refresh_store(self) -> None:
        """Follow the pointer to the current index; called with `_stores` held."""
        current = self._current.read()
        if current == (self._store.folder if self._store else None):
            return
        old, self._store = self._store, None
        if old is not None:
            old.close()
        if current is None:
            self._health = Health(SchemaStatus.NOT_INDEXED)
            return
        self._health = examine(current, self.root.path)
        if self._health.status is SchemaStatus.COMPATIBLE and not self._health.blocked:
            self._store = IndexStore(current, self._limits)


def _ignore(_difference: Difference) -> None:
    """What changed is nobody's business."""


def _stat_of(path: str) -> tuple[int, int, int] | None:
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        return None
    return info.st_size, info.st_mtime_ns, info.st_ino
