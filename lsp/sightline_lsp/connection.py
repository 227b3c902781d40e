"""One conversation with one language server over a byte stream.

**Invariant**: a request ends by its deadline, with its answer, an error or the death of the connection; bytes from
the server never raise out of the reader nor grow memory beyond the limits; the reader never waits for the writer.
"""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import anyio
import anyio.lowlevel
import msgspec
from anyio.abc import ByteReceiveStream, ByteSendStream

from sightline_core.limits import Limits
from sightline_lsp import faults, messages
from sightline_lsp.framing import Frame, FrameReader, Garbage
from sightline_lsp.messages import Answer, Failure, Malformed, Notification, ServerRequest, Shape

T = TypeVar("T")
log = logging.getLogger(__name__)
_SILENT = float("-inf")


class Handler(Protocol):
    """What a connection asks its owner; both calls return at once."""

    def on_request(self, request: ServerRequest) -> bytes:
        """The framed reply to a request of the server."""
        ...

    def on_notification(self, notification: Notification) -> None:
        """A notification of the server; may raise `Malformed`."""
        ...


@dataclass(slots=True)
class _Waiter:
    method: str
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: msgspec.Raw | None = None
    failure: Failure | None = None
    error: faults.LspError | None = None


class Connection:
    """Correlates requests and answers; `run` is to be run in a task of its own."""

    def __init__(
        self,
        receive: ByteReceiveStream,
        send: ByteSendStream,
        handler: Handler,
        *,
        language: str,
        server: str,
        limits: Limits,
        describe_death: Callable[[str], faults.LspError] | None = None,
        farewell: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`describe_death` words the end of the server; `farewell` is awaited when its output ends, to learn more."""
        self._receive = receive
        self._send = send
        self._handler = handler
        self._language = language
        self._server = server
        self._limits = limits
        self._ids = itertools.count(1)
        self._last_id = 0
        self._pending: dict[int, _Waiter] = {}
        self._outbox, self._outgoing = anyio.create_memory_object_stream[bytes](limits.lsp_max_queued_messages)
        self._reader = FrameReader(
            max_body_bytes=limits.lsp_max_message_bytes, max_header_bytes=limits.lsp_max_header_bytes
        )
        self._describe: Callable[[str], faults.LspError] = describe_death or self._plain_death
        self._farewell = farewell
        self._death: Callable[[], faults.LspError] | None = None
        self.closed = anyio.Event()
        self.garbage_count = 0
        self.last_traffic = _SILENT

    @property
    def pending_count(self) -> int:
        """How many requests wait for an answer."""
        return len(self._pending)

    @property
    def death(self) -> faults.LspError | None:
        """Why the conversation is over, or None while it is not."""
        return self._death() if self._death is not None else None

    # -- asking --------------------------------------------------------------------------------

    async def request(self, method: str, params: Any, shape: Shape[T], *, timeout_s: float) -> T:
        """The decoded result; raises `LspError`. A cancelled or late request is withdrawn from the server."""
        deadline = anyio.current_time() + timeout_s
        for attempt in itertools.count():
            left = deadline - anyio.current_time()
            waiter = await self._ask(method, params, left, timeout_s)
            if waiter.error is not None:
                raise waiter.error
            if waiter.failure is None:
                assert waiter.answer is not None
                return self._decode(waiter.answer, shape)
            if waiter.failure.code not in messages.RETRIED_CODES or attempt >= self._limits.lsp_retries:
                raise self._refusal(waiter.failure, method)
            await anyio.sleep(min(self._limits.lsp_retry_delay_ms / 1000 * 2**attempt, max(0.0, left)))
        raise AssertionError("unreachable")

    async def notify(self, method: str, params: Any) -> None:
        """Send a notification, in order with everything else; raises `LspError` when the server reads nothing."""
        timeout_s = self._limits.lsp_write_timeout_s
        self._check_alive()
        with anyio.move_on_after(timeout_s) as scope:
            await self._put(messages.encode_notification(method, params))
        if scope.cancelled_caught:
            raise faults.timed_out(self._language, method, timeout_s, " (it does not read its input)")

    def close(self, death: Callable[[], faults.LspError]) -> None:
        """End the conversation: everything that waits fails with what `death` makes."""
        if self._death is None:
            self._death = death
            self.closed.set()
        for waiter in self._pending.values():
            waiter.error = waiter.error or self._death()
            waiter.done.set()

    # -- the two tasks --------------------------------------------------------------------------

    async def run(self) -> None:
        """Read and write until either side ends; never raises for what the server does."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._write_all)
                reason = await self._read_all()
                if self._farewell is not None and self._death is None:
                    await self._farewell()
                self._fail("its output ended" if reason is None else reason)
                tasks.cancel_scope.cancel()
        finally:
            self._fail("the connection was closed")
            self._outbox.close()
            self._outgoing.close()

    async def _read_all(self) -> str | None:
        stall_s = self._limits.lsp_stall_ms / 1000
        while True:
            data = b""
            with anyio.move_on_after(stall_s if self._reader.waiting else math.inf) as scope:
                try:
                    data = await self._receive.receive(self._limits.lsp_read_chunk_bytes)
                except anyio.EndOfStream:
                    self._take(self._reader.end())
                    return None
                except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError) as error:
                    return f"its output broke ({type(error).__name__})"
            if self._death is not None:
                return None
            if scope.cancelled_caught and not data:
                self._take(self._reader.stalled())
                continue
            self.last_traffic = anyio.current_time()
            self._take(self._reader.feed(data))
            if self.garbage_count > self._limits.lsp_max_bad_messages:
                return "it sent garbage over and over"
            # A flood never suspends `receive`; give the other tasks their turn.
            await anyio.lowlevel.checkpoint()

    async def _write_all(self) -> None:
        try:
            async for data in self._outgoing:
                await self._send.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            # The reader learns of the death by itself; a server that closed only its input is told apart there.
            self._fail("it closed its input")

    # -- what arrives --------------------------------------------------------------------------

    def _take(self, events: list[Any]) -> None:
        for event in events:
            if isinstance(event, Frame):
                self._take_frame(event.body)
            elif isinstance(event, Garbage):
                self._blame(event.reason, messages.owner_in(event.data))
            else:
                log.debug("[%s] %s wrote %d bytes of plain text", self._language, self._server, len(event.data))

    def _take_frame(self, body: bytes) -> None:
        try:
            message = messages.decode_message(body)
            self.garbage_count = 0
            if isinstance(message, Answer | Failure):
                self._settle(message)
            elif isinstance(message, Notification):
                self._handler.on_notification(message)
            else:
                self._reply(self._handler.on_request(message))
        except Malformed as error:
            self._blame(error.reason, error.owner)

    def _settle(self, message: Answer | Failure) -> None:
        waiter = self._pending.pop(message.id, None)
        if waiter is None:
            if not 0 < message.id <= self._last_id:
                raise Malformed(f"an answer to the id {message.id}, which was never asked")
            # Late or doubled: its asker has been served or is gone.
            return
        if isinstance(message, Answer):
            waiter.answer = message.result
        else:
            waiter.failure = message
        waiter.done.set()

    def _blame(self, reason: str, owner: int | None) -> None:
        """Fail the request that garbage belongs to, or every pending one where that cannot be told."""
        self.garbage_count += 1
        log.warning("[%s] %s sent garbage: %s", self._language, self._server, faults.quoted(reason))
        if owner is not None and owner not in self._pending and 0 < owner <= self._last_id:
            return
        hit = [owner] if owner in self._pending else list(self._pending)
        for id_ in hit:
            waiter = self._pending.pop(id_)
            waiter.error = faults.garbage(self._language, reason)
            waiter.done.set()

    def _reply(self, data: bytes) -> None:
        try:
            self._outbox.send_nowait(data)
        except anyio.WouldBlock:
            self._fail("it asks without reading the answers")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass

    # -- helpers -------------------------------------------------------------------------------

    async def _ask(self, method: str, params: Any, left_s: float, timeout_s: float) -> _Waiter:
        self._check_alive()
        if len(self._pending) >= self._limits.lsp_max_pending_requests:
            raise faults.overloaded(self._language, self._server)
        id_ = self._last_id = next(self._ids)
        waiter = self._pending[id_] = _Waiter(method)
        sent = False
        try:
            with anyio.move_on_after(max(0.0, left_s)):
                await self._put(messages.encode_request(id_, method, params))
                sent = True
                await waiter.done.wait()
        finally:
            if self._pending.pop(id_, None) is not None and sent and not waiter.done.is_set():
                self._withdraw(id_)
        if not waiter.done.is_set():
            half = " (a message of it stopped halfway)" if self._reader.waiting else ""
            waiter.error = faults.timed_out(self._language, method, timeout_s, half)
        return waiter

    async def _put(self, data: bytes) -> None:
        try:
            await self._outbox.send(data)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._check_alive()
            raise self._describe("the connection is closed") from None

    def _withdraw(self, id_: int) -> None:
        # A full queue means that the server does not read: it would not see the withdrawal either.
        with suppress(anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._outbox.send_nowait(messages.encode_notification("$/cancelRequest", {"id": id_}))

    def _decode(self, raw: msgspec.Raw, shape: Shape[T]) -> T:
        try:
            return shape.decode(raw)
        except Malformed as error:
            raise faults.garbage(self._language, error.reason) from None

    def _refusal(self, failure: Failure, method: str) -> faults.LspError:
        if failure.code == messages.METHOD_NOT_FOUND:
            return faults.unsupported(self._language, self._server, method)
        return faults.refused(self._language, method, failure.code, failure.message)

    def _check_alive(self) -> None:
        if self._death is not None:
            raise self._death()

    def _plain_death(self, reason: str) -> faults.LspError:
        return faults.died(self._language, self._server, reason, "")

    def _fail(self, reason: str) -> None:
        self.close(lambda: self._describe(reason))
