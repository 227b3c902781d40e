"""`serve-mcp` as a front: the way to the daemon, the standard streams, and the signals."""

from __future__ import annotations

import logging
import os
import signal
import socket
from types import FrameType

from sightline_core.config import Config
from sightline_server.daemon.places import NoDaemonError, place_of
from sightline_server.daemon.wire import Lines, session_hello
from sightline_server.transports.lines import claimed_streams

logger = logging.getLogger(__name__)


class _EndedError(Exception):
    """A signal asked this process to end."""


def serve_front(config: Config, verbose: int) -> bool:
    """Serve the client on the standard streams through the daemon; False when there can be no daemon here.

    Raises what the daemon refuses the session with.
    """
    if not hasattr(socket, "AF_UNIX"):
        logger.warning("this system has no Unix sockets: serving in process")
        return False
    from sightline_server.daemon.front import Front
    from sightline_server.daemon.link import greet_or_start

    _close_inherited(config.limits.max_inherited_files)
    place = place_of(config)
    greeting = session_hello(config, _start_directory(), verbose)

    def open_link() -> Lines:
        return greet_or_start(config, greeting, verbose)

    kept = {number: signal.signal(number, _end) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        first = open_link()
        with claimed_streams() as (source, sink):
            Front(open_link, lambda: not os.path.lexists(place.socket), source, sink, config.limits).run(first)
    except _EndedError:
        logger.info("ended by a signal")
    except NoDaemonError as error:
        logger.warning("%s: serving in process", error)
        for number, handler in kept.items():
            signal.signal(number, handler)
        return False
    return True


def _end(number: int, _frame: FrameType | None) -> None:
    raise _EndedError(number)


def _close_inherited(count: int) -> None:
    """Let go of what the client's forks leaked into this process: its own input would never end while it holds the
    writing end of it."""
    os.closerange(3, count)


def _start_directory() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None
