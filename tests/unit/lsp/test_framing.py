"""Framing: whatever the pieces, the same frames; whatever the junk, the next frame is found."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline_lsp.framing import Frame, FrameReader, Garbage, Noise, encode_frame


def reader() -> FrameReader:
    return FrameReader(max_body_bytes=1000, max_header_bytes=200)


def events_of(data: bytes, pieces: list[int]) -> list[object]:
    feed, found, at = reader(), [], 0
    for size in pieces:
        found += feed.feed(data[at : at + size])
        at += size
    return [*found, *feed.feed(data[at:])]


@given(st.lists(st.binary(max_size=60), max_size=6), st.lists(st.integers(1, 20), max_size=40))
@settings(max_examples=150, deadline=None)
def test_frames_survive_any_cutting(bodies: list[bytes], pieces: list[int]) -> None:
    data = b"".join(encode_frame(body) for body in bodies)
    assert events_of(data, pieces) == [Frame(body) for body in bodies]


@given(st.binary(max_size=300), st.lists(st.integers(1, 50), max_size=20))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_taken_without_an_exception_and_bounded(data: bytes, pieces: list[int]) -> None:
    feed = reader()
    at = 0
    for size in [*pieces, len(data)]:
        feed.feed(data[at : at + size])
        at += size
    feed.stalled()
    feed.end()
    assert not feed.waiting or feed.feed(b"") == []


@pytest.mark.parametrize("junk", [b"{broken\r\n", b"\x00\xff\x00", b"Content-Length: x\r\n\r\n{}", b"plain words\n"])
def test_the_frame_after_junk_is_found(junk: bytes) -> None:
    assert events_of(junk + encode_frame(b"{}"), [])[-1] == Frame(b"{}")


def test_plain_lines_are_noise_and_json_without_header_is_garbage() -> None:
    assert isinstance(events_of(b"[info] ready\n" + encode_frame(b"1"), [])[0], Noise)
    assert isinstance(events_of(b'{"id":1}' + encode_frame(b"1"), [])[0], Garbage)


def test_a_body_shorter_than_promised_is_given_up_only_when_it_is_whole() -> None:
    slow = reader()
    slow.feed(b'Content-Length: 20\r\n\r\n{"id":1')
    assert slow.stalled() == []
    slow.feed(b"}")
    assert [type(event) for event in slow.stalled()] == [Garbage]
    assert slow.feed(encode_frame(b"2")) == [Frame(b"2")]


def test_an_oversized_message_is_skipped_and_not_kept() -> None:
    feed = reader()
    assert [type(event) for event in feed.feed(b"Content-Length: 5000\r\n\r\n")] == [Garbage]
    assert feed.feed(b"x" * 5000 + encode_frame(b"3")) == [Frame(b"3")]
