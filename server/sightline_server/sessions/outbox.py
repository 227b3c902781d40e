"""What is waiting to be told to one client.

**Invariant**: posting never waits and never fails. What is newer replaces what is older of the same key, so a client
that reads slowly, or not at all, costs a bounded number of messages and holds up nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import anyio

Message = tuple[str, Mapping[str, Any]]


class Channel(Protocol):
    """Where notifications of a connection go; the library's `Connection` is one."""

    async def notify(self, method: str, params: Mapping[str, Any] | None) -> None:
        """Send one notification, or drop it when the peer is gone."""
        ...


class Outbox:
    """The unsent notifications of one session, oldest first."""

    def __init__(self, max_messages: int) -> None:
        self._max_messages = max_messages
        self._waiting: dict[str, Message] = {}
        self._posted = anyio.Event()
        self._scope = anyio.CancelScope()
        self.is_open = True

    def post(self, key: str, method: str, params: Mapping[str, Any]) -> None:
        """Have a notification sent; an unsent one with the same key is forgotten."""
        if not self.is_open:
            return
        self._waiting.pop(key, None)
        if len(self._waiting) >= self._max_messages:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[key] = (method, params)
        self._posted.set()

    def close(self) -> None:
        """Send nothing more."""
        self.is_open = False
        self._waiting.clear()
        self._scope.cancel()

    async def run(self, channel: Channel) -> None:
        """Send what is posted until the outbox is closed."""
        with self._scope:
            while True:
                while self._waiting:
                    method, params = self._waiting.pop(next(iter(self._waiting)))
                    await channel.notify(method, params)
                self._posted = anyio.Event()
                await self._posted.wait()
