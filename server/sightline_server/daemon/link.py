"""Reaching the daemon of a configuration: connecting, and starting it when there is none.

**Invariant**: a daemon is looked for and started under one lock, so that any number of callers start one; a socket
is replaced only when nobody listens on it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from sightline_core.config import Config
from sightline_core.limits import Limits
from sightline_server.daemon.places import NoDaemonError, Place, address_of, place_of, prepare_folder
from sightline_server.daemon.wire import Lines, peer_uid, raise_refusal


def connect(place: Place, limits: Limits) -> socket.socket:
    """A connection to the daemon there; raises `OSError` when nobody listens."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(limits.daemon_connect_s)
        with address_of(place) as address:
            connection.connect(address)
        if peer_uid(connection) not in (None, os.geteuid()):
            raise NoDaemonError(f"somebody else listens on {place.socket}")
    except BaseException:
        connection.close()
        raise
    return connection


def greet(place: Place, message: dict[str, Any], limits: Limits) -> Lines:
    """Connect to a running daemon and say hello; raises `OSError`, `EOFError` or what the daemon refused with."""
    lines = Lines(connect(place, limits))
    try:
        raise_refusal(lines.ask(message, limits.daemon_start_s))
    except BaseException:
        lines.socket.close()
        raise
    return lines


def greet_or_start(config: Config, message: dict[str, Any], verbose: int) -> Lines:
    """The daemon of this configuration, started if need be, after its hello.

    Raises `NoDaemonError` when none can be had, and what the daemon refused with.
    """
    place, limits = place_of(config), config.limits
    prepare_folder(place.folder)
    end = time.monotonic() + limits.daemon_start_s
    last: Exception | None = None
    for _ in range(limits.daemon_start_attempts + 1):
        # A daemon that ends while it is greeted answers nothing: that is no refusal, so it is asked again.
        try:
            return greet(place, message, limits)
        except (OSError, EOFError) as error:
            last = error
        if time.monotonic() > end:
            break
        ensure(config, place, verbose, end)
    raise NoDaemonError(f"the daemon cannot be reached or started ({last!r}); see {place.log}")


def ensure(config: Config, place: Place, verbose: int, end: float) -> bool:
    """Start the daemon unless somebody listens already; True when it was started here."""
    if is_listening(place, config.limits):
        return False
    with locked(place, config.limits, end):
        if is_listening(place, config.limits):
            return False
        from sightline_server.daemon.launch import launch

        launch(config, place, verbose)
        return True


def is_listening(place: Place, limits: Limits) -> bool:
    """True when a daemon would take a connection now."""
    try:
        connect(place, limits).close()
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    except OSError:
        # Somebody is there and too busy to answer; only a dead socket may be replaced.
        return True
    return True


@contextmanager
def locked(place: Place, limits: Limits, end: float) -> Generator[None, None, None]:
    """Hold the lock of a place; raises `NoDaemonError` if it is not free by `end`. A dead holder holds nothing."""
    try:
        descriptor = os.open(place.lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise NoDaemonError(f"{place.lock} cannot be made: {error.strerror or error}") from None
    try:
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if time.monotonic() > end:
                raise NoDaemonError(f"{place.lock} is held by another process")
            time.sleep(limits.daemon_lock_poll_ms / 1000)
        yield
    finally:
        os.close(descriptor)
