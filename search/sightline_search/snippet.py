"""Lines of code to show: which ones, and how much of a long one.

**Invariant**: what is shown is text of the file under its real line numbers, each line once and in order, within a
budget of tokens; controls are made harmless, and a cut line says so with an ellipsis.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from sightline_core.limits import Limits
from sightline_core.text import clean
from sightline_search.model import ShownLine
from sightline_search.tokens import estimate_tokens

ELLIPSIS = "…"
_NUMBER_TOKENS = 8  # what a line number and its wrapping take on the wire


def best_lines(
    lines: Sequence[str],
    important: Sequence[int],
    limits: Limits,
    *,
    columns: Mapping[int, int] | None = None,
    max_tokens: int | None = None,
) -> tuple[ShownLine, ...]:
    """The important lines (1-based, best first) and, as far as the budget goes, those around them.

    `columns` says which part of a long line matters. Windows that touch are one.
    """
    left = limits.context_tokens if max_tokens is None else max_tokens
    shown: dict[int, ShownLine] = {}
    for number in _by_importance(important, len(lines), limits.snippet_context_lines):
        if number in shown:
            continue
        if len(shown) >= limits.max_snippet_lines:
            break
        column = columns.get(number, 1) if columns else 1
        line = ShownLine(number, cut_line(lines[number - 1], column, column, limits.max_line_chars))
        cost = line_tokens(line)
        if cost > left:
            break
        left -= cost
        shown[number] = line
    return tuple(shown[number] for number in sorted(_without_blank_ends(shown)))


def line_tokens(line: ShownLine) -> int:
    """An upper estimate of what a line takes in an answer."""
    return estimate_tokens(json.dumps(line.text, ensure_ascii=False)) + _NUMBER_TOKENS


def cut_line(text: str, column: int, end_column: int, max_chars: int) -> str:
    """A line without its end, cut so that the part from `column` to `end_column` is seen."""
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


def _by_importance(important: Sequence[int], line_count: int, around: int) -> Iterator[int]:
    """The important lines first, then their neighbours, nearest first."""
    inside = [number for number in important if 1 <= number <= line_count]
    yield from inside
    for distance in range(1, around + 1):
        for number in inside:
            for neighbour in (number - distance, number + distance):
                if 1 <= neighbour <= line_count:
                    yield neighbour


def _without_blank_ends(shown: Mapping[int, ShownLine]) -> list[int]:
    """Drop blank lines that begin or end a window: they cost and tell nothing."""
    kept = sorted(shown)
    while len(kept) > 1 and not shown[kept[0]].text.strip():
        kept.pop(0)
    while len(kept) > 1 and not shown[kept[-1]].text.strip():
        kept.pop()
    return kept
