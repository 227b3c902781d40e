"""The diagnostics a server pushed, and the wait for those that answer a change.

**Invariant**: an answer is `updated` only when something was published after the moment the caller looked at the
counter; every wait ends, and at most a bounded number of files and of findings per file is kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import anyio

from sightline_core.limits import Limits
from sightline_lsp.answers import DiagnosticsOutcome
from sightline_lsp.convert import uri_to_path
from sightline_lsp.shapes import WireDiagnostic, WirePublished
from sightline_lsp.waiting import either


@dataclass(frozen=True, slots=True)
class Published:
    """The latest findings of one file; `generation` grows with every publication of the server."""

    generation: int
    items: tuple[WireDiagnostic, ...]
    truncated: bool
    size: int


class DiagnosticStore:
    """What one server published last, by path."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._files: OrderedDict[str, Published] = OrderedDict()
        self._bytes = 0
        self.generation = 0
        self.changed = anyio.Event()

    def publish(self, message: WirePublished, size: int) -> None:
        """Keep a publication of `size` bytes on the wire; one about no file of this machine is dropped."""
        path = uri_to_path(message.uri)
        if path is None:
            return
        self.generation += 1
        bound = self._limits.lsp_max_diagnostics_per_file
        items = tuple(message.diagnostics[:bound])
        self._drop(path)
        self._files[path] = Published(self.generation, items, len(message.diagnostics) > bound, size)
        self._bytes += size
        while len(self._files) > self._limits.lsp_max_diagnostic_files or self._is_too_big():
            self._drop(next(iter(self._files)))
        self.wake()

    def wake(self) -> None:
        """Let whoever waits for a publication look again."""
        self.changed.set()
        self.changed = anyio.Event()

    def get(self, path: str) -> Published | None:
        """The latest publication for `path`."""
        found = self._files.get(path)
        if found is not None:
            self._files.move_to_end(path)
        return found

    def _is_too_big(self) -> bool:
        return self._bytes > self._limits.lsp_max_diagnostic_bytes and len(self._files) > 1

    def _drop(self, path: str) -> None:
        known = self._files.pop(path, None)
        if known is not None:
            self._bytes -= known.size

    def __len__(self) -> int:
        return len(self._files)


@dataclass(frozen=True, slots=True)
class Signs:
    """How the wait sees whether the server lives and works."""

    is_dead: Callable[[], bool]
    last_traffic: Callable[[], float]
    has_progress: Callable[[], bool]
    death: anyio.Event
    is_pulled: Callable[[], bool] = lambda: False
    """Whether the server has said meanwhile that it wants to be asked."""


async def wait_for_update(
    store: DiagnosticStore, path: str, since: int, signs: Signs, limits: Limits, deadline: float
) -> DiagnosticsOutcome:
    """Wait until `path` was published after `since` and the server has fallen quiet; bounded by `deadline`."""
    outcome = await _wait_for_publication(store, path, since, signs, limits, deadline)
    if outcome is not DiagnosticsOutcome.UPDATED:
        return outcome
    quiet_s = limits.lsp_diagnostics_quiet_ms / 1000
    while not signs.is_dead():
        seen = store.generation
        now = anyio.current_time()
        if now >= deadline:
            break
        changed = store.changed
        with anyio.move_on_after(min(quiet_s, deadline - now)):
            await either(changed, signs.death)
        if store.generation == seen and not signs.has_progress():
            break
    return DiagnosticsOutcome.UPDATED


async def _wait_for_publication(
    store: DiagnosticStore, path: str, since: int, signs: Signs, limits: Limits, deadline: float
) -> DiagnosticsOutcome:
    begun = anyio.current_time()
    while True:
        found = store.get(path)
        if found is not None and found.generation > since:
            return DiagnosticsOutcome.UPDATED
        if signs.is_dead():
            return DiagnosticsOutcome.SERVER_DIED
        if signs.is_pulled():
            return DiagnosticsOutcome.INACTIVE
        now = anyio.current_time()
        silent_at = max(begun, signs.last_traffic()) + limits.lsp_diagnostics_activity_s
        if now >= deadline or (now >= silent_at and not signs.has_progress()):
            return DiagnosticsOutcome.INACTIVE
        until = deadline if signs.has_progress() else min(deadline, silent_at)
        # Progress may end without a publication, so a long wait is looked at again now and then.
        with anyio.move_on_after(min(until - now, limits.lsp_diagnostics_activity_s)):
            await either(store.changed, signs.death)
