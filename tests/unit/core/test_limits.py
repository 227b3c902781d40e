"""Limits carry their unit in their name and are all positive."""

from __future__ import annotations

import math
import re
from dataclasses import fields

import pytest

from sightline_core.limits import DEFAULT_LIMITS, Limits

TIME_OR_SIZE = re.compile(r"_(s|ms|bytes|chars)$")
# A count names what it counts, in the plural, somewhere in the name: max_inflight_calls_per_session.
COUNT = re.compile(
    r"(^|_)[a-z]{2,}s(_per_[a-z]+|_in_[a-z]+)?$|_(capacity|port|depth|percent|ratio|factor|weight|boost)$"
)
NAMES = [item.name for item in fields(Limits)]


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_limit_ends_with_its_unit_or_names_what_it_counts(name: str) -> None:
    assert TIME_OR_SIZE.search(name) or COUNT.search(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_is_a_positive_finite_number(name: str) -> None:
    value = getattr(DEFAULT_LIMITS, name)
    assert isinstance(value, int | float)
    assert not isinstance(value, bool)
    assert math.isfinite(value)
    assert value > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_size_is_a_whole_number(name: str) -> None:
    if re.search(r"_(bytes|chars|ms)$", name):
        assert isinstance(getattr(DEFAULT_LIMITS, name), int)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("call_deadline_s", 45.0),
        ("max_structured_bytes", 48 * 1024),
        ("max_message_bytes", 4 * 1024 * 1024),
        ("max_auto_workspaces", 10),
        ("workspace_warmset_capacity", 3),
        ("max_file_bytes", 1024 * 1024),
        ("lsp_enrich_budget_ms", 400),
        ("lsp_navigation_timeout_s", 10.0),
        ("lsp_initialize_timeout_s", 300.0),
        ("lsp_idle_stop_s", 30 * 60),
        ("lsp_max_starts", 5),
        ("lsp_start_window_s", 180.0),
        ("lsp_max_message_bytes", 64 * 1024 * 1024),
        ("lsp_stderr_tail_bytes", 4096),
        ("lsp_retries", 3),
        ("lsp_watch_debounce_ms", 150),
        ("lsp_diagnostics_quiet_ms", 500),
        ("lsp_max_diagnostics_per_file", 1000),
        ("default_results", 10),
    ],
)
def test_the_defaults_are_the_numbers_of_the_contract(name: str, expected: float) -> None:
    assert getattr(DEFAULT_LIMITS, name) == expected
