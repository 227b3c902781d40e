"""The roots of a session: asked for, registered, and given back.

**Invariant**: asking never holds up another message; repeated changes while an answer is awaited lead to one more
question. A root over HTTP counts only below a directory that the user named.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Sequence

import anyio

from sightline_core.errors import SightlineError
from sightline_core.paths import relative_to
from sightline_server.app import Services
from sightline_server.sessions.root_uris import RefusedRoot, directory_of
from sightline_server.sessions.session import Session, TransportKind
from sightline_server.workspaces import Origin, Workspace, is_too_broad

logger = logging.getLogger(__name__)

# Gives the URIs of the client's roots; raises what the client answered instead.
Ask = Callable[[], Awaitable[Sequence[str]]]


class RootsKeeper:
    """Keeps one session's roots in step with its client."""

    def __init__(self, services: Services, session: Session) -> None:
        self._services = services
        self._session = session
        self._is_asking = False
        self._is_outdated = False
        session.on_end.append(self._give_back)

    async def refresh(self, ask: Ask) -> None:
        """Ask the client and follow its answer; while another call is at it, have that one ask again."""
        self._is_outdated = True
        if self._is_asking:
            return
        self._is_asking = True
        try:
            while self._is_outdated:
                self._is_outdated = False
                uris = await self._ask(ask)
                if uris is not None and not self._is_outdated:
                    await self.follow(uris)
        finally:
            self._is_asking = False

    async def follow(self, uris: Sequence[str]) -> tuple[Workspace, ...]:
        """Make these the session's roots: the first is its default, servers hear of all changes at once."""
        if self._session not in self._services.sessions:
            return ()
        roots = register_roots(self._services, self._session, uris)
        before, self._session.roots = self._session.roots, roots
        for workspace in roots:
            workspace.holders += 1
        self._session.default_workspace = roots[0] if roots else self._session.start_workspace
        # On a task of the process: what was begun for a client is finished also when the client leaves.
        done = anyio.Event()
        self._services.tasks.start_soon(_open_and_close, self._services, roots, before, done)
        await done.wait()
        return roots

    def _give_back(self) -> None:
        before, self._session.roots = self._session.roots, ()
        if before:
            self._services.tasks.start_soon(_open_and_close, self._services, (), before, anyio.Event())

    async def _ask(self, ask: Ask) -> Sequence[str] | None:
        """The client's answer; None when there is none in time, or an error instead."""
        limits = self._services.config.limits
        answers: list[Sequence[str]] = []

        async def ask_once(scope: anyio.CancelScope) -> None:
            try:
                answers.append(await ask())
            except Exception as error:  # noqa: BLE001 - whatever a client does instead of answering means no roots
                logger.warning("the client did not tell its roots: %s", error)
                failed.append(error)
            scope.cancel()

        failed: list[Exception] = []
        # Over HTTP the stream that carries the question may open after `initialized`: what was sent before is lost.
        again_s = (
            limits.roots_ask_again_s if self._session.transport is TransportKind.HTTP else limits.roots_timeout_s
        )
        with anyio.move_on_after(limits.roots_timeout_s):
            async with anyio.create_task_group() as group:
                while True:
                    group.start_soon(ask_once, group.cancel_scope)
                    await anyio.sleep(again_s)
        if not answers and not failed:
            logger.warning("the client did not tell its roots within %g s", limits.roots_timeout_s)
        return answers[0] if answers else None


def register_roots(services: Services, session: Session, uris: Sequence[str]) -> tuple[Workspace, ...]:
    """The workspaces of those roots that count, in their order; each other one is logged."""
    found: dict[str, Workspace] = {}
    for uri in uris[: services.config.limits.max_client_roots]:
        path = directory_of(uri)
        root = path if isinstance(path, RefusedRoot) else _register(services, session, uri, path)
        if isinstance(root, RefusedRoot):
            logger.warning("the root %.200r is ignored: %s", root.uri, root.reason)
        else:
            found.setdefault(root.path, root)
    if len(uris) > services.config.limits.max_client_roots:
        logger.warning("only the first %d of %d roots count", services.config.limits.max_client_roots, len(uris))
    return tuple(found.values())


def _register(services: Services, session: Session, uri: str, path: str) -> Workspace | RefusedRoot:
    workspaces = services.workspaces
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        return RefusedRoot(uri, "there is no such directory")
    if is_too_broad(real) and all(workspace.path != real for workspace in workspaces.named):
        return RefusedRoot(uri, "it is the home directory or the root of the file system, and was not named")
    origin = Origin.CLIENT_ROOT
    if not session.trusts_roots:
        named = any(relative_to(workspace.path, real) is not None for workspace in workspaces.named)
        if not named and all(relative_to(allowed, real) is None for allowed in workspaces.allowed_roots):
            return RefusedRoot(uri, "it lies below no --workspace and no --allowed-root")
        origin = Origin.CLIENT_ROOT if named else Origin.HTTP_ROOT
    try:
        return workspaces.register(real, origin)
    except SightlineError as error:
        return RefusedRoot(uri, error.message)


async def _open_and_close(
    services: Services, opened: Sequence[Workspace], left: Sequence[Workspace], done: anyio.Event
) -> None:
    """Open what came and close what nobody holds any more; language servers hear of it in one notification."""
    try:
        async with services.language_servers.one_change():
            for workspace in opened:
                await services.indexes.of(workspace)
                # Its trust may have changed while it was open.
                await services.language_servers.opened(workspace)
            for workspace in left:
                workspace.holders -= 1
                if workspace.holders == 0 and services.workspaces.release(workspace):
                    await services.language_servers.closed(workspace)
                    await services.indexes.forget(workspace)
    except (OSError, SightlineError) as error:
        logger.warning("a root could not be opened: %s", error)
    finally:
        done.set()
