"""What is said over the socket before and beside MCP: one JSON object a line.

A connection opens with a hello that names its kind: a `session` goes on in MCP, a `command` asks for tool calls and
jobs of one workspace, a `control` asks about the daemon itself. The daemon's first line accepts or refuses.
**Invariant**: the version of this protocol is in every hello; daemons of all releases understand `control`.
"""

from __future__ import annotations

import os
from typing import Any

from sightline_core.config import Config
from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.version import __version__
from sightline_server.daemon.places import SESSION_SETTINGS

PROTOCOL = 1


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
