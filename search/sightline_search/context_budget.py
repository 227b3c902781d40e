"""What of a context fits: items with their cost, and the lines that were given out already.

**Invariant**: the estimates of the items together stay within the budget, and no line of a file is in two items.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sightline_core.limits import Limits
from sightline_search.snippet import cut_line
from sightline_search.tokens import estimate_tokens


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file, both ends included."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ContextItem:
    """A stretch of code and why it is here."""

    path: str
    line_start: int
    line_end: int
    symbol: str
    reason: str
    content: str


class Budget:
    """Takes items as long as they fit; one item takes at most `share` tokens."""

    def __init__(self, tokens: int, share: int, limits: Limits) -> None:
        self.items: list[ContextItem] = []
        self.spent = 0
        self.left_out = 0
        self._tokens = tokens
        self._share = share
        self._limits = limits
        self._taken: dict[str, list[Span]] = {}

    @property
    def is_full(self) -> bool:
        """Whether not even a few lines would fit."""
        return self._tokens - self.spent < self._limits.min_context_tokens

    def try_whole(self, span: Span, lines: Sequence[str], symbol: str, reason: str) -> bool:
        """Take all lines of a span; True when they are shown, now or already."""
        if self._is_shown(span):
            return True
        if self._touches(span) or span.last < span.first:
            return False
        item = self._item(span, lines, symbol, reason)
        cost = item_tokens(item)
        if cost > min(self._share, self._tokens - self.spent):
            self.left_out += 1
            return False
        self._take(item, span, cost)
        return True

    def add_head(self, span: Span, lines: Sequence[str], symbol: str, reason: str) -> None:
        """Take as many lines from the beginning of a span as fit and were not shown yet."""
        taken = self._taken.get(span.path, [])
        first = span.first
        while any(other.first <= first <= other.last for other in taken):
            first += 1
        last = min([span.last, *(other.first - 1 for other in taken if other.first > first)])
        low, high = first, last
        best: tuple[ContextItem, int, Span] | None = None
        room = min(self._share, self._tokens - self.spent)
        while low <= high:
            middle = (low + high) // 2
            part = Span(span.path, first, middle)
            item = self._item(part, lines, symbol, reason)
            cost = item_tokens(item)
            if cost <= room:
                best = (item, cost, part)
                low = middle + 1
            else:
                high = middle - 1
        if best is not None:
            item, cost, part = best
            self._take(item, part, cost)
        elif first <= last:
            self.left_out += 1

    def _take(self, item: ContextItem, span: Span, cost: int) -> None:
        self.items.append(item)
        self.spent += cost
        self._taken.setdefault(span.path, []).append(span)

    def _item(self, span: Span, lines: Sequence[str], symbol: str, reason: str) -> ContextItem:
        shown = (
            cut_line(line, 1, 1, self._limits.max_context_line_chars) for line in lines[span.first - 1 : span.last]
        )
        return ContextItem(span.path, span.first, span.last, symbol, reason, "\n".join(shown))

    def _is_shown(self, span: Span) -> bool:
        taken = self._taken.get(span.path, [])
        return any(other.first <= span.first and span.last <= other.last for other in taken)

    def _touches(self, span: Span) -> bool:
        taken = self._taken.get(span.path, [])
        return any(other.first <= span.last and span.first <= other.last for other in taken)


def item_tokens(item: ContextItem) -> int:
    """An upper estimate of what an item takes in an answer."""
    value = {
        "path": item.path,
        "line_start": item.line_start,
        "line_end": item.line_end,
        "symbol": item.symbol,
        "reason": item.reason,
        "content": item.content,
    }
    return estimate_tokens(json.dumps(value, ensure_ascii=False)) + 1
