"""MCP over standard input and output: one JSON-RPC message a line.

**Invariant**: nothing but JSON-RPC reaches the client's pipe (stray output of this process goes to stderr), every
line that is no message gets an error reply, and a line is never larger than its limit.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import anyio
import mcp_types as types
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from sightline_core.errors import ErrorCode
from sightline_core.limits import Limits
from sightline_server.app import Services
from sightline_server.envelope import encode_answer
from sightline_server.protocol import error_data, single_session
from sightline_server.sessions.session import Session, TransportKind
from sightline_server.transports.descriptors import is_gone, quick_sink, read_chunk, write_all
from sightline_server.transports.lines import LineSplitter, claimed_streams

logger = logging.getLogger(__name__)

_EXCERPT_CHARS = 200


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no JSON-RPC message, with the reply it deserves."""

    code: int
    message: str
    request_id: str | int | None = None


async def serve_stdio(services: Services) -> None:
    """Serve the client on this process's standard streams until it closes them."""
    with claimed_streams() as (source, sink):
        await serve_descriptors(services, source, sink)


async def serve_descriptors(services: Services, source: int, sink: int, session: Session | None = None) -> None:
    """Serve one client over two descriptors, pipes or a socket, until the source ends; its session ends with it."""
    limits = services.config.limits
    async with (
        single_session(services, TransportKind.STDIO, session) as (server, scope),
        message_streams(source, sink, limits) as (inbound, outbound),
    ):
        await serve_dual_era_loop(
            server,
            inbound,
            outbound,
            lifespan_state=scope,
            init_options=server.create_initialization_options(),
        )


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


class _Unanswered:
    """The requests that were read and not yet answered."""

    def __init__(self) -> None:
        self._ids: set[str | int] = set()
        self._none_left = anyio.Event()

    def read(self, message: SessionMessage) -> None:
        if isinstance(message.message, types.JSONRPCRequest):
            self._ids.add(message.message.id)

    def written(self, message: SessionMessage) -> None:
        if isinstance(message.message, types.JSONRPCResponse | types.JSONRPCError) and message.message.id is not None:
            self._ids.discard(message.message.id)
        if not self._ids:
            self._none_left.set()

    async def drain(self, seconds: float) -> None:
        """Wait until all are answered, not longer than `seconds`."""
        if self._ids:
            self._none_left = anyio.Event()
            with anyio.move_on_after(seconds):
                await self._none_left.wait()


@asynccontextmanager
async def message_streams(source: int, sink: int, limits: Limits) -> AsyncGenerator[tuple[Any, Any], None]:
    """The message streams of two descriptors: what the library reads from, and what it writes to."""
    inbound_send, inbound = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbound, outbound_receive = anyio.create_memory_object_stream[SessionMessage](0)
    replies = outbound.clone()
    unanswered = _Unanswered()
    reading = anyio.CancelScope()

    async def read() -> None:
        with reading:
            async with inbound_send, replies:
                async for parsed in _messages(source, limits):
                    if isinstance(parsed, BadLine):
                        await replies.send(error_reply(parsed))
                    else:
                        unanswered.read(parsed)
                        await inbound_send.send(parsed)
                # The library drops what is under way at the end of input; `echo … | sightline` wants its answers.
                if not is_gone(source):
                    await unanswered.drain(limits.stdin_drain_s)

    async def write() -> None:
        with quick_sink(sink) as opened:
            async with outbound_receive:
                async for message in outbound_receive:
                    await write_all(opened, encode_message(message.message) + b"\n")
                    unanswered.written(message)

    async with anyio.create_task_group() as group:
        group.start_soon(_quiet, read)
        group.start_soon(_quiet, write)
        yield inbound, outbound
        # The serving loop is over: the reader may wait on a pipe that never ends, the writer has its last lines.
        reading.cancel()


async def _messages(source: int, limits: Limits) -> AsyncGenerator[SessionMessage | BadLine, None]:
    splitter = LineSplitter(limits.max_message_bytes)
    while chunk := await read_chunk(source):
        for line in splitter.feed(chunk):
            parsed = parse_line(line, limits)
            if isinstance(parsed, BadLine):
                logger.warning("bad message: %s %r", parsed.message, (line or b"")[:_EXCERPT_CHARS])
            if parsed is not None:
                yield parsed


async def _quiet(task: Any) -> None:
    """Run a pump; a peer that went away ends it without noise."""
    try:
        await task()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError, ConnectionResetError):
        logger.debug("the client closed its streams")
