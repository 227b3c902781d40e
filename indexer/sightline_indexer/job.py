"""An index job as its callers see it: state, progress, end.

**Invariant**: a job ends once. Whoever waits or listens learns of the end, also when it asks after it.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from sightline_core.errors import SightlineError
from sightline_core.progress import Progress, ProgressBoard, describe_end
from sightline_core.types import JobMode, JobState
from sightline_indexer.job_log import JobRecord

_ID_BYTES = 4


class Job:
    """One request to bring an index up to date. Thread-safe."""

    def __init__(self, mode: JobMode, reason: str, *, force: bool, paths: frozenset[str] | None) -> None:
        self.job_id = secrets.token_hex(_ID_BYTES)
        self.mode = mode
        self.reason = reason
        self.force = force
        self.paths = paths
        self.board = ProgressBoard(self._on_progress)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._cancel = threading.Event()
        self._listeners: list[Callable[[Job], None]] = []
        self._state = JobState.QUEUED
        self._begun = time.monotonic()
        self.started_at = ""
        self.ended_at = ""
        self.error: SightlineError | None = None
        self.keep_record: Callable[[], None] = _keep_nothing
        self.changed_files = 0
        self.file_count = 0

    @property
    def state(self) -> JobState:
        """Where it is in its life."""
        with self._lock:
            return self._state

    @property
    def progress(self) -> Progress:
        """The newest progress."""
        return self.board.latest

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self._ended.is_set()

    def wait(self, timeout: float) -> bool:
        """Wait for the end; False when it did not come in time."""
        return self._ended.wait(timeout)

    def add_listener(self, listener: Callable[[Job], None]) -> None:
        """Call back after every change, on the job's thread; at once when the job is already over."""
        with self._lock:
            self._listeners.append(listener)
            over = self._ended.is_set()
        if over:
            listener(self)

    def remove_listener(self, listener: Callable[[Job], None]) -> None:
        """Stop calling back."""
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)

    def request_cancel(self) -> None:
        """Ask it to stop; it ends as cancelled soon after, unless it ends well before."""
        self._cancel.set()

    def is_cancelled(self) -> bool:
        """Whether it was asked to stop."""
        return self._cancel.is_set()

    def widen(self, paths: frozenset[str] | None) -> None:
        """Let a job that has not begun look at more."""
        self.paths = union(self.paths, paths)

    def begin(self) -> None:
        """It runs now."""
        with self._lock:
            self._state = JobState.RUNNING
            self._begun = time.monotonic()
            self.started_at = now()
        self._tell()

    def publish(self, *, files: int, symbols: int, changed: int) -> None:
        """It ended well."""
        self.file_count = files
        self.changed_files = changed
        seconds = time.monotonic() - self._begun
        self._end(JobState.PUBLISHED, describe_end(files, symbols, seconds))

    def fail(self, error: SightlineError) -> None:
        """It could not be done."""
        self.error = error
        self._end(JobState.FAILED, f"Error: {error.full_message}")

    def end_cancelled(self) -> None:
        """It was stopped on request."""
        self._end(JobState.CANCELLED, "Cancelled")

    def record(self) -> JobRecord:
        """What is kept of it."""
        return JobRecord(
            job_id=self.job_id,
            mode=self.mode,
            state=self.state,
            reason=self.reason,
            started_at=self.started_at,
            ended_at=self.ended_at,
            message=self.progress.message,
            error=self.error.full_message if self.error else "",
            changed_files=self.changed_files,
            file_count=self.file_count,
        )

    def _end(self, state: JobState, message: str) -> None:
        with self._lock:
            if self._ended.is_set():
                return
            self._state = state
            self.ended_at = now()
        self.board.finish(message, done=state is JobState.PUBLISHED)
        try:
            # On record first, so that nobody hears of an end that a crash could still turn into an interruption.
            self.keep_record()
        finally:
            self._ended.set()
            self._tell()

    def _on_progress(self, progress: Progress) -> None:
        # The end is told by `_end`, after which the state is final.
        if self.state is JobState.RUNNING:
            self._tell()

    def _tell(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener(self)


def _keep_nothing() -> None:
    """A job that never got the write lock leaves no trace on disk."""


def union(left: frozenset[str] | None, right: frozenset[str] | None) -> frozenset[str] | None:
    """The paths of both, where None stands for all."""
    return None if left is None or right is None else left | right


def now() -> str:
    """The time in the form that all answers use."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
