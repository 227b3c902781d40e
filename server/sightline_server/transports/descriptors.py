"""Reading and writing of descriptors, pipes, sockets and files, from the event loop.

**Invariant**: no thread waits for a client, and one that stopped reading never stops the loop.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import stat
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

import anyio
import anyio.lowlevel

logger = logging.getLogger(__name__)

_CHUNK_BYTES = 64 * 1024


async def read_chunk(source: int) -> bytes:
    """What is there to read, as soon as there is something; empty at the end."""
    try:
        await _until_ready(anyio.wait_readable, source)
        return os.read(source, _CHUNK_BYTES)
    except OSError as error:
        logger.debug("standard input ended: %s", error)
        return b""


@contextmanager
def quick_sink(sink: int) -> Generator[int, None, None]:
    """A descriptor that writes where `sink` does; for a pipe, if it can be had, one that never blocks.

    A write into a blocking pipe may be no longer than the page that is surely free, so that a long answer takes
    dozens of turns of the loop. Making the pipe itself non-blocking would change it for whoever shares it; opening it
    once more does not.
    """
    own: int | None = None
    if stat.S_ISFIFO(os.fstat(sink).st_mode) and os.get_blocking(sink):
        # Not everywhere there is /proc, and a pipe of another user cannot be opened.
        with contextlib.suppress(OSError):
            own = os.open(f"/proc/self/fd/{sink}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield sink if own is None else own
    finally:
        if own is not None:
            os.close(own)


class LineSink:
    """Lines to one descriptor from many tasks, each whole and in the order in which they were sent.

    A sender that is cancelled in the middle of its line leaves the rest of it to the next one.
    """

    def __init__(self, sink: int) -> None:
        self._sink = sink
        self._turn = anyio.Lock(fast_acquire=True)
        self._rest = memoryview(b"")

    async def send(self, line: bytes) -> None:
        """Write a line, as the reader takes it."""
        async with self._turn:
            await self._write(self._rest)
            await self._write(memoryview(line + b"\n"))

    async def _write(self, left: memoryview) -> None:
        blocking = os.get_blocking(self._sink)
        # A ready pipe takes this much without blocking.
        most = select.PIPE_BUF if blocking else _CHUNK_BYTES
        if left and blocking:
            await _until_ready(anyio.wait_writable, self._sink)
        while left:
            with contextlib.suppress(BlockingIOError):
                left = self._rest = left[os.write(self._sink, left[:most]) :]
            if left:
                await _until_ready(anyio.wait_writable, self._sink)


def is_gone(source: int) -> bool:
    """True when the other end of a socket is closed both ways: nobody will read an answer."""
    poller = select.poll()
    poller.register(source, 0)
    return stat.S_ISSOCK(os.fstat(source).st_mode) and any(event & select.POLLHUP for _, event in poller.poll(0))


async def _until_ready(wait: Callable[[int], Awaitable[None]], descriptor: int) -> None:
    # No threads: one that blocks on a silent client would outlive every signal.
    try:
        await wait(descriptor)
    except PermissionError:
        # A regular file cannot be waited for and never blocks.
        await anyio.lowlevel.checkpoint()
