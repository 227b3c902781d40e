"""The text of files below the roots, read through the one door and kept while the disk agrees.

**Invariant**: a text is handed out only when its file's stat is the one it was read with and the file was not written
so shortly before that another write could hide behind the same time stamp.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from sightline_core.errors import SightlineError
from sightline_core.limits import Limits
from sightline_core.paths import RepoPath, RepoRoot
from sightline_core.text import ColumnUnit, LineIndex, column_to_units, decode, units_to_column
from sightline_core.types import Position

# Time stamps tick as coarsely as the kernel's timer; a file written within this span is read again.
_RACY_NS = 50_000_000


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells one state of a file from another."""

    mtime_ns: int
    size: int
    inode: int


class FileText:
    """One file's text with its lines, as Sightline and as language servers count them.

    `notes` is for whoever shows the text: what is worth keeping as long as the text is.
    """

    __slots__ = ("_ours", "_theirs", "notes", "stamp", "text")

    def __init__(self, text: str, stamp: Stamp | None = None) -> None:
        """`stamp` is the state of the file that the text was read from."""
        self.text = text
        self.stamp = stamp
        self.notes: object = None
        self._ours = LineIndex(text)
        lone_cr = "\r" in text and text.count("\r") != text.count("\r\n")
        self._theirs = LineIndex(text, lone_cr=True) if lone_cr else self._ours

    @property
    def lines(self) -> LineIndex:
        """The lines as Sightline counts them."""
        return self._ours

    def to_wire(self, position: Position, unit: ColumnUnit) -> tuple[int, int]:
        """Zero-based line and offset in `unit`, clamped to the text."""
        line = min(max(1, position.line), self._ours.line_count)
        column = position.column if position.line == line else 1
        if self._theirs is not self._ours:
            offset = self._ours.line_start(line) + min(column - 1, len(self._ours.line(line)))
            line, column = self._theirs.line_of(offset), self._theirs.column_of(offset)
        return line - 1, column_to_units(self._theirs.line(line), column, unit)

    def from_wire(self, line: int, offset: int, unit: ColumnUnit) -> Position:
        """The position a server means, clamped to the text."""
        number = line + 1
        if number > self._theirs.line_count:
            last = self._theirs.line_count
            # The end of the text is often given as the start of the line after the last.
            number, offset = last, len(self.text) * 4
        column = units_to_column(self._theirs.line(number), offset, unit)
        if self._theirs is self._ours:
            return Position(number, column)
        at = self._theirs.line_start(number) + column - 1
        return Position(self._ours.line_of(at), self._ours.column_of(at))


class Texts:
    """A bounded cache of file texts."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        # Long answers are converted in worker threads.
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, FileText] = OrderedDict()
        self._chars = 0

    def read(self, root: RepoRoot, path: RepoPath) -> FileText:
        """The current text; raises what `RepoRoot.read_file` raises."""
        key = path.absolute
        info = root.stat_file(path)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and kept.stamp == Stamp(info.st_mtime_ns, info.st_size, info.st_ino):
                self._kept.move_to_end(key)
                return kept
        content = root.read_file(path, self._limits.lsp_max_document_bytes)
        text = FileText(decode(content.data), Stamp(content.mtime_ns, content.size, content.inode))
        settled = time.time_ns() - content.mtime_ns > _RACY_NS
        with self._lock:
            self._drop(key)
            if settled:
                self._kept[key] = text
                self._chars += len(text.text)
            while len(self._kept) > self._limits.lsp_max_cached_texts or self._is_too_big():
                self._drop(next(iter(self._kept)))
        return text

    def _is_too_big(self) -> bool:
        return self._chars > self._limits.lsp_max_cached_text_chars

    def _drop(self, key: str) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._chars -= len(kept.text)

    def try_read(self, root: RepoRoot, path: RepoPath) -> FileText | None:
        """The current text, or None when the door refuses it or there is none."""
        try:
            return self.read(root, path)
        except SightlineError:
            return None
