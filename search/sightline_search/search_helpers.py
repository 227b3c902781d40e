"""Processes that search beside this one when many searches come at once: one interpreter uses one core.

**Invariant**: a helper is an offer. Whatever is wrong with it (not started yet, busy, dead, too late) the caller
searches itself and nothing is lost; a helper that misbehaved is ended. Helpers end with this process, by their
input; `end_idle` ends those that nobody needed for a while.
"""

from __future__ import annotations

import logging
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

import msgspec

from sightline_core.cancellation import is_withdrawn
from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_indexer.pipe_messages import LENGTH
from sightline_indexer.store import Snapshot
from sightline_search.helper_process import HelpAnswer, HelpRequest
from sightline_search.model import SearchMode, SearchOptions, SearchResult

_LOG = logging.getLogger(__name__)
# Patterns are matched in threads that let each other run, and stream what they find.
_OWN_THREADS = (SearchMode.LITERAL, SearchMode.REGEX)
_READ_BYTES = 1 << 18
_STOP_S = 1.0


class SearchHelpers:
    """The helpers of this process. Thread-safe."""

    def __init__(self, limits: Limits, count: int) -> None:
        """At most `count` processes; none is started before they are needed."""
        self._limits = limits
        self._count = count
        self._lock = threading.Lock()
        self._searches = 0
        self._idle: list[_Helper] = []
        self._busy: set[_Helper] = set()
        self._failures = 0
        self._closed = False
        self._freed = threading.Condition(self._lock)

    def search(
        self, snapshot: Snapshot, root: RepoRoot, query: str, options: SearchOptions, deadline: float, *, fits: bool
    ) -> SearchResult | None:
        """What a helper found in the index of a snapshot or a newer generation of it, None when the caller must
        search itself; with `fits` as `fit_result` makes it. Raises what the search raises."""
        if options.mode in _OWN_THREADS or snapshot.record.files < self._limits.min_helped_files:
            return None
        try:
            seconds = max(0.0, deadline - time.monotonic())
            asked = msgspec.msgpack.encode(HelpRequest(snapshot.folder, root.path, query, options, seconds, fits))
        except UnicodeEncodeError:
            # A text that no message can carry.
            return None
        helper = self._take(deadline)
        if helper is None:
            return None
        answer: HelpAnswer | None = None
        try:
            answer = helper.ask(asked, deadline)
        finally:
            self._give_back(helper, good=answer is not None)
        if answer is None:
            return None
        if answer.error is not None:
            code, message, hint = answer.error
            raise SightlineError(ErrorCode(code), message, hint=hint)
        return answer.found

    @contextmanager
    def noticing(self) -> Generator[None, None, None]:
        """A search waits or runs inside the block, here or in a helper."""
        with self._lock:
            self._searches += 1
        try:
            yield
        finally:
            with self._lock:
                self._searches -= 1

    def end_idle(self) -> None:
        """End the helpers that nobody asked for a while."""
        oldest = time.monotonic() - self._limits.helper_idle_s
        with self._lock:
            unneeded = [helper for helper in self._idle if helper.used_at <= oldest]
            self._idle = [helper for helper in self._idle if helper.used_at > oldest]
        for helper in unneeded:
            helper.stop()

    def close(self) -> None:
        """End all processes; searches under way end early and are done by their callers."""
        with self._lock:
            self._closed = True
            helpers = [*self._idle, *self._busy]
            self._idle.clear()
            self._freed.notify_all()
        for helper in helpers:
            helper.stop()

    def _take(self, deadline: float) -> _Helper | None:
        with self._lock:
            if self._closed or self._searches < self._limits.min_helped_searches:
                return None
            self._drop_dead()
            self._start_one()
            while not self._closed:
                for helper in reversed(self._idle):
                    if helper.is_ready():
                        self._idle.remove(helper)
                        self._busy.add(helper)
                        return helper
                # With a helper at work the next free one is worth waiting for: it has a core of its own.
                if not self._busy or is_withdrawn() or time.monotonic() >= deadline:
                    return None
                self._freed.wait(self._limits.worker_poll_ms / 1000)
        return None

    def _drop_dead(self) -> None:
        """Called with the lock held."""
        dead = [helper for helper in self._idle if helper.is_dead()]
        self._failures += len(dead)
        for helper in dead:
            self._idle.remove(helper)
            helper.stop()

    def _start_one(self) -> None:
        """Called with the lock held. One after the other: a start takes time from the rush that it is meant for."""
        if any(not helper.is_ready() for helper in self._idle) or self._failures >= self._limits.helper_max_failures:
            return
        if len(self._idle) + len(self._busy) < self._count:
            try:
                self._idle.append(_Helper(self._limits))
            except OSError as error:
                _LOG.warning("a search helper could not be started: %s", error)
                self._failures += 1

    def _give_back(self, helper: _Helper, *, good: bool) -> None:
        with self._lock:
            self._busy.discard(helper)
            if good and not self._closed:
                helper.used_at = time.monotonic()
                self._failures = 0
                self._idle.append(helper)
            elif not self._closed:
                self._failures += 1
                _LOG.warning("a search helper failed and is ended")
            self._freed.notify()
        if not good:
            helper.stop()


class _Helper:
    """One process; used by one thread at a time."""

    def __init__(self, limits: Limits) -> None:
        # -P and the directory: nothing that lies in a searched repository is ever imported.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "sightline_search.helper_process", msgspec.json.encode(limits).decode()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input = self._process.stdin.fileno()
        self._output = self._process.stdout.fileno()
        self._decoder = msgspec.msgpack.Decoder(HelpAnswer)
        self._is_ready = False
        self.used_at = time.monotonic()

    def is_ready(self) -> bool:
        """Whether it has started; does not wait."""
        if not self._is_ready and self._has_output(0.0):
            self._is_ready = self._read(time.monotonic() + _STOP_S) == b""
        return self._is_ready

    def is_dead(self) -> bool:
        """Whether the process has ended; does not wait."""
        return self._process.poll() is not None

    def ask(self, request: bytes, deadline: float) -> HelpAnswer | None:
        """Its answer; None when it is gone, broken or too late."""
        try:
            self._write(LENGTH.pack(len(request)) + request)
            answer = self._read(deadline)
            return None if answer is None else self._decoder.decode(answer)
        except (OSError, ValueError, msgspec.MsgspecError):
            return None

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._input, view) :]

    def _read(self, deadline: float) -> bytes | None:
        """The next message; None at the end of the output or of the time."""
        buffer = bytearray()
        end = LENGTH.size
        while len(buffer) < end:
            if not self._has_output(max(0.0, deadline - time.monotonic())):
                return None
            chunk = os.read(self._output, _READ_BYTES)
            if not chunk:
                return None
            buffer += chunk
            if len(buffer) >= LENGTH.size:
                end = LENGTH.size + LENGTH.unpack_from(buffer)[0]
        return bytes(buffer[LENGTH.size : end])

    def _has_output(self, seconds: float) -> bool:
        # Not `select`: it knows no descriptor beyond 1023, and a server of many workspaces has more.
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def stop(self) -> None:
        """End it; stopping twice does nothing."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait(_STOP_S)
        self._process.stdin.close()
        self._process.stdout.close()
