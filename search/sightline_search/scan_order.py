"""Visiting files in a fixed order with several threads, as far as the taker wants to go.

**Invariant**: results come in the order of the files, whichever thread was faster; no more than two batches a thread
are under way, and when the taker stops, so do they.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Generic, TypeVar

from sightline_core.cancellation import is_withdrawn
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_indexer.catalogue import FileEntry
from sightline_search.line_matches import DeadlineError
from sightline_search.tree_reader import FileText, TreeReader

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Visited(Generic[Found]):
    """What was found in one file, and the stat of what was read."""

    place: int
    entry: FileEntry
    text: FileText
    found: Found


@dataclass(frozen=True, slots=True)
class Batch(Generic[Found]):
    """A stretch of files that was visited: `upto` is the index of the first one that was not."""

    visited: list[Visited[Found]]
    missing: int
    upto: int
    out_of_time: bool


@dataclass(frozen=True, slots=True)
class Visit(Generic[Found]):
    """What is done with each file.

    `look` returns None when the file holds nothing; it may raise DeadlineError. `enough` says that a batch need not
    go on, `accepts` leaves files out unread. `first_match`, where it can be used, finds the first place from an
    offset on where texts joined by line breaks hold something; files before it are not looked into. One thread reads
    at a time while others match: reading is many short calls, and threads that make them together spend their time
    handing the interpreter to each other.
    """

    root: RepoRoot
    entries: Sequence[FileEntry]
    places: Sequence[int]
    accepts: Callable[[FileEntry], bool]
    look: Callable[[int, FileText], Found | None]
    enough: Callable[[list[Visited[Found]]], bool]
    deadline: float
    limits: Limits
    first_match: Callable[[bytes, int], int | None] | None = None
    reading: threading.Lock = field(default_factory=threading.Lock)


def visit_in_order(visit: Visit[Found], threads: int) -> Generator[Batch[Found]]:
    """Batches in order until all files are visited, or time runs out. Close it to stop early."""
    first = min(visit.limits.scan_first_files, len(visit.places))
    stopped = threading.Event()
    # The first files are visited here: most pages are full before another thread would have started.
    batch = _visit(visit, 0, first, stopped, together=False)
    yield batch
    if batch.out_of_time or batch.upto >= len(visit.places):
        return
    if len(visit.places) - batch.upto <= visit.limits.scan_first_files or threads < 2:
        while batch.upto < len(visit.places) and not batch.out_of_time and not is_withdrawn():
            batch = _visit(visit, batch.upto, batch.upto + visit.limits.scan_batch_files, stopped)
            yield batch
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="sightline-scan") as pool:
        yield from _visit_in_threads(visit, batch.upto, pool, threads, stopped)


def _visit_in_threads(
    visit: Visit[Found], start: int, pool: ThreadPoolExecutor, threads: int, stopped: threading.Event
) -> Generator[Batch[Found]]:
    running: deque[tuple[int, Future[Batch[Found]]]] = deque()
    step = visit.limits.scan_batch_files
    try:
        while start < len(visit.places) or running:
            while start < len(visit.places) and len(running) < 2 * threads:
                end = min(start + step, len(visit.places))
                running.append((end, pool.submit(_visit, visit, start, end, stopped)))
                start = end
            end, future = running.popleft()
            batch = future.result()
            yield batch
            # A batch that had enough ended early; a taker that still goes on gets the rest of it.
            while batch.upto < end and not batch.out_of_time:
                batch = _visit(visit, batch.upto, end, stopped)
                yield batch
            if batch.out_of_time or is_withdrawn():
                return
    finally:
        stopped.set()


@dataclass(frozen=True, slots=True)
class _Read:
    """A file that was read; `at` is its index in the order of the visit."""

    at: int
    entry: FileEntry
    text: FileText


def _visit(
    visit: Visit[Found], start: int, end: int, stopped: threading.Event, *, together: bool = True
) -> Batch[Found]:
    """Visit a stretch of files; `together` reads several before it looks into them."""
    visited: list[Visited[Found]] = []
    missing = 0
    at = start
    end = min(end, len(visit.places))
    with TreeReader(visit.root, visit.limits) as reader:
        while at < end:
            if stopped.is_set() or time.monotonic() > visit.deadline:
                return Batch(visited, missing, at, out_of_time=True)
            with visit.reading:
                bound = visit.limits.scan_join_bytes if together else 0
                chunk, upto, lost = _read_chunk(visit, reader, at, end, bound)
            missing += lost
            try:
                for read in _sifted(visit, chunk):
                    at = read.at
                    place = visit.places[at]
                    found = visit.look(place, read.text)
                    at += 1
                    if found is not None:
                        visited.append(Visited(place, read.entry, read.text, found))
                        if visit.enough(visited):
                            return Batch(visited, missing, at, out_of_time=False)
            except DeadlineError:
                return Batch(visited, missing, at, out_of_time=True)
            at = upto
    return Batch(visited, missing, end, out_of_time=False)


def _read_chunk(
    visit: Visit[Found], reader: TreeReader, start: int, end: int, max_bytes: int
) -> tuple[list[_Read], int, int]:
    """Files from `start` on until they have so many bytes, the index after the last one, and how many are gone."""
    chunk: list[_Read] = []
    size = missing = 0
    for at in range(start, end):
        entry = visit.entries[visit.places[at]]
        if not visit.accepts(entry):
            continue
        text = reader.read(entry.path)
        if text is None:
            missing += 1
            continue
        chunk.append(_Read(at, entry, text))
        size += len(text.data)
        if size >= max_bytes:
            return chunk, at + 1, missing
    return chunk, end, missing


def _sifted(visit: Visit[Found], chunk: list[_Read]) -> Iterator[_Read]:
    """The files worth a look. One search over all of them costs far less than one each."""
    if visit.first_match is None or len(chunk) < 2:
        yield from chunk
        return
    joined = b"\n".join([read.text.data for read in chunk])
    after = 0
    ends = list(accumulate(len(read.text.data) + 1 for read in chunk))
    while (start := visit.first_match(joined, after)) is not None:
        number = bisect_right(ends, start)
        if number >= len(chunk):
            return
        yield chunk[number]
        after = ends[number]
