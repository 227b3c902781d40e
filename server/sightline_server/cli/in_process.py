"""Running the product inside a command, without a server.

**Invariant**: a command opens exactly the workspace it was given and watches nothing. It brings an index that exists
up to the disk first, within a box; it never starts a first one, which its end would cut off.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeVar

from sightline_server.cli.command import config_of, set_up_logging

if TYPE_CHECKING:
    from sightline_core.progress import Progress
    from sightline_server.app import Services
    from sightline_server.workspaces import Workspace

T = TypeVar("T")


def run_on_workspace(args: argparse.Namespace, work: Callable[[Services, Workspace], Awaitable[T]]) -> T:
    """Open the services, find the workspace that holds the path, and run `work` on it."""
    set_up_logging(args.verbose, quiet=True)
    from sightline_core.path_text import real_directory

    path = real_directory(args.workspace)
    config = replace(config_of(args), watch=False, prewarm=False, toolset=("all",))
    import anyio

    from sightline_server.app import open_services
    from sightline_server.workspaces import Origin

    async def main() -> T:
        async with open_services(config, start_directory=path, sync_on_open=False) as services:
            # A directory inside a known workspace means that workspace, as in a tool call.
            known = services.workspaces.find(path)
            workspace = known or services.workspaces.register(_project_root(path), Origin.NAMED)
            # A folder inside a workspace must not become a workspace because a command was run there.
            services.start_directory = workspace.path
            try:
                return await work(services, workspace)
            finally:
                # Nor may a folder that was only asked about: everything below it would belong to it from then on.
                if known is None and not _has_index(workspace):
                    services.workspaces.evict(workspace)

    return anyio.run(main)


async def call_tool_on(
    name: str, arguments: dict[str, Any], services: Services, workspace: Workspace, *, catch_up: bool
) -> dict[str, Any]:
    """The structured content of one tool call on the command's workspace."""
    from sightline_server.dispatch import call_tool
    from sightline_server.sessions.session import TransportKind

    if catch_up:
        await _catch_up(services, workspace)
    session = services.new_session(TransportKind.MEMORY)
    return (await call_tool(services, session, name, {**arguments, "workspace": workspace.path})).body


def job_in_process(args: argparse.Namespace, *, full: bool, show: Callable[[Progress], None]) -> dict[str, Any]:
    """How a job ended: `body`, `lines` and `published`; raises what it failed with."""

    async def work(services: Services, workspace: Workspace) -> dict[str, Any]:
        from sightline_server.command_jobs import run_job

        async def tell(progress: Progress) -> None:
            show(progress)

        return asdict(await run_job(services, workspace, full=full, force=args.force, show=tell))

    return run_on_workspace(args, work)


async def _catch_up(services: Services, workspace: Workspace) -> None:
    """Nobody watched since the last command: look for changes now. What comes too late is labelled `syncing`."""
    import anyio

    from sightline_core.errors import SightlineError
    from sightline_core.types import IndexingStatus
    from sightline_server.job_follow import wait_for

    index = await services.indexes.of(workspace)
    if index.status().indexing_status is not IndexingStatus.READY:
        return
    try:
        job = index.start_job(mode=None, force=False, reason="command line")
    except SightlineError:
        # An index that cannot be used says so in the answer.
        return
    await wait_for(job, interval_s=0, deadline=anyio.current_time() + services.config.limits.command_sync_wait_s)


def _has_index(workspace: Workspace) -> bool:
    from sightline_core.types import IndexingStatus

    built = (IndexingStatus.READY, IndexingStatus.INDEXING)
    return workspace.index is not None and workspace.index.status().indexing_status in built


def _project_root(path: str) -> str:
    """The enclosing git work tree, so that a command works from any folder of a project; else the path itself."""
    from sightline_server.workspaces import is_too_broad

    current = path
    # A home directory that is kept in git is not the project of everything in it.
    while current == path or not is_too_broad(current):
        if os.path.exists(os.path.join(current, ".git")):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            break
        current = parent
    return path
