"""JSON-RPC messages: bytes to typed values and back.

**Invariant**: a decoded message is a request, a notification or an answer with a valid shape; everything else is
`Malformed`, with the id it was meant for where that can still be told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from sightline_lsp.framing import encode_frame

T = TypeVar("T")

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
REQUEST_FAILED = -32803
SERVER_CANCELLED = -32802
CONTENT_MODIFIED = -32801
RETRIED_CODES = frozenset({SERVER_CANCELLED, CONTENT_MODIFIED})

Id = int | str

_ID_IN_RAW = re.compile(rb'"id"\s*:\s*(?:"(-?\d{1,18})"|(-?\d{1,18}))(?:\.0*)?\s*[,}]')
_METHOD_IN_RAW = re.compile(rb'"method"\s*:')


class Malformed(Exception):  # noqa: N818 -- it names what the message is
    """A message that breaks the protocol; `owner` is the id of the request it seems to answer."""

    def __init__(self, reason: str, owner: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.owner = owner


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful reply; `result` is still encoded."""

    id: int
    result: msgspec.Raw


@dataclass(frozen=True, slots=True)
class Failure:
    """An error reply."""

    id: int
    code: int
    message: str


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """A request of the server to us."""

    id: Id
    method: str
    params: msgspec.Raw


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification of the server."""

    method: str
    params: msgspec.Raw


Message = Answer | Failure | ServerRequest | Notification


class _Envelope(msgspec.Struct):
    jsonrpc: Any = None
    id: int | str | msgspec.UnsetType | None = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw = msgspec.Raw(b"null")
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _ErrorBody(msgspec.Struct):
    code: int
    message: str = ""


_envelope = msgspec.json.Decoder(_Envelope)
_error_body = msgspec.json.Decoder(_ErrorBody)
_encoder = msgspec.json.Encoder()


def decode_message(body: bytes) -> Message:
    """The message in a frame; raises `Malformed`."""
    try:
        envelope = _envelope.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Malformed(f"it is no valid message ({error})", owner_in(body)) from None
    if envelope.jsonrpc != "2.0":
        raise Malformed("it is not JSON-RPC 2.0", owner_in(body))
    if isinstance(envelope.method, str):
        if envelope.id is msgspec.UNSET:
            return Notification(envelope.method, envelope.params)
        if envelope.id is None:
            raise Malformed("a request with the id null")
        return ServerRequest(envelope.id, envelope.method, envelope.params)
    return _decode_reply(envelope, body)


def _decode_reply(envelope: _Envelope, body: bytes) -> Message:
    if not isinstance(envelope.id, int):
        raise Malformed("an answer whose id is no number that was asked", owner_in(body))
    if envelope.error is not msgspec.UNSET and bytes(envelope.error) != b"null":
        try:
            error = _error_body.decode(envelope.error)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            raise Malformed("an error without code and message", envelope.id) from None
        return Failure(envelope.id, error.code, error.message)
    if envelope.result is msgspec.UNSET:
        raise Malformed("an answer with neither result nor error", envelope.id)
    return Answer(envelope.id, envelope.result)


def owner_in(data: bytes) -> int | None:
    """The id of the request that broken bytes seem to answer, or None."""
    if _METHOD_IN_RAW.search(data):
        return None
    found = _ID_IN_RAW.findall(data)
    # An answer may quote other ids in its result: only an unmistakable one counts.
    ids = {int(quoted or plain) for quoted, plain in found}
    return ids.pop() if len(ids) == 1 else None


class Shape(Generic[T]):
    """The type an encoded value must have, with its decoder."""

    def __init__(self, kind: Any) -> None:
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind)

    def decode(self, raw: msgspec.Raw | bytes) -> T:
        """The value; raises `Malformed` when it has another shape."""
        try:
            return self._decoder.decode(raw)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise Malformed(f"the value has the wrong shape ({error})") from None


def encode_value(value: Any) -> bytes:
    """JSON of a parameter value."""
    return _encoder.encode(value)


def encode_request(id_: int, method: str, params: Any) -> bytes:
    """A framed request; `params` is left out when it is None, because some servers refuse null."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": id_, "method": method}
    if params is not None:
        message["params"] = params
    return encode_frame(_encoder.encode(message))


def encode_notification(method: str, params: Any) -> bytes:
    """A framed notification."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return encode_frame(_encoder.encode(message))


def encode_answer(id_: Id, result: Any) -> bytes:
    """A framed reply to a request of the server."""
    return encode_frame(_encoder.encode({"jsonrpc": "2.0", "id": id_, "result": result}))


def encode_refusal(id_: Id, code: int, text: str) -> bytes:
    """A framed error reply to a request of the server."""
    error = {"code": code, "message": text}
    return encode_frame(_encoder.encode({"jsonrpc": "2.0", "id": id_, "error": error}))
