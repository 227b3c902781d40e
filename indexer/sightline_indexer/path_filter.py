"""Whether one path would be indexed, by the same rules as a walk.

**Invariant**: safe to call from several threads. Directories are opened below the root without following links.
"""

from __future__ import annotations

import errno
import os
import stat
import threading

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot, open_beneath
from sightline_indexer.directory_rules import RULE_FILES, DirectoryRules, RuleReader, SkipReason


class PathFilter:
    """Answers for single paths; remembers the rules of the directories it was asked about until `reset`."""

    def __init__(self, root: RepoRoot, limits: Limits) -> None:
        self._root = root
        self._limits = limits
        self._lock = threading.Lock()
        self._reader = RuleReader(root, limits)
        self._known: dict[str, DirectoryRules | SkipReason] = {}

    @property
    def root(self) -> RepoRoot:
        """The directory that paths are relative to."""
        return self._root

    def reset(self) -> None:
        """Read the rule files anew; to be called when one of them changed."""
        with self._lock:
            self._known.clear()

    def forget(self, directory: str) -> None:
        """Read the rule files of one directory, and of what is below it, anew."""
        with self._lock:
            self._known.pop(directory, None)
            below = directory + "/"
            for known in [path for path in self._known if path.startswith(below)]:
                del self._known[known]

    def accepts(self, relative: str) -> SkipReason | None:
        """Why the file `relative` is not indexed, None when it is; where no file is, the rules alone decide."""
        directory, _, name = relative.rpartition("/")
        return self.accepts_by_rule(relative) or self._file_state(directory, name)

    def accepts_by_rule(self, relative: str) -> SkipReason | None:
        """Like `accepts`, without a look at the file itself."""
        directory, _, name = relative.rpartition("/")
        try:
            raw = name.encode()
        except UnicodeEncodeError:
            return SkipReason.BAD_NAME
        with self._lock:
            rules = self._rules(directory)
        return rules if isinstance(rules, SkipReason) else rules.file_reason(name, raw)

    def accepts_directory(self, relative: str) -> SkipReason | None:
        """Why nothing below the directory `relative` is indexed, None when something may be."""
        with self._lock:
            rules = self._rules(relative)
        return rules if isinstance(rules, SkipReason) else None

    def _rules(self, directory: str) -> DirectoryRules | SkipReason:
        """The rules inside a directory; needs the lock."""
        known = self._known.get(directory)
        if known is not None:
            return known
        if len(self._known) >= self._limits.max_cached_directories:
            self._known.clear()
        parts = directory.split("/") if directory else []
        if len(parts) > self._limits.max_directory_depth:
            return SkipReason.TOO_DEEP
        rules = self._known.get("") or self._read("", None)
        for depth in range(len(parts)):
            if isinstance(rules, SkipReason):
                return rules
            path = "/".join(parts[: depth + 1])
            rules = self._known.get(path) or self._read(path, rules)
        return rules

    def _read(self, path: str, parent: DirectoryRules | None) -> DirectoryRules | SkipReason:
        tracked_only, raw = False, b""
        if parent is not None:
            try:
                raw = path.rpartition("/")[2].encode()
            except UnicodeEncodeError:
                return SkipReason.BAD_NAME
            reason, tracked_only = parent.directory_reason(raw)
            if reason is not None:
                self._known[path] = reason
                return reason
        try:
            descriptor = self._open(path)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EXDEV):
                return SkipReason.SYMLINK
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                return SkipReason.UNREADABLE
            # A directory that is gone has no rule files of its own; it may come back, so it is not remembered.
            return self._inside(parent, raw, -1, frozenset(), tracked_only=tracked_only)
        try:
            names = frozenset(name for name in RULE_FILES if _exists(name, descriptor))
            rules = self._inside(parent, raw, descriptor, names, tracked_only=tracked_only)
        finally:
            os.close(descriptor)
        self._known[path] = rules
        return rules

    def _inside(
        self, parent: DirectoryRules | None, raw: bytes, descriptor: int, names: frozenset[str], *, tracked_only: bool
    ) -> DirectoryRules | SkipReason:
        if parent is None:
            return self._reader.root_rules(descriptor, names)
        return self._reader.enter(parent, raw, descriptor, names, tracked_only=tracked_only)

    def _open(self, relative: str) -> int:
        root = os.open(self._root.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return open_beneath(root, relative, follow_links=False)
        finally:
            os.close(root)

    def _file_state(self, directory: str, name: str) -> SkipReason | None:
        try:
            descriptor = self._open(directory)
        except OSError as error:
            return SkipReason.SYMLINK if error.errno in (errno.ELOOP, errno.EXDEV) else None
        try:
            info = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            return None
        finally:
            os.close(descriptor)
        if stat.S_ISLNK(info.st_mode):
            return SkipReason.SYMLINK
        if not stat.S_ISREG(info.st_mode):
            return SkipReason.NOT_REGULAR
        return SkipReason.TOO_LARGE if info.st_size > self._limits.max_file_bytes else None


def _exists(name: str, descriptor: int) -> bool:
    try:
        os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    except OSError:
        return False
    return True
