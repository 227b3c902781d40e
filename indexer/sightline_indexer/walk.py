"""Files of a tree (placeholder of this branch: everything below the root but `.git`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot


class SkipReason(StrEnum):
    """Why a file is not indexed."""

    TOO_LARGE = "too_large"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file by its path relative to the root, with the stat that tells whether it changed."""

    relative: str
    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Walk:
    """The files of a tree, sorted by path, and what was left out."""

    files: tuple[FoundFile, ...]
    skipped: Mapping[SkipReason, int]
    unreadable: tuple[str, ...]


def walk_files(
    root: RepoRoot,
    limits: Limits,
    *,
    on_progress: Callable[[int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Walk:
    """Every regular file."""
    found: list[FoundFile] = []
    large = 0
    folders = [""]
    while folders and not (cancelled is not None and cancelled()):
        folder = folders.pop()
        with os.scandir(os.path.join(root.path, folder)) as entries:
            for entry in entries:
                relative = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != ".git":
                        folders.append(relative)
                elif entry.is_file(follow_symlinks=False):
                    info = entry.stat(follow_symlinks=False)
                    if info.st_size > limits.max_file_bytes:
                        large += 1
                    else:
                        found.append(FoundFile(relative, info.st_size, info.st_mtime_ns, info.st_ino))
        if on_progress is not None:
            on_progress(len(found))
    found.sort(key=lambda file: file.relative)
    return Walk(tuple(found), {SkipReason.TOO_LARGE: large} if large else {}, ())
