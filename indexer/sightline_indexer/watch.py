"""Tells the owner of an index when files of its root changed.

**Invariant**: a hint, never the truth: what it reports is looked at on disk by the owner, and whatever it may have
missed (its start, an overflow, a burst, a rule or branch change, a timer) is reported as a reconcile, not in silence.
Threads: one that calls `on_change`, one of watchdog that reads events; both end with `stop`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_indexer.path_filter import PathFilter
from sightline_indexer.watch_events import WatchSource
from sightline_indexer.watch_tree import News, WatchTree


class WatcherState(StrEnum):
    """Whether changes are noticed."""

    OFF = "off"
    STARTING = "starting"
    WATCHING = "watching"
    DEGRADED = "degraded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Changes:
    """Files that may have changed, appeared or gone, and directories that went with what was in them; None asks for a
    look at the whole root."""

    paths: frozenset[str] | None

    @property
    def reconcile(self) -> bool:
        """True when only a walk tells what changed."""
        return self.paths is None


class Watcher:
    """Watches one root; `on_change` is called on the watcher's thread and may take its time."""

    def __init__(
        self, root: RepoRoot, path_filter: PathFilter, on_change: Callable[[Changes], None], limits: Limits
    ) -> None:
        self._root = root
        self._filter = path_filter
        self._on_change = on_change
        self._limits = limits
        self._lock = threading.Lock()
        self._state = WatcherState.OFF
        self._reason = ""
        self._stopping = threading.Event()
        self._source: WatchSource | None = None
        self._thread: threading.Thread | None = None
        self._undelivered = False

    @property
    def state(self) -> WatcherState:
        """What the watcher can promise now."""
        with self._lock:
            return self._state

    @property
    def reason(self) -> str:
        """Why the state is degraded or failed."""
        with self._lock:
            return self._reason

    @property
    def pending(self) -> bool:
        """True while events that were seen are not delivered yet."""
        with self._lock:
            source, undelivered = self._source, self._undelivered
        return undelivered or (source is not None and source.has_events)

    def start(self) -> None:
        """Begin watching in the background; the first change reported is a reconcile, once all watches are set."""
        with self._lock:
            if self._thread is not None:
                return
            self._state = WatcherState.STARTING
            self._thread = threading.Thread(target=self._run, name="sightline-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End all threads; returns within the stop timeout, also from inside `on_change`."""
        self._stopping.set()
        with self._lock:
            source, thread = self._source, self._thread
        if source is not None:
            source.wake()
        if thread is not None and thread is not threading.current_thread():
            thread.join(self._limits.watch_stop_timeout_s)

    def _run(self) -> None:
        ended_well = False
        try:
            source = self._open_source()
            try:
                ended_well = self._watch(source) if source is not None else self._poll()
            finally:
                if source is not None:
                    source.close(self._limits.watch_stop_timeout_s)
        finally:
            # An exception of on_change goes on to the thread's hook; the state must not claim that all is well.
            with self._lock:
                self._source = None
                if ended_well:
                    self._state = WatcherState.OFF
                else:
                    self._state = WatcherState.FAILED
                    self._reason = self._reason or "The watcher ended with an error; the log has it."

    def _open_source(self) -> WatchSource | None:
        try:
            source = open_source(self._limits.watch_queue_events)
        except OSError as error:
            self._set(WatcherState.DEGRADED, f"Watching is not possible ({error.strerror}).")
            return None
        with self._lock:
            self._source = source
        return source

    def _poll(self) -> bool:
        """Without watches the timer alone asks for reconciles."""
        while not self._stopping.is_set():
            self._on_change(Changes(None))
            self._stopping.wait(self._limits.watch_degraded_reconcile_interval_s)
        return True

    def _watch(self, source: WatchSource) -> bool:
        """Deliver until stopped; False when the root is gone."""
        tree = WatchTree(self._filter, source, self._limits, self._stopping.is_set)
        tree.lost()
        pace = _Pace(self._limits)
        if not self._deliver(tree, pace):
            return False
        while not self._stopping.is_set():
            batch = source.take()
            self._mark(undelivered=bool(batch.events) or bool(tree.news))
            if batch.events and pace.rested():
                tree.end_streak()
            relevant = [tree.handle(event) for event in batch.events]
            timer = not tree.news.reconcile and pace.timer_is_due(degraded=bool(tree.exhausted))
            if batch.lost or timer:
                relevant.append(tree.lost())
            if any(relevant):
                pace.touch()
            if tree.news and pace.wait_s(settling=tree.news.reconcile) <= 0:
                if not self._deliver(tree, pace):
                    return False
                continue
            self._mark(undelivered=bool(tree.news))
            if tree.news:
                source.wait(pace.wait_s(settling=tree.news.reconcile))
            else:
                source.wait(pace.timer_wait_s(degraded=bool(tree.exhausted)))
        return True

    def _deliver(self, tree: WatchTree, pace: _Pace) -> bool:
        """Hand the news over; False when the root is gone and nothing more will come."""
        news, tree.news = tree.news, News()
        if news.rebuild and not news.root_gone:
            # New directories are watched before the owner walks them, so nothing falls between.
            news.root_gone = not tree.build()
            self._set(WatcherState.DEGRADED if tree.exhausted else WatcherState.WATCHING, tree.exhausted)
        if news.root_gone:
            self._set(WatcherState.FAILED, "The root is gone or may not be read.")
        if news.reconcile:
            tree.end_streak()
        pace.delivered(reconcile=news.reconcile)
        self._on_change(Changes(None if news.reconcile else frozenset(news.paths)))
        self._mark(undelivered=bool(tree.news))
        return not news.root_gone

    def _set(self, state: WatcherState, reason: str) -> None:
        with self._lock:
            self._state, self._reason = state, reason

    def _mark(self, *, undelivered: bool) -> None:
        with self._lock:
            self._undelivered = undelivered


def open_source(max_queued: int) -> WatchSource:
    """The source of this system; raises OSError when it cannot watch."""
    # Imported here because each of the two fails to import where the other one belongs.
    if sys.platform == "linux":
        from sightline_indexer.watch_inotify import InotifySource

        return InotifySource(max_queued)
    from sightline_indexer.watch_portable import PortableSource

    return PortableSource(max_queued)


class _Pace:
    """When news is delivered: after a quiet moment, or when the oldest has waited long enough."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._first: float | None = None
        self._last = 0.0
        self._reconciled = time.monotonic()

    def touch(self) -> None:
        """News arrived."""
        self._last = time.monotonic()
        if self._first is None:
            self._first = self._last

    def delivered(self, *, reconcile: bool) -> None:
        """News was handed over."""
        self._first = None
        if reconcile:
            self._reconciled = time.monotonic()

    def rested(self) -> bool:
        """True when the last news is so old that a burst would be over."""
        return time.monotonic() - self._last > self._limits.watch_burst_settle_ms / 1000

    def wait_s(self, *, settling: bool) -> float:
        """How long the news should still wait; a storm that ends in a reconcile may settle for longer."""
        if self._first is None:
            return 0.0
        longest = self._limits.watch_burst_settle_ms if settling else self._limits.watch_max_delay_ms
        due = min(self._last + self._limits.watch_quiet_ms / 1000, self._first + longest / 1000)
        return due - time.monotonic()

    def timer_wait_s(self, *, degraded: bool) -> float:
        """How long until a reconcile is due though nothing was heard."""
        limits = self._limits
        interval = limits.watch_degraded_reconcile_interval_s if degraded else limits.watch_reconcile_interval_s
        return max(0.0, self._reconciled + interval - time.monotonic())

    def timer_is_due(self, *, degraded: bool) -> bool:
        """True when that time has come."""
        return self.timer_wait_s(degraded=degraded) <= 0
