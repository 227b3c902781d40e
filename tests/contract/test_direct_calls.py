"""The calls that the stdio transport answers itself look and behave like those that the library answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sightline_core.config import Config
from support.daemon_kit import until
from support.raw_stdio import RawClient, raw_client

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture
def client(config: Config) -> Generator[RawClient]:
    """A client whose first call, the library's, is answered."""
    with raw_client(config) as connected:
        connected.call(1, "index_repo", wait=True)
        yield connected


def result_of(client: RawClient, request_id: int, params: dict[str, Any]) -> dict[str, Any]:
    client.send("tools/call", params, request_id)
    return dict(client.answer(request_id))


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_later_answers_have_the_form_of_the_first(config: Config, version: str) -> None:
    with raw_client(config, version=version) as client:
        answers = [result_of(client, number, {"name": "health_check", "arguments": {}}) for number in (1, 2, 3)]
    for answer in answers:
        result = answer["result"]
        (content,) = result["content"]
        assert _shape(answer, 1) == _shape(answers[0], 1)
        assert json.loads(content["text"])["metadata"]
        if "structuredContent" in result:
            assert json.loads(content["text"]) == result["structuredContent"]


def test_later_answers_to_enveloped_requests_have_the_form_of_the_first(config: Config) -> None:
    with raw_client(config, handshake=False) as client:
        params = {"name": "health_check", "arguments": {}, "_meta": ENVELOPE}
        answers = [result_of(client, number, params) for number in (1, 2, 3)]
        assert [_shape(answer, 2) for answer in answers] == [_shape(answers[0], 2)] * 3
        assert "structuredContent" in answers[2]["result"]
        unknown = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "1999-01-01"}
        assert "error" in result_of(client, 4, {**params, "_meta": unknown})
        assert "error" in result_of(client, 5, {**params, "_meta": {}})


def test_an_enveloped_request_on_a_connection_that_shook_hands_is_refused(client: RawClient) -> None:
    asked = {"name": "health_check", "arguments": {}, "_meta": ENVELOPE}
    assert result_of(client, 2, asked)["error"]["data"]["code"] == "invalid_input"


def test_a_tool_that_fails_says_so_in_a_later_answer(client: RawClient) -> None:
    result = result_of(client, 2, {"name": "get_file_outline", "arguments": {"path": "nowhere.py"}})["result"]
    assert result["isError"] is True
    assert result["structuredContent"]["error"]["code"] == "file_not_found"
    assert result_of(client, 3, {"name": "health_check"})["result"]["isError"] is False


@pytest.mark.parametrize(
    "params",
    [
        {"name": 7},
        {"name": "no_such_tool", "arguments": {}},
        {"arguments": {}},
        {"name": "health_check", "arguments": []},
        {"name": "health_check", "_meta": 3},
        {"name": "health_check", "_meta": {"progressToken": [1]}},
    ],
    ids=json.dumps,
)
def test_a_faulty_call_gets_the_error_it_gets_as_the_first(
    config: Config, client: RawClient, params: dict[str, Any]
) -> None:
    later = result_of(client, 9, params)
    with raw_client(config) as fresh:
        first = result_of(fresh, 9, params)
    # Both are an error, or both ignored what was faulty.
    assert later.get("error") == first.get("error")
    assert ("result" in later) == ("result" in first)


@pytest.mark.parametrize("token", ["mine", 0, 7])
def test_progress_is_told_under_the_token_of_the_call(client: RawClient, workspace: Path, token: str | int) -> None:
    (workspace / "more.py").write_text("def more(): pass\n", "utf-8")
    asked = {"name": "index_repo", "arguments": {"wait": True, "force": True}, "_meta": {"progressToken": token}}
    client.send("tools/call", asked, 2)
    told = client.until(lambda message: message.get("method") == "notifications/progress")["params"]
    assert told["progressToken"] == token
    assert told["progress"] >= 0
    assert client.answer(2)["result"]["isError"] is False


@pytest.mark.parametrize("named", [lambda number: number, str], ids=["as it was", "as a string"])
def test_a_cancelled_call_is_not_answered_and_frees_its_place(
    config: Config, workspace: Path, named: Callable[[int], object]
) -> None:
    for number in range(2000):
        (workspace / f"m{number}.py").write_text(f"value_{number} = 'aaaaaaaaaaaaaaaaaaab'\n" * 50, "utf-8")
    slow = replace(config, limits=replace(config.limits, scan_budget_s=30.0, search_threads=1))
    with raw_client(slow) as client:
        client.call(1, "index_repo", wait=True)
        scan = {"query": "(a|aa)+[^ab].*x{3}", "mode": "regex"}
        client.send("tools/call", {"name": "search_code", "arguments": scan}, 2)
        client.send("notifications/cancelled", {"requestId": named(2)})
        assert client.call(3, "search_code", query="greet")["results"]
        assert not any(message.get("id") == 2 for message in client.heard)
        # Its id may be used again.
        assert client.call(2, "search_code", query="greet")["results"]


def test_an_answer_that_is_cancelled_while_it_is_written_leaves_no_torn_line(
    config: Config, workspace: Path, tmp_path: Path
) -> None:
    # More than a pipe holds, so that the answer stands half in it and half in the server.
    lines = "".join(f"value_{number} = 'a word that is looked for, {'x' * 400}'\n" for number in range(100))
    (workspace / "long.py").write_text(lines, "utf-8")
    log = tmp_path / "audit.jsonl"
    with raw_client(replace(config, audit_log=str(log))) as client:
        client.call(1, "index_repo", wait=True)
        asked = {"query": "looked for", "mode": "literal", "limit": 100, "detail_level": "context"}
        client.send("tools/call", {"name": "search_code", "arguments": asked}, 2)
        client.until_begun(2)
        client.send("notifications/cancelled", {"requestId": 2})
        client.send("tools/call", {"name": "health_check", "arguments": {}}, 3)
        # What was sent before it has been read then.
        until(lambda: "health_check" in log.read_text("utf-8"), "the last call was not made")
        # Every line is read as JSON on the way to the answer.
        assert client.answer(3)["result"]["isError"] is False


def test_calls_under_way_are_answered_when_input_ends(config: Config, client: RawClient) -> None:
    for number in range(2, 12):
        client.send("tools/call", {"name": "search_code", "arguments": {"query": "greet"}}, number)
    client.end_input()
    for number in range(2, 12):
        assert client.answer(number)["result"]["structuredContent"]["results"]


def _shape(value: Any, depth: int) -> Any:
    """The names and types of a value, to a depth below the result."""
    if isinstance(value, dict) and depth >= 0:
        return {key: _shape(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list) and depth >= 0:
        return [_shape(item, depth - 1) for item in value]
    return type(value).__name__
