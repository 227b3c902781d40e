"""The language servers as the rest of the server package sees them: the pool, told which workspaces are in use.

**Invariant**: a server's folders are exactly the open workspaces; a directory that nobody asked about is never
handed to one.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio

from sightline_core.config import Config
from sightline_core.errors import SightlineError
from sightline_core.types import Source
from sightline_indexer.pipeline import Difference
from sightline_lsp.answers import ServerStatus
from sightline_lsp.pool import Pool, Root
from sightline_lsp.watched_files import ChangeKind, FileChange
from sightline_server.registry import Registry
from sightline_server.workspaces import Workspace

logger = logging.getLogger(__name__)


class LanguageServers:
    """The pool of this process, with its roots kept in step with the open workspaces."""

    def __init__(self, config: Config, registry: Registry) -> None:
        """Raises `invalid_input` for server tables that cannot work."""
        self._registry = registry
        # Told whenever a server starts, runs, dies or is given up.
        self.on_state: Callable[[ServerStatus], None] = _ignore
        self._open: dict[str, Workspace] = {}
        self._telling = anyio.Lock()
        self._told: tuple[Root, ...] = ()
        self._collecting = 0
        self.pool = Pool(
            config,
            config.limits,
            ran_before=[(entry.path, name) for entry in registry.entries() for name in entry.servers],
            on_first_run=registry.remember_server,
            on_state=self._tell_state,
        )

    async def opened(self, workspace: Workspace) -> None:
        """A workspace is in use, or its languages or trust may have changed."""
        self._open[workspace.path] = workspace
        await self._tell()

    async def closed(self, workspace: Workspace) -> None:
        """A workspace is no longer served."""
        self._open.pop(workspace.path, None)
        await self._tell()

    @asynccontextmanager
    async def one_change(self) -> AsyncGenerator[None, None]:
        """What is opened and closed inside the block reaches the servers as one change, at its end."""
        self._collecting += 1
        try:
            yield
        finally:
            self._collecting -= 1
        await self._tell()

    def languages_of(self, workspace: Workspace) -> tuple[str, ...]:
        """The languages of a workspace that some server could serve, most files first."""
        if workspace.index is None:
            return ()
        counts = workspace.index.status().languages
        known = set(self.pool.languages())
        return tuple(sorted((name for name in counts if name in known), key=lambda name: -counts[name]))

    def sources(self, workspace: Workspace) -> tuple[Source, ...]:
        """How each language of a workspace would take part in an answer now."""
        return self.pool.sources(workspace.path, self.languages_of(workspace))

    def files_changed(self, workspace: Workspace, difference: Difference) -> None:
        """Let the servers that watch files know what changed on disk; the pool debounces."""
        kinds = (
            (difference.added, ChangeKind.CREATED),
            (difference.changed, ChangeKind.CHANGED),
            (difference.removed, ChangeKind.DELETED),
        )
        changes = [FileChange(os.path.join(workspace.path, path), kind) for paths, kind in kinds for path in paths]
        self.pool.file_changed(workspace.path, changes)

    def _tell_state(self, status: ServerStatus) -> None:
        self.on_state(status)

    def _roots(self) -> tuple[Root, ...]:
        """The open workspaces; one whose folder was deleted must not keep the servers from hearing of the others."""
        return tuple(
            Root(workspace.path, workspace.trusted, frozenset(self.languages_of(workspace)))
            for workspace in self._open.values()
            if os.path.isdir(workspace.path)
        )

    async def _tell(self) -> None:
        if self._collecting:
            return
        # One at a time, so that servers hear of folder changes in their order.
        async with self._telling:
            roots = self._roots()
            if roots == self._told:
                return
            try:
                await self.pool.set_roots(roots)
                self._told = roots
            except SightlineError as error:
                # One went away just now; the next change tells of the rest.
                logger.warning("the language servers were not told of a change of folders: %s", error.full_message)


def _ignore(_status: ServerStatus) -> None:
    """Nobody wants to know."""
