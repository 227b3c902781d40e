"""The lines of one file that a pattern matches.

**Invariant**: the same lines as a line-oriented search program finds: each line once, by its first match; nothing
after the last line break. Work between two looks at the clock is bounded by a window of whole lines.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from sightline_search.pattern import Pattern


@dataclass(frozen=True, slots=True)
class LineMatch:
    """A match: its lines are 1-based, `start` and `end` are byte offsets in `text`, the bytes of these lines."""

    line: int
    end_line: int
    start: int
    end: int
    text: bytes


class DeadlineError(Exception):
    """Time ran out in the middle of a file."""


def find_lines(
    data: bytes, pattern: Pattern, wanted: int, *, after_line: int = 0, deadline: float, window_bytes: int
) -> list[LineMatch]:
    """The first `wanted` matches that begin after a line; raises DeadlineError."""
    found: list[LineMatch] = []
    at, line = _line_after(data, after_line)
    counted = at
    if wanted <= 0:
        return found
    for start, end in _spans(data, pattern, at, deadline, window_bytes):
        line += data.count(b"\n", counted, start)
        counted = start
        found.append(_line_match(data, start, end, line))
        if len(found) == wanted:
            break
    return found


def count_lines(data: bytes, pattern: Pattern, *, deadline: float, window_bytes: int) -> int:
    """How many lines match; raises DeadlineError."""
    return sum(1 for _ in _spans(data, pattern, 0, deadline, window_bytes))


def first_match(data: bytes, pattern: Pattern, after: int, *, deadline: float, window_bytes: int) -> int | None:
    """Where the first match from `after`, the begin of a line, begins; raises DeadlineError."""
    return next((start for start, _ in _spans(data, pattern, after, deadline, window_bytes)), None)


def _spans(data: bytes, pattern: Pattern, at: int, deadline: float, window_bytes: int) -> Iterator[tuple[int, int]]:
    """The first match of every line that has one, from `at` on."""
    size = len(data)
    search = pattern.regex.search
    while at < size:
        stop = size if pattern.spans_lines else _window_end(data, at, window_bytes)
        match = search(data, at, stop)
        start, end = (stop, stop) if match is None else match.span()
        if match is None or _is_beyond(data, start, stop):
            if stop < size and time.monotonic() > deadline:
                raise DeadlineError
            at = stop
            continue
        yield start, end
        # A match that ends with a line break does not reach into the next line.
        at = data.find(b"\n", max(end - 1, start)) + 1 or size


def _line_match(data: bytes, start: int, end: int, line: int) -> LineMatch:
    first = data.rfind(b"\n", 0, start) + 1
    last = data.find(b"\n", max(end - 1, start))
    if last < 0:
        last = len(data)
    text = data[first:last]
    return LineMatch(line, line + text.count(b"\n"), start - first, min(end, last) - first, text)


def _is_beyond(data: bytes, start: int, stop: int) -> bool:
    """Whether an empty match at the end of a window lies on the line after it, or after the last line."""
    return start == stop and data[stop - 1 : stop] == b"\n"


def _window_end(data: bytes, at: int, window_bytes: int) -> int:
    if len(data) - at <= window_bytes:
        return len(data)
    return data.find(b"\n", at + window_bytes) + 1 or len(data)


def _line_after(data: bytes, line: int) -> tuple[int, int]:
    """Where the line after `line` begins, and its number."""
    at = 0
    for number in range(line):
        following = data.find(b"\n", at) + 1
        if not following:
            return len(data), number + 1
        at = following
    return at, line + 1
