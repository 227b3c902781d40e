"""One pass over a workspace: find what changed, extract it in workers, write it, publish it.

**Invariant**: a file is read again unless its stat is the one under which its content was indexed; content decides
whether it is written again. What is published during a pass is always a state that each file really had.
"""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.progress import Counters, ProgressBoard, Stage
from sightline_indexer.manifest import KnownFile
from sightline_indexer.path_filter import PathFilter
from sightline_indexer.records import Answer, Extracted, Outcome, Problem, Task
from sightline_indexer.walk import FoundFile, walk_files
from sightline_indexer.workers import SizedTask, WorkerPool
from sightline_indexer.writer import IndexWriter


class CancelledError(Exception):
    """The job was asked to stop."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a pass looks at: the whole tree, or some paths; `reread` mistrusts stats and reads every file."""

    paths: frozenset[str] | None = None
    reread: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """Paths whose files on disk are not those of the index, found before they are read again."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """True when the tree and the index agree."""
        return not (self.added or self.changed or self.removed)


_SECOND_NS = 1_000_000_000


@dataclass(slots=True)
class Tally:
    """What the passes of a job have done so far; `read` are the paths whose content was looked at."""

    scanned: int = 0
    total: int = 0
    parsed: int = 0
    changed: int = 0
    symbols: int = 0
    skipped: Counter[str] = field(default_factory=Counter[str])
    read: set[str] = field(default_factory=set[str])
    began_ns: int = field(default_factory=time.time_ns)

    def counters(self) -> Counters:
        """For the progress board."""
        return Counters(self.scanned, self.parsed, self.parsed, self.total, self.symbols)


@dataclass(frozen=True, slots=True)
class Pass:
    """The parts one pass works with."""

    root: RepoRoot
    path_filter: PathFilter
    writer: IndexWriter
    pool: WorkerPool
    limits: Limits
    board: ProgressBoard
    cancelled: Callable[[], bool]
    on_commit: Callable[[], None]
    was_complete: bool
    on_difference: Callable[[Difference], None]


def run_pass(work: Pass, scope: Scope, tally: Tally) -> None:
    """Bring the index up to what `scope` holds on disk; raises CancelledError, or what stopped the writing."""
    whole_tree = scope.paths is None
    paths = None if scope.paths is None else _with_those_below(work, scope.paths)
    found, gone, skipped = _discover(work, paths, tally)
    known = work.writer.known_files(paths)
    if whole_tree:
        gone = [path for path in known if path not in found]
    for path in gone:
        tally.changed += work.writer.remove(path)
    tasks = list(tasks_of(found, known, tally, work.limits, reread=scope.reread))
    if work.was_complete:
        # A first index finds everything added, which is no news to anyone.
        _tell(work, tasks, known, gone)
    tally.total += len(tasks)
    _extract(work, tasks, found, tally)
    work.board.report(Stage.FINALIZING, tally.counters())
    skipped.update(tally.skipped)
    if work.writer.has_changes or work.writer.published == 0:
        work.writer.commit(complete=whole_tree or work.was_complete, skipped=skipped)
        work.on_commit()
    else:
        work.writer.confirm(skipped=skipped if whole_tree else None)


def _tell(work: Pass, tasks: list[SizedTask], known: Mapping[str, KnownFile], gone: list[str]) -> None:
    paths = [task.task.path for task in tasks]
    difference = Difference(
        added=tuple(path for path in paths if path not in known),
        changed=tuple(path for path in paths if path in known),
        removed=tuple(path for path in gone if path in known),
    )
    if not difference.is_empty:
        work.on_difference(difference)


def _with_those_below(work: Pass, paths: frozenset[str]) -> frozenset[str]:
    """The paths and, for those that are no files (any more), what the index knows below them."""
    below: set[str] = set()
    for path in paths:
        info = _stat(work.root, path)
        if info is None or not stat.S_ISREG(info.st_mode):
            below.update(work.writer.paths_below(path))
    return paths | below


def _discover(
    work: Pass, paths: frozenset[str] | None, tally: Tally
) -> tuple[dict[str, FoundFile], list[str], Counter[str]]:
    """The files of the scope, the paths that are gone (for single paths), and why others are left out."""
    work.board.report(Stage.DISCOVERY, tally.counters())
    if paths is not None:
        found, gone = _look_at(work, paths)
        tally.scanned += len(paths)
        return found, gone, Counter()
    before = tally.scanned

    def on_progress(count: int) -> None:
        tally.scanned = before + count
        work.board.report(Stage.DISCOVERY, tally.counters())

    walk = walk_files(work.root, work.limits, on_progress=on_progress, cancelled=work.cancelled)
    if work.cancelled():
        raise CancelledError
    tally.scanned = before + len(walk.files)
    skipped = Counter({reason.value: count for reason, count in walk.skipped.items()})
    return {file.relative: file for file in walk.files}, [], skipped


def _look_at(work: Pass, paths: Iterable[str]) -> tuple[dict[str, FoundFile], list[str]]:
    found: dict[str, FoundFile] = {}
    gone: list[str] = []
    for path in paths:
        info = _stat(work.root, path)
        if info is not None and stat.S_ISREG(info.st_mode) and work.path_filter.accepts(path) is None:
            found[path] = FoundFile(path, info.st_size, info.st_mtime_ns, info.st_ino)
        else:
            gone.append(path)
    return found, gone


def _stat(root: RepoRoot, path: str) -> os.stat_result | None:
    try:
        return os.lstat(os.path.join(root.path, path))
    except (OSError, ValueError):
        return None


def tasks_of(
    found: Mapping[str, FoundFile], known: Mapping[str, KnownFile], tally: Tally, limits: Limits, *, reread: bool
) -> Iterator[SizedTask]:
    """The files of a tree that must be read."""
    for path, file in found.items():
        old = known.get(path)
        if old is None:
            yield SizedTask(Task(path), file.size)
        elif reread or (is_changed(old, file) and not _was_just_read(old, file, tally, limits)):
            yield SizedTask(Task(path, old.digest), file.size)


def _was_just_read(old: KnownFile, file: FoundFile, tally: Tally, limits: Limits) -> bool:
    """Whether this job has read a file as it is, and the watcher tells of the change that it was read for.

    Only where times are finer than seconds, and for changes from before the job; a later job looks again.
    """
    same = (old.size, old.mtime_ns, old.inode) == (file.size, file.mtime_ns, file.inode)
    is_fine = file.mtime_ns % _SECOND_NS != 0
    return (
        same
        and is_fine
        and file.relative in tally.read
        and file.mtime_ns < tally.began_ns - limits.racy_fine_stat_ms * 1_000_000
    )


def is_changed(old: KnownFile, file: FoundFile) -> bool:
    """Whether the stat of a file leaves open that its content is another one."""
    return bool(old.racy) or (old.size, old.mtime_ns, old.inode) != (file.size, file.mtime_ns, file.inode)


def _extract(work: Pass, tasks: list[SizedTask], found: Mapping[str, FoundFile], tally: Tally) -> None:
    clock = _CommitClock(work.limits, is_first=not work.was_complete)
    if tasks:
        work.board.report(Stage.PARSING, tally.counters())
    for answer in work.pool.run(tasks, work.cancelled):
        _take(work, answer, found, tally)
        stage = Stage.PARSING if tally.parsed < tally.total else Stage.INDEXING
        work.board.report(stage, tally.counters())
        # A first index is searchable before it is done.
        if tally.parsed < tally.total and work.writer.has_changes and clock.is_due():
            work.writer.commit(complete=work.was_complete, skipped=tally.skipped)
            work.on_commit()
            clock.restart()
    if work.cancelled():
        raise CancelledError


def _take(work: Pass, answer: Answer, found: Mapping[str, FoundFile], tally: Tally) -> None:
    if answer.new_words:
        work.writer.add_words(answer.new_words.split(b"\n"))
    for file in answer.files:
        tally.parsed += 1
        tally.symbols += file.symbol_count
        tally.read.add(file.path)
        if file.outcome is Outcome.UNCHANGED:
            work.writer.touch(file)
        elif file.outcome is Outcome.INDEXED or (
            file.outcome is Outcome.SKIPPED and file.problem is not Problem.TOO_LARGE
        ):
            work.writer.put(_with_stat(file, found[file.path]))
            tally.changed += 1
        else:
            tally.changed += work.writer.remove(file.path)
            if file.outcome is Outcome.UNREADABLE:
                tally.skipped["unreadable"] += 1


def _with_stat(file: Extracted, found: FoundFile) -> Extracted:
    """A file whose worker died has no stat of its own; that of the walk keeps it from being tried at every pass."""
    if file.mtime_ns:
        return file
    return msgspec.structs.replace(file, size=found.size, mtime_ns=found.mtime_ns, inode=found.inode)


class _CommitClock:
    """When to publish in the middle of a pass: early once, then ever more rarely, because commits cost merges.

    An index that is there already can wait: the first time falls away.
    """

    def __init__(self, limits: Limits, *, is_first: bool) -> None:
        self._factor = limits.index_commit_factor
        self._interval = limits.index_first_commit_s * (1 if is_first else self._factor)
        self._last = time.monotonic()

    def is_due(self) -> bool:
        return time.monotonic() - self._last >= self._interval

    def restart(self) -> None:
        self._interval *= self._factor
        self._last = time.monotonic()
