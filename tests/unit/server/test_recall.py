"""What a front remembers: requests under way, the handshake and standing wishes; ids of lost daemons never mix."""

from __future__ import annotations

import json

import pytest

from sightline_server.daemon.recall import Recall


def line(**message: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()


def opened() -> Recall:
    recall = Recall()
    recall.from_client(line(id=0, method="initialize", params={}))
    recall.from_daemon(line(id=0, result={}))
    recall.from_client(line(method="notifications/initialized"))
    return recall


def test_answered_and_cancelled_requests_are_not_pending() -> None:
    recall = opened()
    for identity in (1, "two", 3):
        recall.from_client(line(id=identity, method="ping"))
    recall.from_daemon(line(id=1, result={}))
    recall.from_client(line(method="notifications/cancelled", params={"requestId": 3}))
    assert recall.take_pending(keep_handshake=True) == ["two"]
    assert recall.take_pending(keep_handshake=True) == []


def test_a_new_daemon_is_told_what_the_lost_one_knew_and_its_answers_are_swallowed() -> None:
    recall = opened()
    recall.from_client(line(id=1, method="logging/setLevel", params={"level": "error"}))
    recall.from_client(line(id=2, method="resources/subscribe", params={"uri": "a:"}))
    recall.from_client(line(id=3, method="resources/subscribe", params={"uri": "b:"}))
    recall.from_client(line(id=4, method="resources/unsubscribe", params={"uri": "a:"}))
    told = [json.loads(text) for text in recall.replay()]
    assert [message["method"] for message in told] == [
        "initialize",
        "notifications/initialized",
        "logging/setLevel",
        "resources/subscribe",
    ]
    assert told[3]["params"] == {"uri": "b:"}
    for message in told:
        if "id" in message:
            assert recall.from_daemon(line(id=message["id"], result={})) is None


def test_a_handshake_under_way_is_repeated_as_it_was() -> None:
    recall = Recall()
    first = line(id=0, method="initialize", params={})
    recall.from_client(first)
    assert recall.take_pending(keep_handshake=True) == []
    assert recall.replay() == [first]
    assert recall.from_daemon(line(id=0, result={})) == line(id=0, result={})


def test_the_answer_to_a_question_of_a_lost_daemon_goes_nowhere() -> None:
    recall = opened()
    question = line(id=7, method="roots/list")
    assert recall.from_daemon(question) == question
    recall.replay()
    asked = json.loads(recall.from_daemon(question) or b"")
    assert asked["id"] != 7
    assert recall.from_client(line(id=7, result={"roots": []})) is None
    answer = recall.from_client(line(id=asked["id"], result={"roots": []}))
    assert json.loads(answer or b"")["id"] == 7


def test_what_is_no_message_goes_on_to_the_daemon() -> None:
    recall = opened()
    for text in (b"nonsense", b"[]", b"[" * 100_000, b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b'{"id":3}'):
        assert recall.from_client(text) == text
    assert recall.take_pending(keep_handshake=False) == []


def test_an_answer_to_a_question_that_nobody_asked_goes_nowhere() -> None:
    recall = opened()
    recall.replay()
    for identity in ("sightline-asked-1-garbage", "sightline-asked-1-", "sightline-asked-1-\ud800"):
        assert recall.from_client(line(id=identity, result={})) is None


@pytest.mark.parametrize(
    "identity", [0, -7, 10**30, "", "a", 'q"', "\\", '\\",', 'x","result":1', "ü", "\n", "1", ",", "{"]
)
@pytest.mark.parametrize("outcome", ["result", "error"])
def test_an_answer_is_known_by_the_id_of_its_request(identity: str | int, outcome: str) -> None:
    recall = opened()
    recall.from_client(line(id=identity, method="ping"))
    for other in (None, True, 1.5, "other"):
        recall.from_daemon(line(id=other, **{outcome: {"id": identity}}))
    recall.from_daemon(b'{"jsonrpc":"2.0","id":1e,"result":{}}')
    assert recall.from_daemon(text := line(id=identity, **{outcome: {}})) == text
    assert recall.take_pending(keep_handshake=False) == []


def test_an_answer_to_another_request_leaves_this_one_pending() -> None:
    recall = opened()
    recall.from_client(line(id=1, method="ping"))
    for other in ("1", 10, 2, '1,"result":'):
        recall.from_daemon(line(id=other, result={}))
    assert recall.take_pending(keep_handshake=False) == [1]
