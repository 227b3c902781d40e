"""Tells the owner of an index when files changed (placeholder of this branch: notices nothing)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_indexer.path_filter import PathFilter


class WatcherState(StrEnum):
    """Whether changes are noticed."""

    OFF = "off"
    STARTING = "starting"
    WATCHING = "watching"
    DEGRADED = "degraded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Changes:
    """Files that may have changed; None asks for a look at the whole root."""

    paths: frozenset[str] | None


class Watcher:
    """Watches one root."""

    def __init__(
        self, root: RepoRoot, path_filter: PathFilter, on_change: Callable[[Changes], None], limits: Limits
    ) -> None:
        self.state = WatcherState.OFF
        self.reason = ""
        self.pending = False

    def start(self) -> None:
        """Begin watching."""

    def stop(self) -> None:
        """End watching."""
