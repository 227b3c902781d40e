"""The daemon's life: services, listener, idleness, and an orderly end.

**Invariant**: it ends when it was idle long enough, was told to, or its socket is no longer its own and its last
session left; its socket is removed under the lock, and only while it is its own. Only monotonic clocks count.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import time
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import anyio.to_thread

from sightline_core.config import Config
from sightline_core.version import __version__
from sightline_server.app import Services, open_services
from sightline_server.daemon.connections import Connections, serve_connection
from sightline_server.daemon.link import RefusedError, greet, locked
from sightline_server.daemon.place import NoDaemonError, Place
from sightline_server.daemon.places import all_places
from sightline_server.daemon.plain_json import encode
from sightline_server.daemon.wire import hello
from sightline_server.shutdown import end_on_signal

logger = logging.getLogger(__name__)


Beside = Callable[[Services], Coroutine[Any, Any, None]]


def run_daemon(config: Config, place: Place, listener: socket.socket, beside: Beside | None = None) -> None:
    """Serve until nobody needs it; `beside` is served too, and as long as it runs somebody does."""
    anyio.run(_run, config, place, listener, beside)


async def _run(config: Config, place: Place, listener: socket.socket, beside: Beside | None) -> None:
    own = _identity(place)
    logger.info("daemon %s of version %s serves %s", os.getpid(), __version__, place.socket)
    try:
        async with open_services(config, start_directory=os.sep, open_default=False) as services:
            await serve_socket(services, place, listener, own, beside)
    finally:
        listener.close()
        _remove_socket(config, place, own)
        logger.info("daemon %s ends", os.getpid())


async def serve_socket(
    services: Services,
    place: Place,
    listener: socket.socket,
    own: tuple[int, int] | None,
    beside: Beside | None,
) -> None:
    """Accept and serve connections until the daemon shall end."""
    async with anyio.create_task_group() as group:
        connections = Connections(services, place, group)
        group.start_soon(end_on_signal, connections.ended.set)
        if beside is None:
            group.start_soon(_watch_idleness, connections, own)
        else:
            group.start_soon(beside, services)
        group.start_soon(anyio.to_thread.run_sync, _retire_siblings, services.config, place)
        group.start_soon(_accept, connections, listener)
        await connections.ended.wait()
        # The socket goes first: a front whose daemon ends without one knows that it was meant to.
        await anyio.to_thread.run_sync(_remove_socket, services.config, place, own)
        logger.info("closing %d sessions", len(connections.live))
        group.cancel_scope.cancel()


async def _accept(connections: Connections, listener: socket.socket) -> None:
    while True:
        await anyio.wait_readable(listener)
        try:
            connection, _ = listener.accept()
        except OSError as error:
            # Too many descriptors, or a caller that left the queue; neither ends the daemon.
            logger.warning("a connection was not accepted: %s", error)
            await anyio.sleep(connections.limits.daemon_lock_poll_ms / 1000)
            continue
        connection.setblocking(False)
        connections.group.start_soon(serve_connection, connections, connection)


async def _watch_idleness(connections: Connections, own: tuple[int, int] | None) -> None:
    limits = connections.limits
    idle_since = time.monotonic()
    while True:
        await anyio.sleep(min(limits.daemon_check_s, limits.daemon_idle_s))
        if connections.count:
            idle_since = time.monotonic()
            continue
        if _identity(connections.place) != own:
            connections.retired = True
        if connections.retired or time.monotonic() - idle_since >= limits.daemon_idle_s:
            logger.info("nobody needs this daemon any more")
            connections.ended.set()
            return


def _retire_siblings(config: Config, place: Place) -> None:
    """Tell the daemons of other versions and configurations to leave with their last session."""
    for other in all_places(config):
        if place.is_sibling(other):
            with contextlib.suppress(OSError, EOFError, NoDaemonError, RefusedError):
                greet(other, encode(hello("control", ask="retire")), config.limits).socket.close()


def _identity(place: Place) -> tuple[int, int] | None:
    try:
        found = os.stat(place.socket)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remove_socket(config: Config, place: Place, own: tuple[int, int] | None) -> None:
    with (
        contextlib.suppress(OSError, NoDaemonError),
        locked(place, config.limits, time.monotonic() + config.limits.daemon_connect_s),
    ):
        if _identity(place) == own:
            os.unlink(place.socket)
