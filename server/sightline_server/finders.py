"""The processes that parse files for navigation and context, one set a workspace, started at first need."""

from __future__ import annotations

import threading

from sightline_core.limits import Limits
from sightline_indexer.occurrence_workers import OccurrenceWorkers
from sightline_server.workspaces import Workspace


class Finders:
    """The finders of this process by workspace. Thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._by_path: dict[str, OccurrenceWorkers] = {}

    def of(self, workspace: Workspace) -> OccurrenceWorkers:
        """The finder of a workspace; its processes start when it is asked."""
        with self._lock:
            finder = self._by_path.get(workspace.path)
            if finder is None:
                finder = OccurrenceWorkers(workspace.root, self._limits, self._limits.fallback_processes)
                self._by_path[workspace.path] = finder
            return finder

    def forget(self, workspace: Workspace) -> None:
        """End the processes of a workspace that is no longer served."""
        with self._lock:
            finder = self._by_path.pop(workspace.path, None)
        if finder is not None:
            finder.close()

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            finders, self._by_path = list(self._by_path.values()), {}
        for finder in finders:
            finder.close()
