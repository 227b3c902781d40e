"""The `Content-Length` framing of the language-server protocol, without I/O.

**Invariant**: whatever bytes are fed, in whatever pieces, memory stays below one message of the permitted size plus
one header, and the reader finds the next well-formed header again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder

# Servers are seen that write the header in lower case, and ones that end its lines with a bare line feed.
_HEADER_START = re.compile(rb"content-(?:length|type)[ \t]*:", re.IGNORECASE)
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(rb"^content-length[ \t]*:[ \t]*([0-9]{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_LONGEST_START = len(b"content-length") + 1
_NOISE_LINE = re.compile(rb"^[\t\r\n -z|~\x80-\xff]*$")


@dataclass(frozen=True, slots=True)
class Frame:
    """The body of one message."""

    body: bytes


@dataclass(frozen=True, slots=True)
class Garbage:
    """Bytes that are no message; `data` is what is left of them to tell whose answer they were."""

    reason: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Noise:
    """Plain lines between messages, such as a banner; they harm nobody."""

    data: bytes


Event = Frame | Garbage | Noise


class FrameReader:
    """Cuts a byte stream into frames and tells what was not one."""

    def __init__(self, *, max_body_bytes: int, max_header_bytes: int) -> None:
        self._max_body = max_body_bytes
        self._max_header = max_header_bytes
        self._buffer = bytearray()
        self._needed: int | None = None
        self._skip = 0

    @property
    def waiting(self) -> bool:
        """Whether a message has begun and is not finished."""
        return bool(self._buffer) or self._needed is not None or self._skip > 0

    def feed(self, data: bytes) -> list[Event]:
        """Take bytes; returns what they complete."""
        self._buffer += data
        events: list[Event] = []
        while self._step(events):
            pass
        return events

    def stalled(self) -> list[Event]:
        """Called when no byte came for a while: give up on a beginning that can be no message any more.

        A body that is already whole, though its header promised more, is such a case; a body that just comes
        slowly is not.
        """
        if self._needed is not None:
            if not _starts_with_whole_value(bytes(self._buffer)):
                return []
            self._needed = None
            return [*self._take_junk("the header gives a wrong length"), *self.feed(b"")]
        return self._take_junk("bytes without a header")

    def end(self) -> list[Event]:
        """The stream is over: what is left is garbage."""
        self._needed = None
        left = bytes(self._buffer)
        self._buffer.clear()
        return [_judge("the stream ended within a message", left)] if left.strip() else []

    def _step(self, events: list[Event]) -> bool:
        if self._skip:
            dropped = min(self._skip, len(self._buffer))
            del self._buffer[:dropped]
            self._skip -= dropped
            return self._skip == 0 and bool(self._buffer)
        if self._needed is None:
            return self._read_header(events)
        if len(self._buffer) < self._needed:
            return False
        body = bytes(self._buffer[: self._needed])
        del self._buffer[: self._needed]
        self._needed = None
        events.append(Frame(body))
        return bool(self._buffer)

    def _read_header(self, events: list[Event]) -> bool:
        start = _HEADER_START.search(self._buffer)
        if start is None:
            return self._hold_back_junk(events)
        if start.start() > 0:
            events.extend(self._cut_junk(start.start(), "bytes before a header"))
            return True
        end = _HEADER_END.search(self._buffer)
        if end is None or end.start() > self._max_header:
            if len(self._buffer) > self._max_header:
                events.extend(self._cut_junk(self._max_header, "a header without an end"))
                return True
            return False
        return self._apply_header(end, events)

    def _apply_header(self, end: re.Match[bytes], events: list[Event]) -> bool:
        header = bytes(self._buffer[: end.start()])
        lengths = set(_LENGTH.findall(header))
        if len(lengths) != 1:
            # The body follows without a usable length: it is given up together with its header, up to the next one.
            following = _HEADER_START.search(self._buffer, end.end())
            stop = following.start() if following else len(self._buffer)
            events.append(Garbage("a header without one valid length", bytes(self._buffer[:stop])))
            del self._buffer[:stop]
            return bool(self._buffer)
        length = int(lengths.pop())
        del self._buffer[: end.end()]
        if length > self._max_body:
            events.append(Garbage(f"a message of {length} bytes", bytes(self._buffer[: self._max_header])))
            self._skip = length
            return True
        self._needed = length
        return True

    def _hold_back_junk(self, events: list[Event]) -> bool:
        # The last bytes may be the beginning of a header.
        keep = 0 if not self._buffer.strip() else _LONGEST_START
        if len(self._buffer) > self._max_header:
            events.extend(self._cut_junk(len(self._buffer) - keep, "bytes without a header"))
        return False

    def _take_junk(self, reason: str) -> list[Event]:
        following = _HEADER_START.search(self._buffer, 1)
        return self._cut_junk(following.start() if following else len(self._buffer), reason)

    def _cut_junk(self, size: int, reason: str) -> list[Event]:
        junk = bytes(self._buffer[:size])
        del self._buffer[:size]
        return [_judge(reason, junk)] if junk.strip() else []


def _judge(reason: str, junk: bytes) -> Event:
    """Noise when it is plain lines without a JSON object or a header in it."""
    plain = _NOISE_LINE.match(junk) is not None and _HEADER_START.search(junk) is None
    return Noise(junk) if plain else Garbage(reason, junk)


def _starts_with_whole_value(data: bytes) -> bool:
    text = data.decode("utf-8", "replace").lstrip()
    try:
        JSONDecoder().raw_decode(text)
    except (JSONDecodeError, RecursionError):
        return False
    return True


def encode_frame(body: bytes) -> bytes:
    """One message as it is written."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
