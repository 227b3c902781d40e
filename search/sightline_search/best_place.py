"""The place in a file that answers a question best: where most of its words stand together.

**Invariant**: bounded work a file: a few occurrences of each word are looked at, rare words first.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sightline_core.limits import Limits
from sightline_search.terms import Term

_EPSILON = 1e-9
# What a word inside another one counts.
_PIECE = 0.5


@dataclass(frozen=True, slots=True)
class BestPlace:
    """A line (1-based) with its text, how much of the question's weight stands near it, and the words seen at all."""

    line: int
    text: bytes
    weight: float
    matches: int


class _Seen(NamedTuple):
    at: int
    word: int
    weight: float


def search_words(terms: Sequence[Term]) -> list[tuple[bytes, float]]:
    """The words to look for in a file, with their weight."""
    words: dict[bytes, float] = {}
    for term in terms:
        encoded = term.word.encode()
        words[encoded] = max(words.get(encoded, 0.0), term.weight)
        for part in term.parts:
            if len(part) > 2:
                words.setdefault(part.encode(), term.weight / (len(term.parts) + 1))
    return list(words.items())


def find_best_place(data: bytes, words: Sequence[tuple[bytes, float]], limits: Limits) -> BestPlace | None:
    """The best line of a text; None when no word stands in it."""
    lowered = data.lower()
    seen: list[_Seen] = []
    for number, (word, weight) in enumerate(words):
        at = lowered.find(word)
        count = 0
        while at >= 0 and count < limits.max_place_matches:
            # A word on its own is worth more than a piece of another one.
            seen.append(_Seen(at, number, weight if _is_whole(lowered, at, len(word)) else weight * _PIECE))
            count += 1
            at = lowered.find(word, at + len(word))
    if not seen:
        return None
    seen.sort()
    start, weight = _best_window(seen, limits.place_window_bytes)
    line_start = _best_line(data, seen, start, limits.place_window_bytes)
    line_end = data.find(b"\n", line_start)
    text = data[line_start : line_end if line_end >= 0 else len(data)]
    return BestPlace(data.count(b"\n", 0, line_start) + 1, text, weight, len(seen))


def _best_window(seen: list[_Seen], width: int) -> tuple[int, float]:
    """The index of the first word of the stretch of `width` bytes with the greatest weight of distinct words."""
    counts: dict[int, int] = {}
    heaviest: dict[int, float] = {}
    for item in seen:
        heaviest[item.word] = max(heaviest.get(item.word, 0.0), item.weight)
    total = best = 0.0
    best_start = left = 0
    for item in seen:
        counts[item.word] = counts.get(item.word, 0) + 1
        if counts[item.word] == 1:
            total += heaviest[item.word]
        while item.at - seen[left].at > width:
            word = seen[left].word
            counts[word] -= 1
            if not counts[word]:
                total -= heaviest[word]
            left += 1
        if total > best + _EPSILON:
            best, best_start = total, left
    return best_start, best


def _best_line(data: bytes, seen: list[_Seen], start: int, width: int) -> int:
    """Where the line with the most weight inside a window begins."""
    end = bisect_left(seen, seen[start].at + width + 1, key=lambda item: item.at)
    lines: dict[int, dict[int, float]] = {}
    for item in seen[start:end]:
        begin = data.rfind(b"\n", 0, item.at) + 1
        lines.setdefault(begin, {})[item.word] = item.weight
    return max(lines, key=lambda begin: (sum(lines[begin].values()), -begin))


def _is_whole(text: bytes, at: int, length: int) -> bool:
    before = text[at - 1 : at] if at else b" "
    after = text[at + length : at + length + 1] or b" "
    return not (before.isalnum() or before == b"_") and not (after.isalnum() or after == b"_")
