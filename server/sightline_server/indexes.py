"""The indexes of this process: opened once per workspace, in threads, closed together.

**Invariant**: at most one `WorkspaceIndex` per workspace exists in a process, and it is opened off the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import anyio.to_thread

from sightline_core.config import Config
from sightline_core.errors import SightlineError
from sightline_indexer.job import Job
from sightline_indexer.pipeline import Difference
from sightline_indexer.workspace_index import WorkspaceIndex
from sightline_server.workspaces import Workspace

T = TypeVar("T")
logger = logging.getLogger(__name__)


class Indexes:
    """Every open index, by workspace path."""

    def __init__(
        self,
        config: Config,
        *,
        sync_on_open: bool = True,
        on_open: Callable[[Workspace, Job | None], Awaitable[None]] | None = None,
        on_difference: Callable[[Workspace, Difference], None] | None = None,
        on_job: Callable[[Workspace, Job], None] | None = None,
    ) -> None:
        """`on_open` is told of every index that is opened, with the job that brings it up to date; `on_difference`
        of every change on disk that a job finds, `on_job` of every job, both on the event loop."""
        self._config = config
        self._on_difference = on_difference
        self._on_job = on_job
        self._on_open = on_open
        # Off in a command, whose end would cut such a job off.
        self.starts_jobs_unasked = sync_on_open
        self._open: dict[str, WorkspaceIndex] = {}
        self._opening = anyio.Lock()

    async def of(self, workspace: Workspace) -> WorkspaceIndex:
        """The index of a workspace; opened, and brought up to date in the background, at first use."""
        index = self._open.get(workspace.path)
        if index is not None:
            return index
        async with self._opening:
            return self._open.get(workspace.path) or await self._open_one(workspace)

    async def _open_one(self, workspace: Workspace) -> WorkspaceIndex:
        # Shielded: an index that opened while its caller was cancelled must still be known to `close`.
        opened: list[tuple[WorkspaceIndex, Job | None]] = []
        tell = (_on_loop(self._on_difference, workspace), _on_loop(self._on_job, workspace))
        with anyio.CancelScope(shield=True):
            opened.append(await anyio.to_thread.run_sync(self._open_index, workspace, *tell))
            self._open[workspace.path] = workspace.index = opened[0][0]
        index, job = opened[0]
        if self._on_open is not None:
            await self._on_open(workspace, job)
        return index

    async def forget(self, workspace: Workspace) -> None:
        """Close the index of a workspace that is no longer served; it stays on disk."""
        index = self._open.pop(workspace.path, None)
        workspace.index = None
        if index is None:
            return
        # Shielded: nobody else knows it any more, so an end that comes now must not leave its threads behind.
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(index.close)

    async def close(self) -> None:
        """Close all, side by side, each within its own grace."""
        async with self._opening, anyio.create_task_group() as group:
            for index in self._open.values():
                group.start_soon(anyio.to_thread.run_sync, index.close)
        self._open.clear()

    def _open_index(
        self,
        workspace: Workspace,
        on_difference: Callable[[Difference], None] | None,
        on_job: Callable[[Job], None] | None,
    ) -> tuple[WorkspaceIndex, Job | None]:
        folder = index_folder(self._config.data_dir, workspace)
        index = WorkspaceIndex(
            workspace.root,
            folder,
            self._config.limits,
            watch=self._config.watch,
            on_difference=on_difference,
            on_job=on_job,
        )
        index.open()
        return index, _bring_up_to_date(index) if self.starts_jobs_unasked else None


def _on_loop(tell: Callable[[Workspace, T], None] | None, workspace: Workspace) -> Callable[[T], None] | None:
    """Brings what a job's thread finds to the event loop."""
    if tell is None:
        return None
    loop = asyncio.get_running_loop()

    def forward(found: T) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, workspace, found)

    return forward


def _bring_up_to_date(index: WorkspaceIndex) -> Job | None:
    try:
        return index.start_job(mode=None, force=False, reason="start")
    except SightlineError as error:
        # A damaged or foreign index is reported by `status` with its remedy; it must not stop the server.
        logger.warning("%s: %s", index.root.path, error.full_message)
        return None


def index_folder(data_dir: str, workspace: Workspace) -> str:
    """Where the index of a workspace lives."""
    return os.path.join(data_dir, "projects", workspace.project_id)
