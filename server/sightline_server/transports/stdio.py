"""MCP over standard input and output: one JSON-RPC message a line.

**Invariant**: nothing but JSON-RPC reaches the client's pipe (stray output of this process goes to stderr), every
line that is no message gets an error reply, and a line is never larger than its limit.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage

from sightline_core.limits import Limits
from sightline_server.app import Services
from sightline_server.protocol import SingleSession, single_session
from sightline_server.sessions.session import Session, TransportKind
from sightline_server.transports.descriptors import LineSink, is_gone, quick_sink, read_chunk
from sightline_server.transports.direct_calls import DirectCalls
from sightline_server.transports.lines import LineSplitter, claimed_streams
from sightline_server.transports.messages import BadLine, encode_message, error_reply, parse_line
from sightline_server.transports.unanswered import Unanswered

logger = logging.getLogger(__name__)

_EXCERPT_CHARS = 200


async def serve_stdio(services: Services) -> None:
    """Serve the client on this process's standard streams until it closes them."""
    with claimed_streams() as (source, sink):
        await serve_descriptors(services, source, sink)


async def serve_descriptors(services: Services, source: int, sink: int, session: Session | None = None) -> None:
    """Serve one client over two descriptors, pipes or a socket, until the source ends; its session ends with it."""
    async with (
        single_session(services, TransportKind.STDIO, session) as (server, scope),
        message_streams(services, scope, source, sink) as (inbound, outbound),
    ):
        await serve_dual_era_loop(
            server,
            inbound,
            outbound,
            lifespan_state=scope,
            init_options=server.create_initialization_options(),
        )


@asynccontextmanager
async def message_streams(
    services: Services, scope: SingleSession, source: int, sink: int
) -> AsyncGenerator[tuple[Any, Any], None]:
    """The message streams of two descriptors: what the library reads from, and what it writes to.

    Calls that need nothing of the library are answered beside it.
    """
    limits = services.config.limits
    inbound_send, inbound = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbound, outbound_receive = anyio.create_memory_object_stream[SessionMessage](0)
    unanswered = Unanswered()
    reading = anyio.CancelScope()
    with quick_sink(sink) as opened:
        lines = LineSink(opened)

        async def read() -> None:
            with reading:
                async with inbound_send:
                    async for parsed in _messages(source, limits):
                        if isinstance(parsed, BadLine):
                            await lines.send(encode_message(error_reply(parsed).message))
                            continue
                        unanswered.read(parsed.message)
                        if not calls.takes(parsed.message):
                            await inbound_send.send(parsed)
                    # The library drops what is under way at the end of input; `echo … | sightline` wants its answers.
                    if not is_gone(source):
                        await unanswered.drain(limits.stdin_drain_s)

        async def write() -> None:
            async with outbound_receive:
                async for message in outbound_receive:
                    await lines.send(encode_message(message.message))
                    unanswered.written(message.message)

        async with anyio.create_task_group() as group:
            calls = DirectCalls(services, scope, group, lines, unanswered)
            group.start_soon(_quiet, read)
            group.start_soon(_quiet, write)
            yield inbound, outbound
            # The serving loop is over: the reader may wait on a pipe that never ends, the writer has its last lines.
            reading.cancel()
            calls.end()


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
