"""Whose turn it is when more work is asked for than can run at once.

**Invariant**: waiting clients are served round robin, so one with many calls delays another by one call at most per
running place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio


class Turns:
    """A bounded number of places, given to clients in turn. For one event loop."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: dict[str, deque[anyio.Event]] = {}

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncGenerator[None, None]:
        """Hold one place inside the block."""
        if self._free > 0:
            self._free -= 1
        else:
            await self._wait(client)
        try:
            yield
        finally:
            self._give_back()

    async def _wait(self, client: str) -> None:
        called = anyio.Event()
        self._waiting.setdefault(client, deque()).append(called)
        try:
            await called.wait()
        except BaseException:
            if called.is_set():
                self._give_back()
            else:
                self._withdraw(client, called)
            raise

    def _withdraw(self, client: str, called: anyio.Event) -> None:
        queue = self._waiting[client]
        queue.remove(called)
        if not queue:
            del self._waiting[client]

    def _give_back(self) -> None:
        if not self._waiting:
            self._free += 1
            return
        client = next(iter(self._waiting))
        queue = self._waiting.pop(client)
        queue.popleft().set()
        if queue:
            # To the end of the line: the others come first.
            self._waiting[client] = queue
