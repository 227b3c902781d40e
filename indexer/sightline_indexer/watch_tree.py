"""Which directories of a root are watched, and what an event there means for the index.

**Invariant**: a directory is watched before it is listed, so a file that appears in between is seen by one of
the two. Owned by one thread.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field

from sightline_core.limits import Limits
from sightline_core.paths import open_beneath
from sightline_indexer.directory_rules import GIT_IGNORE, RULE_FILES, SkipReason
from sightline_indexer.path_filter import PathFilter
from sightline_indexer.repo_ref import GitDirectory, find_git_directory, read_ref
from sightline_indexer.tracked import TrackedPaths, read_tracked
from sightline_indexer.watch_events import WatchEvent, WatchSource

# Keys of watches outside the tree; no relative path begins with a slash.
_GIT_KEY = "//git"
_INFO_KEY = "//info"
_ABOVE_KEY = "//above/"
_OUT_OF_WATCHES = frozenset((errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM))
# A file that is left out for one of these may have been indexed before: its change is news.
_STATE_REASONS = frozenset((SkipReason.SYMLINK, SkipReason.UNREADABLE))


@dataclass(slots=True)
class News:
    """What events have added up to; `reconcile` says that paths alone do not tell it."""

    paths: set[str] = field(default_factory=set[str])
    reconcile: bool = False
    rebuild: bool = False
    root_gone: bool = False

    def __bool__(self) -> bool:
        return self.reconcile or bool(self.paths)


class WatchTree:
    """The watches below one root. `exhausted` tells why directories are left unwatched, empty when none is."""

    def __init__(
        self, path_filter: PathFilter, source: WatchSource, limits: Limits, stopping: Callable[[], bool]
    ) -> None:
        self._stopping = stopping
        self._filter = path_filter
        self._root = path_filter.root.path
        self._source = source
        self._limits = limits
        self._git: GitDirectory | None = None
        self._tracked = TrackedPaths()
        self._ref = ""
        self._streak: set[str] = set()
        self.exhausted = ""
        self.news = News()

    def build(self) -> bool:
        """Bring the watches in line with the rules as they are now; False when the root cannot be watched."""
        self.exhausted = ""
        self._filter.reset()
        for directory in self._source.directories:
            if not directory.startswith("//") and self._filter.accepts_directory(directory) is not None:
                self._source.remove(directory, below=False)
        self._watch_git()
        self._add_below("", report=False)
        # Rule files that changed before their directory was watched went unseen: read them again when asked.
        self._filter.reset()
        return "" in self._source or bool(self.exhausted)

    def handle(self, event: WatchEvent) -> bool:
        """Add what `event` means to the news; False when it means nothing to the index."""
        if event.directory.startswith("//"):
            return self._handle_outside(event)
        if not event.name:
            if not event.vanished or event.directory:
                return False
            self.news.root_gone = self.news.reconcile = True
            return True
        path = _join(event.directory, event.name)
        if event.name in RULE_FILES:
            return self._rules_changed()
        if event.is_directory:
            return self._handle_directory(event, path)
        return self._note_file(path)

    def end_streak(self) -> None:
        """Files that change from now on are no part of an earlier burst."""
        self._streak.clear()

    def lost(self) -> bool:
        """Events were dropped: nothing but a look at everything helps. Always True."""
        return self._rules_changed()

    def _handle_directory(self, event: WatchEvent, path: str) -> bool:
        if event.vanished:
            # What was inside a removed directory vanished before it, each with an event of its own.
            watched = self._source.remove(path, below=event.moved)
            self._filter.forget(path, below=event.moved)
            # The files of a removed directory were reported one by one, those of a moved one were not.
            if watched and event.moved:
                self.news.reconcile = True
            # Unless it came and went before it could be watched; a walk may have met its files all the same.
            return (self._filter.accepts_directory(path) is None and self._note(path)) or watched
        if not event.appeared and path in self._source:
            return False
        self._filter.forget(path)
        if self._filter.accepts_directory(path) is not None:
            return False
        self._add_below(path, report=True)
        return True

    def _note_file(self, path: str) -> bool:
        if self.news.reconcile:
            return True
        reason = self._filter.accepts_by_rule(path)
        if reason is not None and reason not in _STATE_REASONS:
            return False
        return self._note(path)

    def _note(self, path: str) -> bool:
        """Make a path news; a burst may bring more of them than are worth a look one by one. Always True."""
        self.news.paths.add(path)
        # Counted over deliveries: a burst on a slow machine arrives in many small portions.
        self._streak.add(path)
        if len(self._streak) > self._limits.watch_burst_paths:
            self.news.reconcile = True
        return True

    def _rules_changed(self) -> bool:
        self.news.reconcile = self.news.rebuild = True
        self._filter.reset()
        return True

    def _add_below(self, top: str, *, report: bool) -> None:
        """Watch a directory and what is below it; with `report` its files are news."""
        stack = [top]
        while stack and not self._stopping():
            directory = stack.pop()
            if self._filter.accepts_directory(directory) is not None:
                continue
            if not self._watch(directory):
                # Gone again, or out of watches: what happened in there was not seen.
                self.news.reconcile |= report
                continue
            if report:
                # A rule file may have come between reading the rules and watching.
                self._filter.forget(directory, below=False)
            for name, is_directory in self._list(directory):
                path = _join(directory, name)
                if is_directory:
                    stack.append(path)
                elif report:
                    self._note_file(path)

    def _watch(self, directory: str) -> bool:
        if directory in self._source:
            return True
        if self.exhausted:
            return False
        try:
            self._source.add(directory, os.path.join(self._root, directory))
        except OSError as error:
            if error.errno in _OUT_OF_WATCHES:
                self.exhausted = f"The system allows no more watches ({error.strerror})."
            return False
        return True

    def _list(self, directory: str) -> list[tuple[str, bool]]:
        try:
            root = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return []
        try:
            descriptor = open_beneath(root, directory, follow_links=False)
        except OSError:
            return []
        finally:
            os.close(root)
        try:
            with os.scandir(descriptor) as entries:
                return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError:
            # It went away while being read; its parent's event tells.
            return []
        finally:
            os.close(descriptor)

    def _watch_git(self) -> None:
        """Watch what decides on the branch and on tracked files, and the ignore files above the root."""
        git = find_git_directory(self._root, self._limits)
        self._ref = read_ref(self._root, self._limits)
        if git is None:
            self._git, self._tracked = None, TrackedPaths()
            return
        self._watch_outside(_GIT_KEY, git.path)
        self._watch_outside(_INFO_KEY, os.path.join(git.common, "info"))
        above = os.path.dirname(self._root)
        while len(above) >= len(git.work_tree) and self._root != git.work_tree:
            self._watch_outside(_ABOVE_KEY + above, above)
            above = os.path.dirname(above)
        self._git = git
        self._tracked = read_tracked(git, self._limits)

    def _watch_outside(self, key: str, path: str) -> None:
        if key in self._source:
            return
        try:
            self._source.add(key, path)
        except OSError as error:
            # A repository without an info directory is nothing to report.
            if error.errno in _OUT_OF_WATCHES:
                self.exhausted = f"The system allows no more watches ({error.strerror})."

    def _handle_outside(self, event: WatchEvent) -> bool:
        if event.directory == _INFO_KEY:
            return event.name == "exclude" and self._rules_changed()
        if event.directory.startswith(_ABOVE_KEY):
            return event.name == GIT_IGNORE and self._rules_changed()
        if event.name == "HEAD":
            return self._head_changed()
        if event.name == "index" and self._git is not None and (event.appeared or event.vanished):
            # `git status` rewrites the index too; only another set of tracked paths is news.
            tracked = read_tracked(self._git, self._limits)
            if tracked != self._tracked:
                self._tracked = tracked
                return self._rules_changed()
        return False

    def _head_changed(self) -> bool:
        ref = read_ref(self._root, self._limits)
        if ref == self._ref:
            return False
        self._ref = ref
        self.news.reconcile = True
        return True


def _join(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name
