"""The connections of the daemon, each served by its kind: a session, a command, or a question about the daemon.

**Invariant**: only this user is served; a connection that ends takes its work with it and nothing of another's.
"""

from __future__ import annotations

import logging
import os
import socket
from dataclasses import asdict
from typing import Any

import anyio
import anyio.abc

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_core.progress import Progress
from sightline_server.app import Services
from sightline_server.command_jobs import run_job
from sightline_server.daemon.link import peer_uid
from sightline_server.daemon.place import Place
from sightline_server.daemon.plain_json import decode, encode
from sightline_server.daemon.report import daemon_report
from sightline_server.daemon.sessions import LiveSession, make_session
from sightline_server.daemon.wire import PROTOCOL, refusal
from sightline_server.dispatch import call_tool
from sightline_server.sessions.session import Session, TransportKind
from sightline_server.transports.stdio import serve_descriptors
from sightline_server.workspaces import Workspace

logger = logging.getLogger(__name__)

_CHUNK_BYTES = 64 * 1024


class Connections:
    """Who is connected, and whether the daemon shall end."""

    def __init__(self, services: Services, place: Place, group: anyio.abc.TaskGroup) -> None:
        self.services = services
        self.place = place
        self.group = group
        self.limits: Limits = services.config.limits
        self.live: list[LiveSession] = []
        self.commands = 0
        self.retired = False
        self.ended = anyio.Event()

    @property
    def count(self) -> int:
        """The connections that keep the daemon alive."""
        return len(self.live) + self.commands

    def left(self) -> None:
        """One connection is over; a retired daemon goes with the last."""
        if self.retired and not self.count:
            self.ended.set()


class _Stream:
    """One connection in lines, on the event loop."""

    def __init__(self, connection: socket.socket, max_bytes: int) -> None:
        self._connection = connection
        self._max_bytes = max_bytes
        self._rest = b""

    async def read(self) -> dict[str, Any] | None:
        """The next object; None when the other side is gone or sends something else."""
        while b"\n" not in self._rest:
            await anyio.wait_readable(self._connection)
            chunk = self._connection.recv(_CHUNK_BYTES)
            if not chunk or len(self._rest) > self._max_bytes:
                return None
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return decode(line)

    async def write(self, message: dict[str, Any]) -> None:
        """One object."""
        view = memoryview(encode(message) + b"\n")
        while view:
            await anyio.wait_writable(self._connection)
            view = view[self._connection.send(view[:_CHUNK_BYTES]) :]

    async def until_closed(self) -> None:
        """Return when the other side is gone; it says nothing meanwhile."""
        await anyio.wait_readable(self._connection)


async def serve_connection(connections: Connections, connection: socket.socket) -> None:
    """Serve one connection to its end; its faults stay here."""
    with connection:
        try:
            if peer_uid(connection) not in (None, os.geteuid()):
                logger.warning("a connection of another user was refused")
                return
            stream = _Stream(connection, connections.limits.max_hello_bytes)
            greeting: dict[str, Any] | None = None
            with anyio.move_on_after(connections.limits.daemon_hello_s):
                greeting = await stream.read()
            if greeting is not None:
                await _serve_kind(connections, connection, stream, greeting)
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            logger.debug("a connection ended: %s", error)
        except Exception:
            logger.exception("a connection failed")


async def _serve_kind(
    connections: Connections, connection: socket.socket, stream: _Stream, greeting: dict[str, Any]
) -> None:
    kind = greeting.get("kind")
    try:
        if kind == "control":
            await _control(connections, stream, greeting)
        elif greeting.get("sightline") != PROTOCOL:
            raise SightlineError(ErrorCode.INVALID_INPUT, "This daemon speaks another protocol.")
        elif kind == "session":
            await _session(connections, connection, stream, greeting)
        elif kind == "command":
            await _command(connections, stream, greeting)
        else:
            raise SightlineError(ErrorCode.INVALID_INPUT, "This daemon does not know such connections.")
    except SightlineError as error:
        await stream.write(refusal(error))


async def _session(
    connections: Connections, connection: socket.socket, stream: _Stream, greeting: dict[str, Any]
) -> None:
    if len(connections.live) >= connections.limits.daemon_max_sessions:
        raise SightlineError(ErrorCode.OVERLOADED, "The daemon has as many sessions as it may.")
    live = make_session(connections.services, greeting)
    connections.live.append(live)
    try:
        await stream.write({"ok": True, "pid": os.getpid()})
        if live.prewarm:
            connections.group.start_soon(_prewarm, connections.services, live.workspaces)
        await serve_descriptors(connections.services, connection.fileno(), connection.fileno(), live.session)
    finally:
        connections.services.end_session(live.session)
        connections.live.remove(live)
        connections.left()


async def _prewarm(services: Services, workspaces: tuple[Workspace, ...]) -> None:
    for workspace in workspaces:
        try:
            await services.indexes.of(workspace)
        except (SightlineError, OSError) as error:
            logger.warning("%s could not be opened: %s", workspace.path, error)


async def _command(connections: Connections, stream: _Stream, greeting: dict[str, Any]) -> None:
    services = connections.services
    workspace = services.workspaces.find(str(greeting.get("path")))
    if workspace is None or workspace.index is None:
        # Opening it would watch and index what nobody but this one command asked for.
        await stream.write({"ok": False, "code": "not_served"})
        return
    connections.commands += 1
    session = services.new_session(TransportKind.MEMORY)
    try:
        await stream.write({"ok": True, "pid": os.getpid()})
        while (request := await stream.read()) is not None:
            async with anyio.create_task_group() as group:
                # A command that is interrupted closes its connection: its call ends with it.
                group.start_soon(_cancel_when_closed, stream, group.cancel_scope)
                await stream.write(await _answer(services, session, workspace, stream, request))
                group.cancel_scope.cancel()
    finally:
        services.end_session(session)
        connections.commands -= 1
        connections.left()


async def _cancel_when_closed(stream: _Stream, scope: anyio.CancelScope) -> None:
    await stream.until_closed()
    scope.cancel()


async def _answer(
    services: Services, session: Session, workspace: Workspace, stream: _Stream, request: dict[str, Any]
) -> dict[str, Any]:
    if "tool" in request:
        arguments = {**request["arguments"], "workspace": workspace.path}
        return {"body": (await call_tool(services, session, request["tool"], arguments)).body}

    async def show(progress: Progress) -> None:
        await stream.write({"progress": asdict(progress)})

    try:
        report = await run_job(services, workspace, full=request["full"], force=request["force"], show=show)
    except SightlineError as error:
        return refusal(error)
    return asdict(report)


async def _control(connections: Connections, stream: _Stream, greeting: dict[str, Any]) -> None:
    ask = greeting.get("ask")
    if ask == "status":
        await stream.write({"ok": True, "daemon": daemon_report(connections)})
        return
    if ask == "retire":
        connections.retired = True
        logger.info("retired by another daemon; leaving with the last session")
    elif ask == "stop":
        logger.info("asked to stop")
    else:
        raise SightlineError(ErrorCode.INVALID_INPUT, "This daemon does not know such a question.")
    await stream.write({"ok": True, "pid": os.getpid()})
    if ask == "stop":
        connections.ended.set()
    connections.left()
