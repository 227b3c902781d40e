"""Answers stay below their cap, say what was cut, and carry no raw control characters."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.types import Note, Source, SourceStatus
from sightline_server.completeness import Facts, ToolKind
from sightline_server.dispatch import build_metadata, finish
from sightline_server.envelope import (
    Metadata,
    cut_list,
    dump,
    encode,
    error_body,
    source_models,
    to_json,
    warning_models,
)
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset

CAP = DEFAULT_LIMITS.max_structured_bytes


class ListResult(Result):
    """A result that can grow without bound."""

    items: list[str]
    total: int = 0


async def never(_call: Call, _args: Args) -> Answer[ListResult]:
    raise AssertionError("not run here")


TOOL = Tool(
    name="sample",
    title="Sample",
    description="A tool of this test.",
    toolset=Toolset.CORE,
    kind=ToolKind.SEARCH,
    args=Args,
    result=ListResult,
    run=never,
    list_field="items",
)


def answer(items: list[str], facts: Facts | None = None) -> dict[str, Any]:
    return finish(TOOL, Answer(ListResult(items=items), facts or Facts()), None, CAP).body


def test_the_cap_is_48_kib() -> None:
    assert CAP == 48 * 1024


def test_an_answer_below_the_cap_is_left_alone() -> None:
    body = answer(["x" * 100] * 10)
    assert len(body["items"]) == 10
    assert body["metadata"]["result_completeness"] == "complete"
    assert "warnings" not in body["metadata"]


@pytest.mark.parametrize("item", ["x" * 100, "é" * 100, "😀" * 100, '"\\\n' * 40, "x" * 60_000])
def test_an_answer_over_the_cap_is_cut_from_the_end_and_says_so(item: str) -> None:
    body = answer([f"{number} {item}" for number in range(2000)])
    assert len(encode(body)) <= CAP
    assert [entry.split(" ", 1)[0] for entry in body["items"]] == [str(n) for n in range(len(body["items"]))]
    assert body["metadata"]["result_completeness"] == "truncated"
    assert [warning["code"] for warning in body["metadata"]["warnings"]] == ["response_too_large"]


def test_a_cut_keeps_the_other_reasons() -> None:
    facts = Facts(holes=(Note("first_index", "Running."),), sources=(Source("go", SourceStatus.DOWN, expected=True),))
    body = answer(["x" * 1000] * 100, facts)
    codes = [warning["code"] for warning in body["metadata"]["warnings"]]
    assert codes == ["response_too_large", "first_index", "lsp_down"]
    assert body["metadata"]["sources"] == [{"name": "lsp:go", "status": "down"}]


@settings(max_examples=60)
@given(st.lists(st.text(max_size=50), max_size=60), st.integers(30, 1500))
def test_cutting_drops_as_little_as_needed(items: list[str], max_bytes: int) -> None:
    body: dict[str, Any] = {"items": list(items), "other": 1}
    dropped = cut_list(body, "items", max_bytes)
    kept = len(items) - dropped
    assert body["items"] == items[:kept]
    if len(encode({"items": [], "other": 1})) <= max_bytes:
        assert len(encode(body)) <= max_bytes
    if dropped > 1:
        # The byte of a comma is the only slack.
        assert len(encode({"items": items[: kept + 1], "other": 1})) > max_bytes - 1


def test_unknown_fields_are_omitted_not_null() -> None:
    body = to_json(Metadata())
    assert None not in body.values()
    assert "workspace" not in body
    assert body["sightline_protocol_version"] == "1.0"


def test_text_is_compact_json_that_stays_readable() -> None:
    assert dump({"a": ["é", 1]}) == '{"a":["é",1]}'


def test_a_failure_has_code_message_data_and_metadata() -> None:
    error = SightlineError(ErrorCode.AMBIGUOUS_SYMBOL, "Two\u202e.", hint="Name\x1b[2J one.", data={"near": ["a"]})
    body = error_body(error, Metadata(workspace="/w"))
    assert body["error"] == {
        "code": "ambiguous_symbol",
        "message": "Two\\u202e. Name[2J one.",
        "data": {"near": ["a"]},
    }
    assert body["metadata"]["workspace"] == "/w"
    assert "data" not in error_body(SightlineError(ErrorCode.OVERLOADED, "Busy."), Metadata())["error"]


def test_sources_are_absent_empty_or_listed() -> None:
    assert source_models(None) is None
    assert source_models(()) == []
    (model,) = source_models((Source("go", SourceStatus.TIMEOUT, "gopls", "late\x00"),)) or []
    assert to_json(model) == {"name": "lsp:go", "server": "gopls", "status": "timeout", "detail": "late"}


def test_a_warning_is_said_once() -> None:
    note = Note("drift", "Changed.", "go")
    models = warning_models((note, Note("other", "Else."), note)) or []
    assert [model.code for model in models] == ["drift", "other"]
    assert warning_models(()) is None


def test_metadata_without_a_workspace_claims_nothing() -> None:
    metadata = json.loads(dump(to_json(build_metadata(ToolKind.INDEX, Facts(), None))))
    assert metadata == {
        "sightline_protocol_version": "1.0",
        "indexing_status": "not_indexed",
        "result_completeness": "complete",
        "freshness_status": "stale",
        "schema_status": "not_indexed",
    }
