"""Progress shows the contract's messages and never goes back."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline_core.progress import STAGE_SPANS, Counters, Progress, ProgressBoard, Stage, describe, describe_end

COUNTS = st.integers(min_value=0, max_value=10**7)
REPORTS = st.lists(st.tuples(st.sampled_from(Stage), st.builds(Counters, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)))


@pytest.mark.parametrize(
    ("stage", "counters", "message"),
    [
        (Stage.DISCOVERY, Counters(), "Scanning files: 0 discovered"),
        (Stage.DISCOVERY, Counters(scanned=1234), "Scanning files: 1234 discovered"),
        (Stage.PARSING, Counters(parsed=1, total=3), "Parsing files: 1/3 (33%)"),
        (Stage.PARSING, Counters(parsed=3, total=3), "Parsing files: 3/3 (100%)"),
        (Stage.PARSING, Counters(parsed=0, total=0), "Parsing files: 0/0 (0%)"),
        (Stage.INDEXING, Counters(indexed=2, total=3, symbols=40), "Indexing: 2/3 files, 40 symbols"),
        (Stage.FINALIZING, Counters(indexed=3, total=3, symbols=40), "Finalizing index..."),
    ],
)
def test_a_stage_has_the_message_of_the_contract(stage: Stage, counters: Counters, message: str) -> None:
    assert describe(stage, counters) == message


def test_the_end_has_the_message_of_the_contract() -> None:
    assert describe_end(3, 40, 1.26) == "Indexed 3 files, 40 symbols in 1.3s"


@pytest.mark.parametrize(
    ("stage", "start", "end"),
    [
        (Stage.DISCOVERY, 0, 10),
        (Stage.PARSING, 10, 70),
        (Stage.INDEXING, 70, 95),
        (Stage.FINALIZING, 95, 99),
    ],
)
def test_a_stage_fills_its_stretch_of_the_percentage(stage: Stage, start: int, end: int) -> None:
    assert (STAGE_SPANS[stage].start, STAGE_SPANS[stage].end) == (start, end)
    board = ProgressBoard()
    board.report(stage, Counters())
    assert board.latest.percentage == start
    board.report(stage, Counters(scanned=10**9, parsed=5, indexed=5, total=5))
    assert start <= board.latest.percentage <= end


def test_a_full_parse_reaches_seventy_and_a_full_index_ninety_five() -> None:
    board = ProgressBoard()
    board.report(Stage.PARSING, Counters(parsed=5, total=5))
    assert board.latest.percentage == 70
    board.report(Stage.INDEXING, Counters(indexed=5, total=5))
    assert board.latest.percentage == 95


@given(REPORTS)
def test_the_percentage_never_goes_back_and_never_leaves_its_bounds(reports: list[tuple[Stage, Counters]]) -> None:
    seen: list[Progress] = []
    board = ProgressBoard(seen.append)
    for stage, counters in reports:
        board.report(stage, counters)
    percentages = [0, *(progress.percentage for progress in seen)]
    assert percentages == sorted(percentages)
    assert all(0 <= percentage <= 99 for percentage in percentages)
    assert len(seen) == len(reports)
    if seen:
        assert board.latest == seen[-1]


def test_reports_from_two_threads_leave_the_highest_percentage() -> None:
    board = ProgressBoard()
    barrier = threading.Barrier(2)

    def report(stage: Stage) -> None:
        barrier.wait(timeout=5)
        for done in range(500):
            board.report(stage, Counters(parsed=done + 1, indexed=done + 1, total=500))

    threads = [threading.Thread(target=report, args=(stage,)) for stage in (Stage.PARSING, Stage.INDEXING)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
        assert not thread.is_alive()
    assert board.latest.percentage == 95
