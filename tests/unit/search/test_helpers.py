"""Processes that help with searches: the same answers, and nothing lost when one fails."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.paths import RepoRoot
from sightline_indexer.store import Snapshot
from sightline_search.engine import search
from sightline_search.model import DetailLevel, Filters, SearchMode, SearchOptions, SearchResult
from sightline_search.search_helpers import SearchHelpers
from sightline_search.truncate import fit_result
from support.processes import children_running

LIMITS = replace(DEFAULT_LIMITS, min_helped_searches=1, min_helped_files=0)
START_S = 30.0
PROGRAM = "sightline_search.helper_process"


@pytest.fixture
def helpers() -> Iterator[SearchHelpers]:
    made = SearchHelpers(LIMITS, 2)
    yield made
    made.close()


def help_with(
    helpers: SearchHelpers, snapshot: Snapshot, root: RepoRoot, query: str, options: SearchOptions | None = None
) -> SearchResult | None:
    with helpers.noticing():
        end = time.monotonic() + START_S
        return helpers.search(snapshot, root, query, options or SearchOptions(), end, fits=False)


def ready(helpers: SearchHelpers, snapshot: Snapshot, root: RepoRoot) -> SearchResult:
    """Ask until a helper has started: until then every caller is sent away."""
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        found = help_with(helpers, snapshot, root, "discount")
        if found is not None:
            return found
        threading.Event().wait(0.01)
    raise AssertionError("no helper started")


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("discount for loyal customers", SearchOptions()),
        ("discount", SearchOptions(mode=SearchMode.TEXT, limit=3, explain=True)),
        ("Cart", SearchOptions(mode=SearchMode.SYMBOL, detail=DetailLevel.CONTEXT)),
        ("src/shop", SearchOptions(mode=SearchMode.PATH)),
        ("no_such_name_anywhere", SearchOptions()),
        ("discount", SearchOptions(filters=Filters(paths=("src/",), include_tests=False), count_only=True)),
    ],
)
def test_a_helper_answers_as_this_process_does(
    helpers: SearchHelpers, snapshot: Snapshot, root: RepoRoot, query: str, options: SearchOptions
) -> None:
    ready(helpers, snapshot, root)
    own = search(snapshot, root, query, options, LIMITS, time.monotonic() + START_S)
    assert help_with(helpers, snapshot, root, query, options) == own


def test_an_answer_is_fitted_where_it_was_found(helpers: SearchHelpers, snapshot: Snapshot, root: RepoRoot) -> None:
    ready(helpers, snapshot, root)
    options = SearchOptions(max_tokens=60)
    end = time.monotonic() + START_S
    own = fit_result(search(snapshot, root, "discount", options, LIMITS, end), options, LIMITS)
    assert own.cuts
    with helpers.noticing():
        assert helpers.search(snapshot, root, "discount", options, end, fits=True) == own


def test_many_callers_get_their_own_answers(helpers: SearchHelpers, snapshot: Snapshot, root: RepoRoot) -> None:
    ready(helpers, snapshot, root)
    queries = ["discount", "cart", "loyal", "customers", "price", "total"] * 6
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda query: help_with(helpers, snapshot, root, query), queries))
    for query, answer in zip(queries, answers, strict=True):
        assert answer == search(snapshot, root, query, SearchOptions(), LIMITS, time.monotonic() + START_S)


def test_what_a_search_refuses_is_refused_with_its_code(
    helpers: SearchHelpers, snapshot: Snapshot, root: RepoRoot
) -> None:
    ready(helpers, snapshot, root)
    with pytest.raises(SightlineError) as caught:
        help_with(helpers, snapshot, root, "x", SearchOptions(cursor="nonsense"))
    assert caught.value.code is ErrorCode.INVALID_INPUT
    assert help_with(helpers, snapshot, root, "discount") is not None


def test_a_killed_helper_sends_the_caller_away_and_is_replaced(
    helpers: SearchHelpers, snapshot: Snapshot, root: RepoRoot
) -> None:
    first = ready(helpers, snapshot, root)
    victims = children_running(PROGRAM)
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    assert help_with(helpers, snapshot, root, "discount") is None
    assert ready(helpers, snapshot, root) == first
    assert not children_running(PROGRAM) & victims


def test_helpers_that_always_fail_are_given_up(snapshot: Snapshot, root: RepoRoot) -> None:
    helpers = SearchHelpers(replace(LIMITS, helper_max_failures=1), 1)
    try:
        ready(helpers, snapshot, root)
        for pid in children_running(PROGRAM):
            os.kill(pid, signal.SIGKILL)
        assert help_with(helpers, snapshot, root, "discount") is None
        assert help_with(helpers, snapshot, root, "discount") is None
        assert not children_running(PROGRAM)
    finally:
        helpers.close()


@pytest.mark.parametrize(
    "limits",
    [replace(LIMITS, min_helped_searches=2), replace(LIMITS, min_helped_files=1_000_000)],
    ids=["a single search", "a small index"],
)
def test_no_helper_is_started_for(limits, snapshot: Snapshot, root: RepoRoot) -> None:
    helpers = SearchHelpers(limits, 2)
    assert help_with(helpers, snapshot, root, "discount") is None
    assert not children_running(PROGRAM)
    helpers.close()


def test_a_text_that_no_message_can_carry_is_left_to_the_caller(
    helpers: SearchHelpers, snapshot: Snapshot, root: RepoRoot
) -> None:
    ready(helpers, snapshot, root)
    assert help_with(helpers, snapshot, root, "lone \ud800") is None
    assert help_with(helpers, snapshot, root, "discount") is not None


def test_helpers_work_in_a_process_with_very_many_open_files(snapshot: Snapshot, root: RepoRoot) -> None:
    # A server of many workspaces has more descriptors than `select` can name.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    others = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    helpers = SearchHelpers(LIMITS, 1)
    try:
        ready(helpers, snapshot, root)
    finally:
        helpers.close()
        for descriptor in others:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_helpers_end_when_nobody_needs_them_and_at_the_close(snapshot: Snapshot, root: RepoRoot) -> None:
    helpers = SearchHelpers(replace(LIMITS, helper_idle_s=0.0), 1)
    ready(helpers, snapshot, root)
    assert len(children_running(PROGRAM)) == 1
    helpers.end_idle()
    assert not children_running(PROGRAM)
    ready(helpers, snapshot, root)
    helpers.close()
    assert not children_running(PROGRAM)
    assert help_with(helpers, snapshot, root, "discount") is None
