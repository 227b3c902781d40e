"""The line at a place and the definition around it.

**Invariant**: text comes only from files that open through their root's door. A definition is named only while the
file is the very one that was indexed; what was read of a generation is kept as long as the text it belongs to.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import NamedTuple

from sightline_core.errors import SightlineError
from sightline_indexer.store import Snapshot
from sightline_lsp.texts import FileText, Stamp, Texts
from sightline_server.workspaces import Workspace

_LAST_LINE = 2**31 - 1


@dataclass(frozen=True, slots=True)
class _Spans:
    """First line, last line and qualified name of a file's definitions, by first line, the innermost last."""

    generation: int
    rows: Sequence[tuple[int, int, str]]
    starts: Sequence[int]

    def innermost(self, line: int) -> str:
        """The name of the last span that begins at or before a line and reaches it, empty when there is none."""
        for number in range(bisect_right(self.starts, line) - 1, -1, -1):
            _, end, name = self.rows[number]
            if end >= line:
                return name
        return ""


_NONE = _Spans(0, (), ())


class Surroundings(NamedTuple):
    """What is around the places of one file."""

    text: FileText
    spans: _Spans

    def line(self, number: int) -> str:
        """A line as it is in the file, empty outside of it."""
        return self.text.lines.line(number)

    def symbol_at(self, line: int) -> str:
        """The qualified name of the innermost definition around a line, empty when there is none."""
        return self.spans.innermost(line)


class RootReader:
    """Reads files of one root; its snapshot, if one is needed, is the same for all and closed by the stack."""

    def __init__(self, workspace: Workspace | None, texts: Texts, stack: ExitStack) -> None:
        self._workspace = workspace
        self._texts = texts
        self._stack = stack
        self._snapshot: Snapshot | None = None
        self._is_asked = False

    def read(self, path: str, text: FileText | None = None) -> Surroundings | None:
        """What is around the places of a file; None when it cannot be opened, as when it is gone.

        With a `text`, the one that the places were counted in, the file is not opened again.
        """
        if self._workspace is None:
            return None
        if text is None:
            root = self._workspace.root
            text = self._texts.try_read(root, root.known(path))
        return None if text is None else Surroundings(text, self._spans_of(path, text))

    def _spans_of(self, path: str, text: FileText) -> _Spans:
        snapshot = self._open_snapshot()
        if snapshot is None:
            return _NONE
        kept = text.notes
        # A text is dropped when the file is no longer what it was, and its spans with it.
        if not isinstance(kept, _Spans) or kept.generation != snapshot.record.generation:
            kept = text.notes = _read_spans(snapshot, path, text)
        return kept

    def _open_snapshot(self) -> Snapshot | None:
        if not self._is_asked:
            self._is_asked = True
            index = self._workspace.index if self._workspace is not None else None
            try:
                self._snapshot = self._stack.enter_context(index.snapshot()) if index is not None else None
            except SightlineError:
                # Not indexed yet, or not readable: places are shown without their enclosing symbol.
                self._snapshot = None
        return self._snapshot


def _read_spans(snapshot: Snapshot, path: str, text: FileText) -> _Spans:
    record = snapshot.file(path)
    # The index's lines are only right for the very file that was indexed.
    if record is None or Stamp(record.mtime_ns, record.size, record.inode) != text.stamp:
        return _Spans(snapshot.generation, (), ())
    rows = snapshot.spans_between(record.file_id, 0, _LAST_LINE)
    return _Spans(snapshot.generation, rows, [start for start, _, _ in rows])
