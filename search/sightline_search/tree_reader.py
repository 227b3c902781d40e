"""Reading many files below a root quickly, each as the bytes that a pattern is matched against.

**Invariant**: a directory is opened beneath the root without following links, a file by its bare name in that
directory, again without following a link: no swap of a link or a directory leads outside.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot, open_beneath
from sightline_core.text import decode, is_binary

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW
_HEAD_BYTES = 8192
_UTF8_MARK = b"\xef\xbb\xbf"
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's bytes without a byte-order mark, UTF-16 and UTF-32 made UTF-8, and the stat they were read under."""

    data: bytes
    size: int
    mtime_ns: int
    inode: int


class TreeReader:
    """Reads files of one root; remembers the last directory, because neighbours are read one after the other.

    Not thread-safe: each thread has its own.
    """

    def __init__(self, root: RepoRoot, limits: Limits) -> None:
        self._root = os.open(root.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._max_bytes = limits.max_file_bytes
        self._folder = ""
        self._descriptor = self._root

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the directories."""
        self._leave()
        os.close(self._root)

    def read(self, path: str) -> FileText | None:
        """The text of a file; None when it is gone, unreadable, too large, binary or no regular file by now."""
        folder, _, name = path.rpartition("/")
        try:
            if folder != self._folder:
                self._enter(folder)
            descriptor = os.open(name, _FLAGS, dir_fd=self._descriptor)
        except OSError:
            return None
        try:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode) or info.st_size > self._max_bytes:
                return None
            data = _read_all(descriptor, info.st_size, self._max_bytes)
        except OSError:
            return None
        finally:
            os.close(descriptor)
        if is_binary(data[:_HEAD_BYTES]):
            return None
        return FileText(_as_utf8(data), info.st_size, info.st_mtime_ns, info.st_ino)

    def _enter(self, folder: str) -> None:
        self._leave()
        if folder:
            self._descriptor = open_beneath(self._root, folder, follow_links=False)
            self._folder = folder

    def _leave(self) -> None:
        if self._descriptor != self._root:
            os.close(self._descriptor)
        self._descriptor = self._root
        self._folder = ""


def _read_all(descriptor: int, size: int, bound: int) -> bytes:
    # One byte more than expected, so that the end of the file is seen without another call.
    data = os.read(descriptor, size + 1)
    if len(data) == size:
        return data
    chunks = [data]
    left = bound - len(data)
    while left > 0 and (chunk := os.read(descriptor, left)):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def _as_utf8(data: bytes) -> bytes:
    if data.startswith(_UTF8_MARK):
        return data[len(_UTF8_MARK) :]
    if data.startswith(_WIDE_MARKS):
        return decode(data).encode("utf-8", "replace")
    return data
