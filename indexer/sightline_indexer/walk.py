"""Finds the files of a repository that belong into the index.

**Invariant**: each file once, nothing outside the root. Directories are opened below the root's descriptor without
following links, each device and inode is entered once, and nothing recurses.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType

import msgspec

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot, open_beneath
from sightline_indexer.directory_rules import RULE_FILES, DirectoryRules, RuleReader, SkipReason

__all__ = ["FoundFile", "SkipReason", "Walk", "walk_files"]


class FoundFile(msgspec.Struct, frozen=True, gc=False):
    """A file that belongs into the index, with the stat that tells whether it changed."""

    relative: str
    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk found.

    A skipped directory counts once. `unreadable` names what could not be read, rule files that could not be applied
    whole among it, up to a bound. A `cancelled` walk is no picture of the tree.
    """

    files: tuple[FoundFile, ...]
    skipped: Mapping[SkipReason, int]
    unreadable: tuple[str, ...]
    directories: tuple[str, ...] = ()
    cancelled: bool = False


def walk_files(
    root: RepoRoot,
    limits: Limits,
    *,
    on_progress: Callable[[int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Walk:
    """Every file below `root` that belongs into the index, sorted by path.

    Raises `file_not_found` when the root is gone. `on_progress` gets the number of files found so far.
    """
    try:
        descriptor = os.open(root.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise SightlineError(
            ErrorCode.FILE_NOT_FOUND,
            f"The workspace '{root.path}' cannot be read: {error.strerror}.",
            hint="Check that the directory is still there.",
        ) from None
    try:
        walker = _Walker(descriptor, root, limits)
        stopped = walker.run(on_progress, cancelled)
    finally:
        os.close(descriptor)
    walker.files.sort(key=attrgetter("relative"))
    return Walk(
        files=tuple(walker.files),
        skipped=MappingProxyType(dict(walker.skipped)),
        unreadable=tuple(walker.unreadable[: limits.max_unreadable_paths]),
        directories=tuple(sorted(walker.directories)),
        cancelled=stopped,
    )


@dataclass(frozen=True, slots=True)
class _Pending:
    """A directory that waits for its turn."""

    parent: DirectoryRules
    raw: bytes
    tracked_only: bool
    depth: int


class _Walker:
    """The state of one walk; a stack in place of recursion."""

    def __init__(self, root_descriptor: int, root: RepoRoot, limits: Limits) -> None:
        self._root = root_descriptor
        self._limits = limits
        self._reader = RuleReader(root, limits)
        self._seen: set[tuple[int, int]] = set()
        self._stack: list[_Pending] = []
        self.files: list[FoundFile] = []
        self.directories: list[str] = []
        self.skipped: Counter[SkipReason] = Counter()
        self.unreadable: list[str] = []

    def run(self, on_progress: Callable[[int], None] | None, cancelled: Callable[[], bool] | None) -> bool:
        """Walk everything; True when `cancelled` ended it early."""
        self._visit(self._root, None)
        next_report = self._limits.walk_progress_files
        while self._stack:
            if cancelled is not None and cancelled():
                return True
            self._enter(self._stack.pop())
            if on_progress is not None and len(self.files) >= next_report:
                next_report = len(self.files) + self._limits.walk_progress_files
                on_progress(len(self.files))
        if on_progress is not None:
            on_progress(len(self.files))
        self.unreadable.extend(self._reader.incomplete)
        return False

    def _enter(self, pending: _Pending) -> None:
        path = os.fsdecode(pending.parent.path + pending.raw)
        try:
            descriptor = open_beneath(self._root, path, follow_links=False)
        except FileNotFoundError:
            return
        except OSError:
            self._cannot_read(path)
            return
        try:
            self._visit(descriptor, pending)
        except FileNotFoundError:
            return
        except OSError:
            self._cannot_read(path)
        finally:
            os.close(descriptor)

    def _visit(self, descriptor: int, pending: _Pending | None) -> None:
        info = os.fstat(descriptor)
        identity = (info.st_dev, info.st_ino)
        if identity in self._seen:
            self.skipped[SkipReason.DUPLICATE] += 1
            return
        self._seen.add(identity)
        with os.scandir(descriptor) as scan:
            entries = list(scan)
        names = RULE_FILES.intersection([entry.name for entry in entries])
        if pending is None:
            rules: DirectoryRules | SkipReason = self._reader.root_rules(descriptor, names)
        else:
            rules = self._reader.enter(
                pending.parent, pending.raw, descriptor, names, tracked_only=pending.tracked_only
            )
        if isinstance(rules, SkipReason):
            self.skipped[rules] += 1
            return
        self.directories.append(rules.parent)
        self._sort_out(entries, rules, pending.depth + 1 if pending else 1)

    def _sort_out(self, entries: list[os.DirEntry[str]], rules: DirectoryRules, depth: int) -> None:
        prefix = rules.parent + "/" if rules.parent else ""
        max_bytes = self._limits.max_file_bytes
        skipped = self.skipped
        directories: list[bytes] = []
        for entry in entries:
            name = entry.name
            try:
                raw = name.encode()
            except UnicodeEncodeError:
                skipped[SkipReason.BAD_NAME] += 1
                continue
            try:
                if entry.is_file(follow_symlinks=False):
                    reason = rules.file_reason(name, raw)
                    if reason is not None:
                        skipped[reason] += 1
                        continue
                    info = entry.stat(follow_symlinks=False)
                    if info.st_size > max_bytes:
                        skipped[SkipReason.TOO_LARGE] += 1
                        continue
                    self.files.append(FoundFile(prefix + name, info.st_size, info.st_mtime_ns, info.st_ino))
                elif entry.is_dir(follow_symlinks=False):
                    directories.append(raw)
                else:
                    skipped[SkipReason.SYMLINK if entry.is_symlink() else SkipReason.NOT_REGULAR] += 1
            except FileNotFoundError:
                continue
            except OSError:
                self._cannot_read(prefix + name)
        self._queue(sorted(directories, reverse=True), rules, depth)

    def _queue(self, directories: list[bytes], rules: DirectoryRules, depth: int) -> None:
        for raw in directories:
            reason, tracked_only = rules.directory_reason(raw)
            if reason is None and depth > self._limits.max_directory_depth:
                reason = SkipReason.TOO_DEEP
            if reason is None:
                self._stack.append(_Pending(rules, raw, tracked_only, depth))
            else:
                self.skipped[reason] += 1

    def _cannot_read(self, path: str) -> None:
        self.skipped[SkipReason.UNREADABLE] += 1
        if len(self.unreadable) < self._limits.max_unreadable_paths:
            self.unreadable.append(path)
