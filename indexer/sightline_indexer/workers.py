"""Worker processes that extract files, fed in small batches.

**Invariant**: a worker that hangs or dies costs the file it was at, which is tried once more without parsing and then
listed with the reason; every other file given to it is given to another one. No more than a few batches are under
way, so what waits in memory is bounded by how fast the caller takes answers.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import IO

import msgspec

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_indexer.pipe_messages import LENGTH
from sightline_indexer.records import Answer, Extracted, Outcome, Problem, Task
from sightline_indexer.worker_process import COUNTER_BYTES, Setup

_READ_BYTES = 1 << 20
_STDERR_TAIL_BYTES = 2000
_DYING_S = 0.5


class SizedTask(msgspec.Struct, frozen=True, gc=False):
    """A task with the size of its file, by which batches are cut."""

    task: Task
    size: int


class WorkerPool:
    """Workers for one root; they stay alive between runs. Used by one thread at a time, but for `kill`."""

    def __init__(self, root: str, limits: Limits, count: int) -> None:
        self._root = root
        self._limits = limits
        self._count = count
        self._workers: list[_Worker] = []
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._failed_starts = 0
        self._closed = False
        self._retried: dict[str, Problem] = {}

    def run(self, tasks: Iterable[SizedTask], cancelled: Callable[[], bool]) -> Iterator[Answer]:
        """Answers for all tasks, in no order; ends early when cancelled, with the workers stopped.

        Every word of an answer's files is in the `new_words` of some answer of this run that came no later.
        """
        waiting = _Batches(iter(tasks), self._limits)
        self._retried.clear()
        self._start_run()
        finished = False
        try:
            while not cancelled():
                self._feed(waiting)
                if not any(worker.outstanding for worker in self._workers):
                    finished = True
                    return
                for worker in self._readable():
                    yield from self._collect(worker, waiting)
        finally:
            if not finished:
                self._stop_busy()

    def shrink(self, count: int) -> None:
        """Keep at most `count` idle workers."""
        while len(self._workers) > count:
            self._workers.pop().stop()

    def kill(self) -> None:
        """End all workers at once; a run under way ends by itself. Safe from any thread."""
        self._closed = True
        for worker in list(self._workers):
            worker.kill()

    def close(self) -> None:
        """End all workers."""
        self.kill()
        for worker in self._workers:
            worker.stop()
        self._workers.clear()
        self._errors.close()

    # -- one run -------------------------------------------------------------------------------

    def _start_run(self) -> None:
        self._failed_starts = 0
        for worker in list(self._workers):
            # Words it met for an earlier run may never have reached the disk.
            if not worker.send(()):
                self._discard(worker)

    def _feed(self, waiting: _Batches) -> None:
        for worker in list(self._workers):
            while worker.batches_ahead < self._limits.max_worker_batches and (batch := waiting.take()):
                if not worker.send(batch):
                    waiting.give_back(batch)
                    self._discard(worker)
                    break
        while len(self._workers) < self._count and not self._closed and (batch := waiting.take()):
            worker = _Worker(self._root, self._limits, self._errors)
            self._workers.append(worker)
            if not worker.send(batch):
                waiting.give_back(batch)

    def _readable(self) -> list[_Worker]:
        busy = [worker for worker in self._workers if worker.outstanding]
        poll = select.poll()
        for worker in busy:
            poll.register(worker.output, select.POLLIN)
        outputs = {output for output, _ in poll.poll(self._limits.worker_poll_ms)}
        ready = [worker for worker in busy if worker.output in outputs]
        for worker in busy:
            if worker not in ready and worker.is_stalled(self._limits.worker_stall_s):
                worker.timed_out = True
                worker.kill()
        return ready

    def _collect(self, worker: _Worker, waiting: _Batches) -> Iterator[Answer]:
        if not worker.read():
            yield from self._bury(worker, waiting)
            return
        for answer in worker.take_answers():
            self._failed_starts = 0
            yield self._mark_retried(answer)

    def _mark_retried(self, answer: Answer) -> Answer:
        if not self._retried:
            return answer
        files = tuple(
            msgspec.structs.replace(file, problem=self._retried[file.path])
            if file.path in self._retried and file.outcome is Outcome.INDEXED
            else file
            for file in answer.files
        )
        return Answer(files, answer.new_words)

    def _bury(self, worker: _Worker, waiting: _Batches) -> Iterator[Answer]:
        """A worker is dead: find the file that it died of and give the others to the next one."""
        code = self._discard(worker)
        left = list(worker.outstanding)
        at = worker.current_index()
        if at is None:
            self._failed_starts += 1
            if self._failed_starts > self._limits.worker_max_failed_starts and not self._closed:
                raise self._cannot_start()
            waiting.give_back(left)
            return
        culprit = left.pop(at)
        waiting.give_back(left)
        problem = Problem.PARSE_TIMEOUT if worker.timed_out or code == -signal.SIGPROF else Problem.PARSE_CRASH
        if culprit.path in self._retried:
            yield Answer((Extracted(culprit.path, Outcome.SKIPPED, problem=self._retried[culprit.path]),), b"")
        elif not self._closed:
            self._retried[culprit.path] = problem
            waiting.give_back([Task(culprit.path, b"", parse=False)])

    def _discard(self, worker: _Worker) -> int:
        if worker in self._workers:
            self._workers.remove(worker)
        return worker.stop()

    def _stop_busy(self) -> None:
        for worker in [worker for worker in self._workers if worker.outstanding]:
            worker.kill()
            self._discard(worker)

    def _cannot_start(self) -> SightlineError:
        self._errors.seek(0)
        tail = self._errors.read()[-_STDERR_TAIL_BYTES:].decode("utf-8", "replace").strip()
        reason = tail.splitlines()[-1] if tail else "no message"
        return SightlineError(
            ErrorCode.INTERNAL_ERROR,
            f"The indexing workers cannot run: {reason}.",
            hint="Check the installation with `sightline doctor`.",
        )


class _Batches:
    """The tasks that no worker has yet."""

    def __init__(self, tasks: Iterator[SizedTask], limits: Limits) -> None:
        self._tasks = tasks
        self._limits = limits
        self._again: deque[list[Task]] = deque()

    def take(self) -> list[Task]:
        """The next batch, empty when there is none."""
        if self._again:
            return self._again.popleft()
        batch: list[Task] = []
        size = path_bytes = 0
        for item in self._tasks:
            batch.append(item.task)
            size += item.size
            path_bytes += len(item.task.path) * 4
            # A batch must fit the pipe, or writing it could wait for a worker that waits for us to read.
            if (
                size >= self._limits.worker_batch_bytes
                or path_bytes >= self._limits.worker_batch_path_bytes
                or len(batch) >= self._limits.worker_batch_files
            ):
                break
        return batch

    def give_back(self, tasks: list[Task]) -> None:
        """Take tasks back whose worker is gone."""
        half = max(1, self._limits.worker_batch_files // 2)
        for at in range(0, len(tasks), half):
            self._again.append(tasks[at : at + half])


class _Worker:
    """One process and what it was asked."""

    def __init__(self, root: str, limits: Limits, errors: IO[bytes]) -> None:
        self._counter = os.memfd_create("sightline-worker")
        os.ftruncate(self._counter, COUNTER_BYTES)
        setup = msgspec.json.encode(Setup(root, self._counter, limits)).decode()
        # -P and the directory: nothing that lies in a searched repository is ever imported.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "sightline_indexer.worker_process", setup],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd="/",
            pass_fds=(self._counter,),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input = self._process.stdin.fileno()
        self.output = self._process.stdout.fileno()
        # Room for a whole answer, or the two sides take turns for every 64 KiB of it. A user may have too many pipes.
        with suppress(OSError):
            fcntl.fcntl(self.output, fcntl.F_SETPIPE_SZ, 2 * limits.worker_answer_bytes)
        self._message_bytes = limits.worker_message_bytes
        self._decoder = msgspec.msgpack.Decoder(Answer)
        self._buffer = bytearray()
        self._answered = 0
        self._batch_sizes: deque[int] = deque()
        self._last_count = 0
        self._final_count = 0
        self._last_progress = time.monotonic()
        self.outstanding: deque[Task] = deque()
        self.timed_out = False

    @property
    def batches_ahead(self) -> int:
        return len(self._batch_sizes)

    def send(self, tasks: list[Task] | tuple[Task, ...]) -> bool:
        """Give it tasks; False when it is gone."""
        data = msgspec.msgpack.encode(tasks)
        try:
            os.write(self._input, LENGTH.pack(len(data)) + data)
        except OSError:
            return False
        if tasks:
            if not self.outstanding:
                self._last_progress = time.monotonic()
            self.outstanding.extend(tasks)
            self._batch_sizes.append(len(tasks))
        return True

    def read(self) -> bool:
        """Read what is there; False at the end of its output."""
        chunk = os.read(self.output, _READ_BYTES)
        self._buffer += chunk
        self._last_progress = time.monotonic()
        return bool(chunk)

    def take_answers(self) -> Iterator[Answer]:
        """The complete answers read so far."""
        while len(self._buffer) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._buffer)
            if length > self._message_bytes:
                self.kill()
                return
            end = LENGTH.size + length
            if len(self._buffer) < end:
                return
            answer = self._decoder.decode(memoryview(self._buffer)[LENGTH.size : end])
            del self._buffer[:end]
            self._settle(len(answer.files))
            yield answer

    def current_index(self) -> int | None:
        """Where in `outstanding` it is or died; None when it is at no file."""
        at = self._count() - 1 - self._answered
        return at if 0 <= at < len(self.outstanding) else None

    def is_stalled(self, seconds: float) -> bool:
        """Whether it neither answered nor went on to another file for so long."""
        count = self._count()
        now = time.monotonic()
        if count != self._last_count:
            self._last_count = count
            self._last_progress = now
        return now - self._last_progress > seconds

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def stop(self) -> int:
        """End it and wait; returns its exit status. Stopping twice returns the same."""
        if self._counter >= 0:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.close()
            self._process.stdout.close()
            self._final_count = self._count()
            os.close(self._counter)
            self._counter = -1
            try:
                # Its own reason to end is worth the moment it may take to be seen.
                self._process.wait(_DYING_S if self.outstanding else 0)
            except subprocess.TimeoutExpired:
                self._process.kill()
        return self._process.wait()

    def _settle(self, count: int) -> None:
        self._answered += count
        for _ in range(count):
            self.outstanding.popleft()
        while self._batch_sizes and count >= self._batch_sizes[0]:
            count -= self._batch_sizes.popleft()
        if self._batch_sizes:
            self._batch_sizes[0] -= count

    def _count(self) -> int:
        if self._counter < 0:
            return self._final_count
        return int.from_bytes(os.pread(self._counter, COUNTER_BYTES, 0), "little")
