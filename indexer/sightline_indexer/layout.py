"""Where the parts of a workspace's index lie on disk.

**Invariant**: the file `current` names the one index that is read. A rebuild grows beside it and takes its place by
renaming that file, so there is no moment without the old or the new one.
"""

from __future__ import annotations

import os
import re
import shutil

from sightline_indexer.manifest import create_manifest
from sightline_indexer.schema import create_text_index
from sightline_indexer.vocabulary import write_empty_vocabulary

TEXT_FOLDER = "text"
FINGERPRINT_NAME = "fingerprint.json"
LOCK_NAME = "write.lock"
JOBS_NAME = "jobs.json"
_CURRENT_NAME = "current"
_INDEX_NAME = re.compile(r"index-(\d{1,18})")


def prepare_folder(folder: str) -> None:
    """Make the folder of a workspace, readable by its owner alone."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    os.chmod(folder, 0o700)


def current_index(folder: str) -> str | None:
    """The folder of the index that is read, None when there is none."""
    try:
        with open(os.path.join(folder, _CURRENT_NAME), encoding="utf-8") as file:
            name = file.read().strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError):
        name = ""
    # A damaged pointer leads to an index that cannot be opened, which is then reported as damage.
    return os.path.join(folder, name if _INDEX_NAME.fullmatch(name) else "index-damaged")


class CurrentIndex:
    """`current_index` of one folder, asked before every answer: the file is read again only when it was replaced.

    Not thread-safe.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = os.path.join(folder, _CURRENT_NAME)
        self._known: tuple[tuple[int, int, int], str | None] | None = None

    def read(self) -> str | None:
        """The folder of the index that is read now, None when there is none."""
        try:
            info = os.stat(self._path)
        except OSError:
            self._known = None
            return current_index(self._folder)
        stamp = (info.st_ino, info.st_mtime_ns, info.st_size)
        if self._known is None or self._known[0] != stamp:
            self._known = (stamp, current_index(self._folder))
        return self._known[1]


def create_index(folder: str, root: str) -> str:
    """A new, empty index beside the current one; `switch_to` makes it the current one."""
    numbers = [int(match[1]) for name in os.listdir(folder) if (match := _INDEX_NAME.fullmatch(name))]
    path = os.path.join(folder, f"index-{max(numbers, default=0) + 1}")
    text = os.path.join(path, TEXT_FOLDER)
    os.makedirs(text, mode=0o700)
    create_manifest(path, root)
    write_empty_vocabulary(path)
    create_text_index(text)
    return path


def switch_to(folder: str, index: str) -> None:
    """Make an index the current one, durably."""
    target = os.path.join(folder, _CURRENT_NAME)
    temporary = target + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(os.path.basename(index))
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, target)
    _sync_folder(folder)


def remove_others(folder: str) -> None:
    """Remove every index but the current one; only under the write lock."""
    keep = current_index(folder)
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if _INDEX_NAME.fullmatch(name) and path != keep:
            shutil.rmtree(path, ignore_errors=True)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
