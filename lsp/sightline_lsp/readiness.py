"""Whether a server has loaded enough to be believed.

**Invariant**: a server is ready only when no progress is open and it has been quiet for the settling time since its
start and since the last progress ended; before that an empty answer means nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from sightline_core.limits import Limits

Token = int | str


class Readiness:
    """The open progress of one server."""

    def __init__(self, limits: Limits, *, settle: bool, clock: Callable[[], float] = anyio.current_time) -> None:
        self._limits = limits
        self._settle_s = limits.lsp_settle_ms / 1000 if settle else 0.0
        self._clock = clock
        self._open: dict[Token, str] = {}
        self._quiet_since = clock()
        self._last_sign = clock()
        self._held = False
        self._changed = anyio.Event()

    @property
    def is_ready(self) -> bool:
        """Whether answers can be taken as complete."""
        return not self._held and not self._open and self._clock() >= self._quiet_since + self._settle_s

    @property
    def has_progress(self) -> bool:
        """Whether a progress is open."""
        return bool(self._open)

    @property
    def detail(self) -> str:
        """The title of a progress that is open."""
        return next(iter(self._open.values()), "")

    def hold(self) -> None:
        """Not ready until `release`, for servers that announce it themselves."""
        self._held = True

    def release(self) -> None:
        """The announcement came."""
        self._held = False
        self._touch()

    def started(self) -> None:
        """The server finished its handshake."""
        self._quiet_since = self._clock()
        self._touch()

    def begin(self, token: Token, title: str) -> None:
        """A progress begins; beyond the limit further ones are not tracked."""
        if token in self._open or len(self._open) < self._limits.lsp_max_progress_tokens:
            self._open[token] = title
        self._touch()

    def report(self, token: Token) -> None:
        """A progress goes on."""
        if token in self._open:
            self._touch()

    def end(self, token: Token) -> None:
        """A progress ends; one that never began is nothing."""
        if self._open.pop(token, None) is not None:
            self._quiet_since = self._clock()
            self._touch()

    async def wait(self, timeout_s: float) -> bool:
        """Wait until ready; False when the time is over or the open progress shows no sign of life any more."""
        deadline = self._clock() + timeout_s
        while not self.is_ready:
            now = self._clock()
            until = deadline
            if self._open or self._held:
                until = min(until, self._last_sign + self._limits.lsp_progress_silence_s)
            else:
                until = min(until, self._quiet_since + self._settle_s)
            if now >= until:
                return self.is_ready
            with anyio.move_on_after(until - now):
                await self._changed.wait()
        return True

    def _touch(self) -> None:
        self._last_sign = self._clock()
        self._changed.set()
        self._changed = anyio.Event()
