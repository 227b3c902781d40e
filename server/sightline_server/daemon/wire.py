"""What is said over the socket before and beside MCP: one JSON object a line.

A connection opens with a hello that names its kind: a `session` goes on in MCP, a `command` asks for tool calls and
jobs of one workspace, a `control` asks about the daemon itself. The daemon's first line accepts or refuses.
**Invariant**: the version of this protocol is in every hello; daemons of all releases understand `control`.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from typing import Any, cast

from sightline_core.config import Config
from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.version import __version__
from sightline_server.daemon.places import SESSION_SETTINGS

PROTOCOL = 1
_CHUNK_BYTES = 64 * 1024


class NotServedError(Exception):
    """The daemon does not serve this workspace; the command must do its work alone."""


def hello(kind: str, **fields: Any) -> dict[str, Any]:
    """The first line of a connection."""
    return {"sightline": PROTOCOL, "kind": kind, "version": __version__, "pid": os.getpid(), **fields}


def session_hello(config: Config, start_directory: str | None, verbose: int) -> dict[str, Any]:
    """The hello of a front: everything of its configuration that belongs to the session."""
    settings: dict[str, Any] = {key: getattr(config, key) for key in SESSION_SETTINGS}
    for key in ("workspace", "allowed_root"):
        settings[key] = [os.path.abspath(os.path.expanduser(path)) for path in settings[key]]
    return hello("session", settings=settings, start_directory=start_directory, verbose=verbose)


def encode(message: dict[str, Any]) -> bytes:
    """One line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> dict[str, Any] | None:
    """The object on a line, or None when it is something else."""
    try:
        body: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", body) if isinstance(body, dict) else None


def refusal(error: SightlineError) -> dict[str, Any]:
    """The daemon's answer to a hello or a question that it will not serve."""
    return {"ok": False, "code": error.code.value, "message": error.message, "hint": error.hint}


def raise_refusal(reply: dict[str, Any]) -> None:
    """Raise what the daemon refused with."""
    if reply.get("ok") is not False:
        return
    if reply.get("code") == "not_served":
        raise NotServedError
    raise SightlineError(ErrorCode(reply["code"]), str(reply["message"]), hint=str(reply.get("hint", "")))


class Lines:
    """A blocking conversation in lines, each wait with a deadline. Raises `EOFError` when the other side is gone."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.rest = b""

    def ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send one object and read one."""
        self.socket.settimeout(seconds)
        self.socket.sendall(encode(message))
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


def peer_uid(connection: socket.socket) -> int | None:
    """The user at the other end, where the system tells; elsewhere the folder's mode is the guard."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    layout = struct.Struct("3i")
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, layout.size)
    return int(layout.unpack(credentials)[1])
