"""Byte positions of a syntax tree as lines and code-point columns.

**Invariant**: tree-sitter counts bytes and starts at zero; past this module positions are 1-based code points.
"""

from __future__ import annotations

from sightline_core.types import Position


class Columns:
    """Converts the points of one UTF-8 source; plain arithmetic while the source is ASCII."""

    __slots__ = ("_ascii", "_source")

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._ascii = source.isascii()

    def position(self, byte: int, point: tuple[int, int]) -> Position:
        """The position of the byte at offset `byte`, which the tree has at `point` (row, byte column)."""
        return Position(*self.place(byte, point))

    def place(self, byte: int, point: tuple[int, int]) -> tuple[int, int]:
        """The same as a plain line and column."""
        row, column = point
        if not self._ascii and column:
            column = len(self._source[byte - column : byte].decode("utf-8", "ignore"))
        return row + 1, column + 1

    def places(
        self,
        first: int,
        first_point: tuple[int, int],
        second: int,
        second_point: tuple[int, int],
        third: int,
        third_point: tuple[int, int],
    ) -> tuple[int, int, int, int, int, int]:
        """Lines and columns of three bytes: a definition has three, and a call for each would cost more than they."""
        if self._ascii:
            (line, column), (second_line, second_column), (third_line, third_column) = (
                first_point,
                second_point,
                third_point,
            )
            return line + 1, column + 1, second_line + 1, second_column + 1, third_line + 1, third_column + 1
        return *self.place(first, first_point), *self.place(second, second_point), *self.place(third, third_point)
