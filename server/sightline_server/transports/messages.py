"""JSON-RPC messages as lines of bytes, read and written.

**Invariant**: every line that is no message gets an error that says why.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from sightline_core.errors import ErrorCode
from sightline_core.limits import Limits
from sightline_server.envelope import encode_answer
from sightline_server.protocol import code_of, error_data


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no JSON-RPC message, with the reply it deserves."""

    code: int
    message: str
    request_id: str | int | None = None


def parse_line(line: bytes | None, limits: Limits) -> SessionMessage | BadLine | None:
    """One line as a message; None for a blank one."""
    if line is None:
        return BadLine(types.INVALID_REQUEST, f"A message may have at most {limits.max_message_bytes} bytes.")
    if not line.strip():
        return None
    parsed = parse_message(line)
    return parsed if isinstance(parsed, BadLine) else SessionMessage(parsed)


def parse_message(data: bytes) -> types.JSONRPCMessage | BadLine:
    """Bytes as a JSON-RPC message, or why they are none: broken JSON, or JSON of the wrong shape."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(data, by_name=False)
    except ValidationError as error:
        if any(item["type"] == "json_invalid" for item in error.errors(include_url=False)):
            return BadLine(types.PARSE_ERROR, "The message is not valid JSON.")
        return BadLine(types.INVALID_REQUEST, "The message is no JSON-RPC 2.0 request.", _request_id(data))
    # The library takes a request whose id has the wrong type for a notification and would never answer it.
    if isinstance(message, types.JSONRPCNotification) and "id" in cast("dict[str, Any]", json.loads(data)):
        return BadLine(types.INVALID_REQUEST, "The id of a request must be a string or a whole number.")
    return message


def _request_id(line: bytes) -> str | int | None:
    try:
        body: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    found: Any = cast("dict[str, Any]", body).get("id") if isinstance(body, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def encode_message(message: types.JSONRPCMessage) -> bytes:
    """A message as its JSON; that of a finished body is used as it is."""
    if isinstance(message, types.JSONRPCResponse):
        answer = encode_answer(message.id, message.result)
        if answer is not None:
            return answer
    if isinstance(message, types.JSONRPCError):
        message = _with_code(message)
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8")


def error_reply(bad: BadLine) -> SessionMessage:
    """The JSON-RPC error for a bad line."""
    return SessionMessage(
        types.JSONRPCError(
            jsonrpc="2.0",
            id=bad.request_id,
            error=types.ErrorData(code=bad.code, message=bad.message, data=error_data(ErrorCode.INVALID_INPUT)),
        )
    )


def _with_code(message: types.JSONRPCError) -> types.JSONRPCError:
    """Some errors are made by the library where no handler of ours sees them, and say nothing in `data`."""
    error = message.error
    detail: Any = error.data
    if isinstance(detail, Mapping) and "code" in cast("Mapping[str, Any]", detail):
        return message
    data = error_data(code_of(error.code), detail)
    return message.model_copy(update={"error": error.model_copy(update={"data": data})})
