"""Every code has a meaning, and an error says what to do next."""

from __future__ import annotations

import re

import pytest

from sightline_core.errors import MEANINGS, ErrorCode, SightlineError, nearest_name

# The contract's codes; the ones reserved for later are not in the enum until something raises them.
CONTRACT = [
    "invalid_input",
    "invalid_strategy",
    "invalid_max_tokens",
    "workspace_not_registered",
    "workspace_not_allowed",
    "workspace_limit_exceeded",
    "index_in_progress",
    "index_not_ready",
    "sync_in_progress",
    "index_stale",
    "index_incompatible",
    "symbol_not_found",
    "ambiguous_symbol",
    "file_not_found",
    "path_not_allowed",
    "write_not_allowed",
    "job_not_found",
    "lsp_unavailable",
    "lsp_timeout",
    "lsp_error",
    "lsp_unsupported",
    "deadline_exceeded",
    "overloaded",
    "internal_error",
]


def test_the_codes_are_those_of_the_contract() -> None:
    assert [code.value for code in ErrorCode] == CONTRACT


@pytest.mark.parametrize("code", ErrorCode)
def test_a_code_has_a_meaning_of_one_sentence(code: ErrorCode) -> None:
    assert re.fullmatch(r"[^\n|]{20,120}\.", MEANINGS[code])
    assert code.value == code.name.lower()


def test_no_meaning_is_left_over_and_no_two_are_the_same() -> None:
    assert set(MEANINGS) == set(ErrorCode)
    assert len(set(MEANINGS.values())) == len(ErrorCode)


def test_an_error_shows_its_hint_after_its_message() -> None:
    error = SightlineError(ErrorCode.FILE_NOT_FOUND, "No such file.", hint="Look elsewhere.", data={"near": ["a"]})
    assert str(error) == error.full_message == "No such file. Look elsewhere."
    assert error.data == {"near": ["a"]}
    assert str(SightlineError(ErrorCode.FILE_NOT_FOUND, "No such file.")) == "No such file."


@pytest.mark.parametrize(
    ("given", "expected"),
    [("workspac", "workspace"), ("limt", "limit"), ("qeury", "query"), ("zzzzzz", None), ("", None)],
)
def test_the_nearest_name_is_the_likely_one_or_none(given: str, expected: str | None) -> None:
    assert nearest_name(given, ["workspace", "limit", "query"]) == expected
