"""Lines of code to show: which ones, and how much of a long one.

**Invariant**: what is shown is text of the file on its real line numbers; controls are made visible, a cut is marked
with an ellipsis.
"""

from __future__ import annotations

from sightline_core.limits import Limits
from sightline_core.text import clean
from sightline_search.model import ShownLine

ELLIPSIS = "…"


def cut_line(text: str, column: int, end_column: int, max_chars: int) -> str:
    """A line without its indentation's excess, cut so that the part from `column` to `end_column` is seen."""
    text = clean(text.rstrip("\r\n"))
    if len(text) <= max_chars:
        return text
    start = max(0, column - 1)
    width = min(max(1, end_column - column), max_chars)
    lead = max(0, (max_chars - width) // 2)
    first = max(0, min(start - lead, len(text) - max_chars))
    cut = text[first : first + max_chars]
    if first > 0:
        cut = ELLIPSIS + cut[1:]
    if first + max_chars < len(text):
        cut = cut[:-1] + ELLIPSIS
    return cut


def lines_around(data: bytes, line: int, end_line: int, column: int, limits: Limits) -> tuple[ShownLine, ...]:
    """The lines of a match with a few around it."""
    before = after = limits.snippet_context_lines
    lines = data.split(b"\n")
    first = max(1, line - before)
    last = min(len(lines), min(end_line, line + limits.max_snippet_lines) + after)
    if last == len(lines) and not lines[-1]:
        last -= 1
    return tuple(
        ShownLine(
            number,
            cut_line(
                lines[number - 1].decode("utf-8", "replace"),
                column if number == line else 1,
                column if number == line else 1,
                limits.max_line_chars,
            ),
        )
        for number in range(first, last + 1)
    )
