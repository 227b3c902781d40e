"""Reaching the daemon of a configuration: connecting, and starting it when there is none.

A light module, see `place`. **Invariant**: a daemon is looked for and started under one lock, so that any number of
callers start one; a socket is replaced only when nobody listens on it.
"""

from __future__ import annotations

import _socket
import posix
import sys
import time

from sightline_server.daemon.place import NoDaemonError, Place, Way, address_of, prepare_folder
from sightline_server.daemon.plain_json import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any

    from sightline_core.limits import Limits

_CHUNK_BYTES = 64 * 1024


class RefusedError(Exception):
    """The daemon's answer to a hello was no; `reply` says why."""

    def __init__(self, reply: dict[str, Any]) -> None:
        super().__init__(str(reply.get("message", "")))
        self.reply = reply


class Lines:
    """A blocking conversation in lines, each wait with a deadline. Raises `EOFError` when the other side is gone."""

    def __init__(self, connection: _socket.socket) -> None:
        self.socket = connection
        self.rest = b""

    def ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send one object and read one."""
        return self.ask_line(encode(message), seconds)

    def ask_line(self, line: bytes, seconds: float) -> dict[str, Any]:
        """Send one object that is written already and read one."""
        self.socket.settimeout(seconds)
        self.socket.sendall(line + b"\n")
        return self.read(seconds)

    def read(self, seconds: float) -> dict[str, Any]:
        """The next object."""
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            self.socket.settimeout(max(0.001, end - time.monotonic()))
            chunk = self.socket.recv(_CHUNK_BYTES)
            if not chunk:
                raise EOFError
            self.rest += chunk
        line, _, self.rest = self.rest.partition(b"\n")
        message = decode(line)
        if message is None:
            raise EOFError
        return message


def connect(place: Place, limits: Limits) -> _socket.socket:
    """A connection to the daemon there; raises `OSError` when nobody listens."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(limits.daemon_connect_s)
        with address_of(place) as address:
            connection.connect(address)
        if peer_uid(connection) not in (None, posix.geteuid()):
            raise NoDaemonError(f"somebody else listens on {place.socket}")
    except BaseException:
        connection.close()
        raise
    return connection


def greet(place: Place, greeting: bytes, limits: Limits) -> Lines:
    """Connect to a running daemon and say hello; raises `OSError`, `EOFError`, `NoDaemonError` or `RefusedError`."""
    lines = Lines(connect(place, limits))
    try:
        reply = lines.ask_line(greeting, limits.daemon_start_s)
        if reply.get("ok") is False:
            raise RefusedError(reply)
    except BaseException:
        lines.socket.close()
        raise
    return lines


def greet_or_start(way: Way) -> Lines:
    """The daemon at the end of this way, started if need be, after its hello.

    Raises `NoDaemonError` when none can be had, and `RefusedError`.
    """
    limits = way.limits
    prepare_folder(way.place.folder)
    end = time.monotonic() + limits.daemon_start_s
    last: Exception | None = None
    for _ in range(limits.daemon_start_attempts + 1):
        # A daemon that ends while it is greeted answers nothing: that is no refusal, so it is asked again.
        try:
            return greet(way.place, way.greeting, limits)
        except (OSError, EOFError) as error:
            last = error
        if time.monotonic() > end:
            break
        ensure(way, end)
    raise NoDaemonError(f"the daemon cannot be reached or started ({last!r}); see {way.place.log}")


def ensure(way: Way, end: float) -> bool:
    """Start the daemon unless somebody listens already; True when it was started here."""
    if is_listening(way.place, way.limits):
        return False
    with locked(way.place, way.limits, end):
        if is_listening(way.place, way.limits):
            return False
        try:
            from sightline_server.daemon.launch import launch
        except ImportError as error:
            raise NoDaemonError(f"this installation was removed or changed: {error}") from None

        launch(way)
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


class locked:  # noqa: N801 - reads as a function at its uses
    """Hold the lock of a place; raises `NoDaemonError` if it is not free by `end`. A dead holder holds nothing."""

    def __init__(self, place: Place, limits: Limits, end: float) -> None:
        self._place, self._limits, self._end = place, limits, end

    def __enter__(self) -> None:
        path = self._place.lock
        try:
            self._descriptor = posix.open(path, posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
        except OSError as error:
            raise NoDaemonError(f"{path} cannot be made: {error.strerror or error}") from None
        try:
            while not _take_lock(self._descriptor):
                if time.monotonic() > self._end:
                    raise NoDaemonError(f"{path} is held by another process")
                time.sleep(self._limits.daemon_lock_poll_ms / 1000)
        except BaseException:
            posix.close(self._descriptor)
            raise

    def __exit__(self, *_: object) -> None:
        posix.close(self._descriptor)


def _take_lock(descriptor: int) -> bool:
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def peer_uid(connection: _socket.socket | socket.socket) -> int | None:
    """The user at the other end, where the system tells; elsewhere the folder's mode is the guard."""
    if not hasattr(_socket, "SO_PEERCRED"):
        return None
    # Three numbers: process, user, group.
    credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[4:8], sys.byteorder, signed=True)
