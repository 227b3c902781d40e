"""`serve-mcp` as a front: the way to the daemon, and the end of this program for the sake of a smaller one."""

from __future__ import annotations

import logging
import os
import signal
import socket

from sightline_core.config import Config
from sightline_server.daemon.place import NoDaemonError
from sightline_server.daemon.places import way_to
from sightline_server.daemon.wire import raise_refusal, session_hello

logger = logging.getLogger(__name__)


def serve_front(config: Config, verbose: int) -> bool:
    """Serve the client on the standard streams through the daemon; False when there can be no daemon here.

    Raises what the daemon refuses the session with. Where it can, this process goes on as `pump` and never returns.
    """
    if not hasattr(socket, "AF_UNIX"):
        logger.warning("this system has no Unix sockets: serving in process")
        return False
    from sightline_server.daemon.link import RefusedError, greet_or_start
    from sightline_server.daemon.pump import EndedError, become_pump, end_on_signals, pump

    _close_inherited(config.limits.max_inherited_files)
    way = way_to(config, session_hello(config, _start_directory(), verbose), verbose)
    kept = end_on_signals()
    try:
        lines = greet_or_start(way)
        first = (lines.socket.detach(), lines.rest)
        become_pump(way, first, verbose)
        pump(way, first)
    except EndedError:
        logger.info("ended by a signal")
    except RefusedError as refused:
        raise_refusal(refused.reply)
    except NoDaemonError as error:
        logger.warning("%s: serving in process", error)
        for number, handler in kept.items():
            signal.signal(number, handler)
        return False
    return True


def _close_inherited(count: int) -> None:
    """Let go of what the client's forks leaked into this process: its own input would never end while it holds the
    writing end of it."""
    os.closerange(3, count)


def _start_directory() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None
