"""The program of a worker process: tasks in on standard input, answers out on standard output.

**Invariant**: before a file is touched its number is in the shared counter, so a death is pinned on its file. The
process ends when its input does, and its own timer ends it inside a parser that hangs, so it cannot outlive its
parent by more than one file.
"""

from __future__ import annotations

import gc
import mmap
import os
import resource
import signal
import sys

import msgspec

from sightline_core.limits import Limits
from sightline_indexer.extract import Extractor, Parsed
from sightline_indexer.pipe_messages import receive, send
from sightline_indexer.records import Answer, Extracted, Task

COUNTER_BYTES = 8
_GC_THRESHOLD = 500_000
_NICENESS = 5


class Setup(msgspec.Struct, frozen=True):
    """What a worker is told on its command line."""

    root: str
    counter_fd: int
    limits: Limits


def main() -> None:
    """Serve until the input ends."""
    setup = msgspec.json.decode(sys.argv[1], type=Setup)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    memory = setup.limits.worker_memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    os.nice(_NICENESS)
    # Extraction makes many objects and no cycles; looking for them cost 5 of 100 parts of the time.
    gc.set_threshold(_GC_THRESHOLD)
    counter = mmap.mmap(setup.counter_fd, COUNTER_BYTES)
    _serve(Extractor(setup.root, setup.limits), counter, setup.limits)


def _serve(extractor: Extractor, counter: mmap.mmap, limits: Limits) -> None:
    tasks_decoder = msgspec.msgpack.Decoder(tuple[Task, ...])
    answered = 0
    while (message := receive()) is not None:
        tasks = tasks_decoder.decode(message)
        if not tasks:
            extractor.begin_run()
        begun: list[Extracted | Parsed] = []
        size = 0
        for task in tasks:
            _note(counter, answered + len(begun) + 1)
            item = extractor.begin(task)
            begun.append(item)
            if isinstance(item, Parsed):
                size += len(item.data)
            if size > limits.worker_answer_bytes:
                _answer(extractor, counter, begun, answered)
                answered += len(begun)
                begun, size = [], 0
        if begun:
            _answer(extractor, counter, begun, answered)
            answered += len(begun)


def _answer(extractor: Extractor, counter: mmap.mmap, begun: list[Extracted | Parsed], answered: int) -> None:
    files: list[Extracted] = []
    for number, item in enumerate(begun, answered + 1):
        if isinstance(item, Parsed):
            _note(counter, number)
            files.append(extractor.finish(item))
        else:
            files.append(item)
    words = b"\n".join(extractor.words.take_new_words())
    send(msgspec.msgpack.encode(Answer(tuple(files), words)))


def _note(counter: mmap.mmap, number: int) -> None:
    counter[:COUNTER_BYTES] = number.to_bytes(COUNTER_BYTES, "little")


if __name__ == "__main__":
    main()
