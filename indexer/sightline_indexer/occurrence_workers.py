"""Occurrences of a name in many files, found by processes that can be killed.

**Invariant**: a file that hangs or breaks its parser costs itself and is named as unparsable; a call ends at its
deadline, and what was not looked at by then is not in the answer. Processes wait for the next call and end with
this one or with their pipe.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from sightline_core.cancellation import is_withdrawn
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_indexer.occurrence_process import FindAnswer, FinderSetup, FindRequest
from sightline_indexer.pipe_messages import LENGTH

_READ_BYTES = 1 << 18
_STOP_S = 1.0


@dataclass(frozen=True, slots=True)
class FileOccurrences:
    """A file that was looked at; `unparsable` when its parser had to be given up."""

    answer: FindAnswer
    unparsable: bool = False


class OccurrenceWorkers:
    """Finds occurrences below one root. Thread-safe: calls take turns."""

    def __init__(self, root: RepoRoot, limits: Limits, count: int) -> None:
        self._setup = msgspec.json.encode(FinderSetup(root.path, limits)).decode()
        self._limits = limits
        self._count = max(1, count)
        self._lock = threading.Lock()
        self._processes: list[_Process] = []

    def find(self, requests: Sequence[FindRequest], deadline: float) -> Iterator[FileOccurrences]:
        """Answers in no order, until all are there or `deadline` (of `time.monotonic`) has passed."""
        if not self._take_lock(deadline):
            return
        try:
            yield from self._run(deque(requests), deadline)
        finally:
            for process in [process for process in self._processes if process.asked]:
                self._drop(process)
            self._lock.release()

    def _take_lock(self, deadline: float) -> bool:
        while not is_withdrawn():
            left = deadline - time.monotonic()
            if self._lock.acquire(timeout=max(0.0, min(left, self._limits.worker_poll_ms / 1000))):
                return True
            if left <= 0:
                break
        return False

    def close(self) -> None:
        """End the processes; a call under way ends early."""
        for process in list(self._processes):
            process.stop()
        self._processes.clear()

    def _run(self, waiting: deque[FindRequest], deadline: float) -> Iterator[FileOccurrences]:
        while waiting or any(process.asked for process in self._processes):
            self._feed(waiting)
            left = deadline - time.monotonic()
            if left <= 0 or is_withdrawn():
                return
            for process in self._readable(min(left, self._limits.worker_poll_ms / 1000)):
                answers = process.read()
                if answers is None:
                    culprit = process.asked.popleft() if process.asked else None
                    waiting.extendleft(reversed(process.asked))
                    process.asked.clear()
                    self._drop(process)
                    if culprit is not None:
                        yield FileOccurrences(FindAnswer(culprit.path), unparsable=True)
                else:
                    yield from map(FileOccurrences, answers)

    def _feed(self, waiting: deque[FindRequest]) -> None:
        while waiting and len(self._processes) < min(self._count, len(waiting)):
            self._processes.append(_Process(self._setup))
        for process in self._processes:
            while waiting and len(process.asked) < self._limits.max_occurrence_requests:
                process.ask(waiting.popleft())

    def _readable(self, seconds: float) -> list[_Process]:
        with selectors.DefaultSelector() as selector:
            for process in self._processes:
                if process.asked:
                    selector.register(process.output, selectors.EVENT_READ, process)
            return [key.data for key, _ in selector.select(seconds)]

    def _drop(self, process: _Process) -> None:
        process.stop()
        if process in self._processes:
            self._processes.remove(process)


class _Process:
    """One process and what it was asked."""

    def __init__(self, setup: str) -> None:
        # -P and the directory: nothing that lies in a searched repository is ever imported.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "sightline_indexer.occurrence_process", setup],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input = self._process.stdin.fileno()
        self.output = self._process.stdout.fileno()
        self._buffer = bytearray()
        self._decoder = msgspec.msgpack.Decoder(FindAnswer)
        self.asked: deque[FindRequest] = deque()

    def ask(self, request: FindRequest) -> None:
        """Send a request; a process that is gone shows at the next read."""
        data = msgspec.msgpack.encode(request)
        self.asked.append(request)
        try:
            os.write(self._input, LENGTH.pack(len(data)) + data)
        except OSError:
            return

    def read(self) -> list[FindAnswer] | None:
        """The answers that have arrived; None when the process is gone."""
        try:
            chunk = os.read(self.output, _READ_BYTES)
        except OSError:
            return None
        if not chunk:
            return None
        self._buffer += chunk
        answers: list[FindAnswer] = []
        while len(self._buffer) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack_from(self._buffer)[0]
            if len(self._buffer) < end:
                break
            answers.append(self._decoder.decode(bytes(self._buffer[LENGTH.size : end])))
            del self._buffer[:end]
            self.asked.popleft()
        return answers

    def stop(self) -> None:
        """End it; stopping twice does nothing."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(_STOP_S)
