"""The requests of one client that were read and not yet answered."""

from __future__ import annotations

import anyio
import mcp_types as types


class Unanswered:
    """Counts what is owed, so that an end of input does not lose it."""

    def __init__(self) -> None:
        self._ids: set[str | int] = set()
        self._none_left = anyio.Event()

    def read(self, message: types.JSONRPCMessage) -> None:
        """A message came in."""
        if isinstance(message, types.JSONRPCRequest):
            self._ids.add(message.id)

    def written(self, message: types.JSONRPCMessage) -> None:
        """A message went out."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None:
            self.settled(message.id)

    def settled(self, identity: str | int) -> None:
        """A request was answered, or needs no answer any more."""
        self._ids.discard(identity)
        if not self._ids:
            self._none_left.set()

    async def drain(self, seconds: float) -> None:
        """Wait until all are answered, not longer than `seconds`."""
        if self._ids:
            self._none_left = anyio.Event()
            with anyio.move_on_after(seconds):
                await self._none_left.wait()
