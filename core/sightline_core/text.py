"""Text of a file: decoding, lines, and columns in the encodings that peers count in.

**Invariant**: everywhere else a line is 1-based and ends at a line feed, and a column is a 1-based count of code
points; only this module converts.
"""

from __future__ import annotations

import codecs
import unicodedata
from bisect import bisect_right
from enum import StrEnum


class ColumnUnit(StrEnum):
    """What one column step is, by the names of the language-server protocol."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


_BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# What a reader must never see raw: C0 and C1 controls but tab and line breaks, and the bidirectional overrides
# and isolates that make a line look like another one.
_HIDDEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)))
_BIDI = {
    code: f"\\u{code:04x}"
    for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF)
}


def decode(data: bytes) -> str:
    """Text of a file: by its byte-order mark, else UTF-8, else Latin-1; never raises, never a lone surrogate."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def is_binary(head: bytes) -> bool:
    """True when the first bytes of a file are not text: a NUL outside UTF-16 and UTF-32."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
        return False
    return b"\0" in head


def clean(text: str) -> str:
    """Foreign text made harmless: controls removed, bidirectional controls spelled out, surrogates replaced."""
    if text.isascii() and text.isprintable():
        return text
    visible = text.translate(_HIDDEN).translate(_BIDI)
    return visible.encode("utf-8", "replace").decode("utf-8")


def clean_line(text: str) -> str:
    """Like `clean`, on one line: line breaks and tabs become spaces."""
    if text.isascii() and text.isprintable():
        return text.strip()
    return clean(text).replace("\r\n", " ").replace("\n", " ").replace("\r", " ").replace("\t", " ").strip()


class LineIndex:
    """The lines of one text.

    Lines break at a line feed. With `lone_cr` a carriage return without a line feed breaks too, which is how
    language servers count.
    """

    __slots__ = ("_starts", "text")

    def __init__(self, text: str, *, lone_cr: bool = False) -> None:
        self.text = text
        self._starts = _line_starts(text, lone_cr=lone_cr)

    @property
    def line_count(self) -> int:
        """How many lines there are; a final line feed does not begin another one."""
        if len(self._starts) > 1 and self._starts[-1] == len(self.text):
            return len(self._starts) - 1
        return len(self._starts)

    def line(self, number: int) -> str:
        """Line `number` (1-based) without its line break; empty outside the text."""
        if not 1 <= number <= len(self._starts):
            return ""
        start = self._starts[number - 1]
        end = self._starts[number] if number < len(self._starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def line_of(self, offset: int) -> int:
        """The 1-based line that holds the code point at `offset`."""
        return bisect_right(self._starts, max(0, min(offset, len(self.text))))

    def line_start(self, number: int) -> int:
        """The offset of the first code point of line `number`, clamped to the text."""
        if number < 1:
            return 0
        return self._starts[number - 1] if number <= len(self._starts) else len(self.text)

    def column_of(self, offset: int) -> int:
        """The 1-based code-point column of `offset`."""
        return offset - self._starts[self.line_of(offset) - 1] + 1


def column_to_units(line: str, column: int, unit: ColumnUnit) -> int:
    """A 1-based code-point column as a 0-based offset in `unit`, clamped to the line."""
    prefix = line[: max(0, column - 1)]
    if unit is ColumnUnit.UTF32 or prefix.isascii():
        return len(prefix)
    if unit is ColumnUnit.UTF8:
        return len(prefix.encode("utf-8", "surrogatepass"))
    return len(prefix.encode("utf-16-le", "surrogatepass")) // 2


def units_to_column(line: str, offset: int, unit: ColumnUnit) -> int:
    """A 0-based offset in `unit` as a 1-based code-point column.

    An offset beyond the line is clamped to its end, one inside a code point to that code point.
    """
    if offset <= 0:
        return 1
    if unit is ColumnUnit.UTF32 or line.isascii():
        return min(offset, len(line)) + 1
    name, unit_bytes = ("utf-8", 1) if unit is ColumnUnit.UTF8 else ("utf-16-le", 2)
    try:
        data = line.encode(name)
    except UnicodeEncodeError:
        # Half a pair is no character to a codec; what stands in for it is as wide in both units.
        data = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in line).encode(name)
    return len(data[: offset * unit_bytes].decode(name, "ignore")) + 1


def display_width(text: str) -> int:
    """How many terminal cells `text` takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _line_starts(text: str, *, lone_cr: bool) -> list[int]:
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    if lone_cr and "\r" in text:
        extra = [i + 1 for i, c in enumerate(text) if c == "\r" and text[i + 1 : i + 2] != "\n"]
        starts = sorted({*starts, *extra})
    return starts
