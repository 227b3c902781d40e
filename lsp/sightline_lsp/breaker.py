"""When a server that died may be started again.

**Invariant**: never more than the permitted starts within the window; between deaths the pause doubles, and a server
that ran well for a whole window starts with a clean record.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from sightline_core.limits import Limits


class Breaker:
    """Counts the starts of one server."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self._starts: deque[float] = deque()
        self._deaths = 0
        self._not_before = 0.0
        self._is_open = False
        self.total_starts = 0

    @property
    def is_open(self) -> bool:
        """Whether the server stays down until it is restarted by hand."""
        return self._is_open

    def delay_s(self) -> float:
        """How long to wait before the next start."""
        return max(0.0, self._not_before - self._clock())

    def started(self) -> None:
        """A start happens now."""
        now = self._clock()
        self._starts.append(now)
        self._forget(now)
        self.total_starts += 1

    def died(self) -> None:
        """The server ended without being asked to."""
        now = self._clock()
        if self._starts and now - self._starts[-1] > self._limits.lsp_start_window_s:
            self._deaths = 0
        self._deaths += 1
        # The first death costs no pause: a server that ran and crashed once is back at the next request.
        if self._deaths > 1:
            pause = self._limits.lsp_backoff_first_s * 2 ** (self._deaths - 2)
            self._not_before = now + min(pause, self._limits.lsp_backoff_max_s)
        self._forget(now)
        if len(self._starts) >= self._limits.lsp_max_starts:
            self._is_open = True

    def reset(self) -> None:
        """A restart by hand."""
        self._starts.clear()
        self._deaths = 0
        self._not_before = 0.0
        self._is_open = False

    def _forget(self, now: float) -> None:
        while self._starts and now - self._starts[0] > self._limits.lsp_start_window_s:
            self._starts.popleft()
