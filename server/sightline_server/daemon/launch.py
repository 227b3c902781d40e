"""Starting the daemon's process.

**Invariant**: the socket listens before the process is there, so callers queue on it and nobody polls; if the
process dies young its socket dies with it and they notice at once. The caller holds the lock of the place.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys

from sightline_core.config import Config
from sightline_server.daemon.places import NoDaemonError, Place, address_of, service_settings

# Daemons that this process started; polled so that a dead one leaves no zombie behind.
_started: list[subprocess.Popen[bytes]] = []


def listen(place: Place, backlog: int) -> socket.socket:
    """A listening socket that this user alone can reach, in place of a dead one."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place.socket)
        before = os.umask(0o177)
        try:
            with address_of(place) as address:
                listener.bind(address)
        finally:
            os.umask(before)
        listener.listen(backlog)
    except OSError as error:
        listener.close()
        raise NoDaemonError(f"{place.socket} cannot be made: {error.strerror or error}") from None
    return listener


def launch(config: Config, place: Place, verbose: int) -> None:
    """Start the daemon; it serves the connections that wait on its socket as soon as it can."""
    _started[:] = [process for process in _started if process.poll() is None]
    with listen(place, config.limits.daemon_backlog_connections) as listener:
        order = {
            "settings": service_settings(config),
            "folder": place.folder,
            "name": place.name,
            "listener": listener.fileno(),
            "verbose": verbose,
        }
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "sightline_server.daemon"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(listener.fileno(),),
                # Neither the client's signals nor the end of its terminal reach it, and it holds no directory.
                start_new_session=True,
                cwd=os.sep,
            )
            _started.append(process)
            assert process.stdin is not None
            with process.stdin as pipe:
                pipe.write(json.dumps(order).encode())
        except OSError as error:
            raise NoDaemonError(f"the daemon cannot be started: {error.strerror or error}") from None
