"""Readiness and the breaker, with a clock of their own."""

from __future__ import annotations

from sightline_core.limits import Limits
from sightline_lsp.breaker import Breaker
from sightline_lsp.readiness import Readiness


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_ready_means_no_progress_and_quiet_since_the_last() -> None:
    clock = Clock()
    readiness = Readiness(Limits(lsp_settle_ms=300), settle=True, clock=clock)
    readiness.started()
    assert not readiness.is_ready
    clock.now += 0.31
    assert readiness.is_ready
    readiness.begin("t", "Loading")
    clock.now += 9
    assert (readiness.is_ready, readiness.detail) == (False, "Loading")
    readiness.end("t")
    assert not readiness.is_ready
    clock.now += 0.31
    assert readiness.is_ready
    readiness.end("never begun")
    assert readiness.is_ready


async def test_tokens_are_bounded_and_a_hold_is_released() -> None:
    readiness = Readiness(Limits(lsp_max_progress_tokens=3), settle=False, clock=Clock())
    for token in range(50):
        readiness.begin(token, "x")
    for token in range(3):
        readiness.end(token)
    assert readiness.is_ready
    readiness.hold()
    assert not readiness.is_ready
    readiness.release()
    assert readiness.is_ready


async def test_silent_progress_is_not_waited_for() -> None:
    clock = Clock()
    readiness = Readiness(Limits(lsp_progress_silence_s=5), settle=False, clock=clock)
    readiness.begin("t", "x")
    clock.now += 6
    assert await readiness.wait(1_000_000) is False


def test_pauses_double_and_five_starts_are_the_end() -> None:
    clock = Clock()
    breaker = Breaker(Limits(lsp_backoff_first_s=1, lsp_backoff_max_s=3), clock)
    pauses = []
    for _ in range(5):
        assert not breaker.is_open
        clock.now += breaker.delay_s()
        breaker.started()
        breaker.died()
        pauses.append(breaker.delay_s())
    assert (pauses, breaker.is_open) == ([0, 1, 2, 3, 3], True)
    clock.now += 10_000
    assert breaker.is_open
    breaker.reset()
    assert (breaker.is_open, breaker.delay_s(), breaker.total_starts) == (False, 0, 5)


def test_a_server_that_ran_long_starts_with_a_clean_record() -> None:
    clock = Clock()
    breaker = Breaker(Limits(lsp_start_window_s=180), clock)
    for _ in range(20):
        breaker.started()
        clock.now += 181
        breaker.died()
        assert (breaker.is_open, breaker.delay_s()) == (False, 0)
