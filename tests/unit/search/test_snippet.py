"""Which lines are shown, and how much of them."""

from __future__ import annotations

import dataclasses

import pytest

from sightline_core.limits import DEFAULT_LIMITS
from sightline_search.snippet import best_lines, cut_line, line_tokens

LINES = [f"line {number}" for number in range(1, 101)]


def numbers(important: list[int], **changes: int) -> list[int]:
    limits = dataclasses.replace(DEFAULT_LIMITS, **changes)
    return [line.number for line in best_lines(LINES, important, limits)]


def test_lines_around_an_important_one_are_shown() -> None:
    assert numbers([50]) == [48, 49, 50, 51, 52]


def test_windows_that_touch_are_one() -> None:
    assert numbers([10, 13]) == [8, 9, 10, 11, 12, 13, 14, 15]


def test_the_ends_of_a_file_end_a_window() -> None:
    assert numbers([1]) == [1, 2, 3]
    assert numbers([100]) == [98, 99, 100]


def test_important_lines_come_before_their_neighbours_when_room_is_short() -> None:
    assert numbers([80, 20, 50], max_snippet_lines=3) == [20, 50, 80]
    assert numbers([80, 20, 50], max_snippet_lines=2) == [20, 80]


@pytest.mark.parametrize("budget", [0, 5, 20, 100, 500])
def test_the_token_budget_holds(budget: int) -> None:
    shown = best_lines(LINES, list(range(1, 101)), DEFAULT_LIMITS, max_tokens=budget)
    assert sum(map(line_tokens, shown)) <= budget


def test_lines_outside_the_file_are_ignored() -> None:
    assert numbers([0, -3, 101]) == []
    assert best_lines([], [1], DEFAULT_LIMITS) == ()


def test_blank_lines_do_not_begin_or_end_a_window() -> None:
    lines = ["", "", "def f():", "", ""]
    assert [line.number for line in best_lines(lines, [3], DEFAULT_LIMITS)] == [3]


@pytest.mark.parametrize(
    ("column", "expected"), [(1, "abcdefghi…"), (13, "…jklmnopq…"), (26, "…rstuvwxyz"), (500, "…rstuvwxyz")]
)
def test_a_long_line_is_cut_around_its_match(column: int, expected: str) -> None:
    assert cut_line("abcdefghijklmnopqrstuvwxyz\r\n", column, column + 1, 10) == expected


def test_a_short_line_is_left_as_it_is_but_for_what_deceives() -> None:
    assert cut_line("\tx = 1\n", 1, 1, 10) == "\tx = 1"
    assert cut_line("a\u202eb\x00c", 1, 1, 40) == "a\\u202ebc"
