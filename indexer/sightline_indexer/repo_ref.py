"""The git directory of a work tree, and the branch or commit it stands on, read without running git.

**Invariant**: nothing here starts a process. Files of a git directory are hostile: only regular files are read, to a
bound, and a text is believed only where it has the form that git writes.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass

from sightline_core.limits import DEFAULT_LIMITS, Limits

LIVE_REF = "live"
_SHORT_COMMIT_CHARS = 7  # as `git rev-parse --short` abbreviates by default
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCH = re.compile(r"ref: +refs/heads/([^\x00-\x20~^:?*\[\\\x7f]+)")
_OTHER_REF = re.compile(r"ref: +(refs/[^\x00-\x20~^:?*\[\\\x7f]+)")


@dataclass(frozen=True, slots=True)
class GitDirectory:
    """Where git keeps its state for the work tree at `work_tree`; `common` is shared by linked work trees."""

    work_tree: str
    path: str
    common: str


def read_ref(root: str, limits: Limits = DEFAULT_LIMITS) -> str:
    """The branch or short commit of the work tree that holds `root`; `live` outside git."""
    git = find_git_directory(root, limits)
    if git is None:
        return LIVE_REF
    return _ref_of(_read_text(os.path.join(git.path, "HEAD"), limits)) or LIVE_REF


_Stamp = tuple[int, int, int] | None


class RefReader:
    """`read_ref` of one root, asked before every answer: files are read again only when one of them changed.

    Git replaces its files by renaming, so a changed one has another inode. Any thread may ask.
    """

    def __init__(self, root: str, limits: Limits = DEFAULT_LIMITS) -> None:
        self._root = root
        self._limits = limits
        self._known: tuple[tuple[tuple[str, _Stamp], ...], str] | None = None

    def read(self) -> str:
        """The branch or short commit now."""
        known = self._known
        if known is not None and all(_stamp(path) == stamp for path, stamp in known[0]):
            return known[1]
        git = find_git_directory(self._root, self._limits)
        # Before the reading, so that a change in between is seen next time.
        absent = [(path, _stamp(path)) for path in self._nearer_places(git)]
        decisive = [] if git is None else [os.path.join(git.work_tree, ".git"), os.path.join(git.path, "HEAD")]
        present = [(path, _stamp(path)) for path in decisive]
        ref = read_ref(self._root, self._limits)
        # A `.git` that leads nowhere, such as one that is being made, can become a real one without being replaced.
        leads_nowhere = any(stamp is not None for _, stamp in absent)
        self._known = None if leads_nowhere else ((*absent, *present), ref)
        return ref

    def _nearer_places(self, git: GitDirectory | None) -> list[str]:
        """Where a git directory would come before the one that was found."""
        places: list[str] = []
        current = self._root
        for _ in range(self._limits.max_directory_depth):
            if git is not None and current == git.work_tree:
                break
            places.append(os.path.join(current, ".git"))
            parent = os.path.dirname(current)
            if parent == current:
                break
            current = parent
        return places


def _stamp(path: str) -> _Stamp:
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return None
    # A directory changes whenever anything in it does; that it is there is what counts.
    if stat.S_ISDIR(info.st_mode):
        return info.st_ino, 0, 0
    return info.st_ino, info.st_mtime_ns, info.st_size


def find_git_directory(path: str, limits: Limits = DEFAULT_LIMITS) -> GitDirectory | None:
    """The git directory of `path` or of its nearest parent that has one."""
    current = path
    for _ in range(limits.max_directory_depth):
        found = git_directory_at(current, limits)
        if found is not None:
            return found
        parent = os.path.dirname(current)
        if parent == current:
            return None
        current = parent
    return None


def git_directory_at(work_tree: str, limits: Limits = DEFAULT_LIMITS) -> GitDirectory | None:
    """The git directory of a work tree whose top is `work_tree`; follows the `.git` file of linked work trees."""
    path = os.path.join(work_tree, ".git")
    if not os.path.isdir(path):
        text = _read_text(path, limits)
        if text is None or not text.startswith("gitdir:"):
            return None
        path = os.path.normpath(os.path.join(work_tree, text.removeprefix("gitdir:").strip(" \n\r")))
    if _ref_of(_read_text(os.path.join(path, "HEAD"), limits)) is None:
        return None
    shared = _read_text(os.path.join(path, "commondir"), limits)
    common = os.path.normpath(os.path.join(path, shared.strip(" \n\r"))) if shared else path
    return GitDirectory(work_tree, path, os.path.realpath(common))


def read_regular(
    path: str, max_bytes: int, *, directory: int | None = None, follow_links: bool = True
) -> bytes | None:
    """The first `max_bytes` + 1 bytes of a regular file, None when there is none to read. Never blocks on a FIFO."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    try:
        descriptor = os.open(path, flags if follow_links else flags | os.O_NOFOLLOW, dir_fd=directory)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(max_bytes + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _read_text(path: str, limits: Limits) -> str | None:
    data = read_regular(path, limits.max_git_file_bytes)
    if data is None or len(data) > limits.max_git_file_bytes or b"\0" in data:
        return None
    return os.fsdecode(data)


def _ref_of(head: str | None) -> str | None:
    """What a HEAD file stands for, None when it is none."""
    if head is None:
        return None
    line = head.rstrip("\r\n ")
    branch = _BRANCH.fullmatch(line) or _OTHER_REF.fullmatch(line)
    if branch is not None:
        return branch.group(1)
    return line[:_SHORT_COMMIT_CHARS] if _COMMIT.fullmatch(line) else None
