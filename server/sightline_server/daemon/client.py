"""A command's questions to a daemon that runs already; a command never starts one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sightline_core.config import Config
from sightline_server.daemon.link import Lines, RefusedError, connect, greet
from sightline_server.daemon.place import NoDaemonError, Place
from sightline_server.daemon.places import place_of
from sightline_server.daemon.plain_json import encode
from sightline_server.daemon.wire import NotServedError, hello, raise_refusal

if TYPE_CHECKING:
    from sightline_core.progress import Progress


def command_link(config: Config, path: str) -> Lines | None:
    """A link for questions about the workspace that holds `path`; None when the command must work alone."""
    if not config.daemon:
        return None
    try:
        return greet(place_of(config), encode(hello("command", path=path)), config.limits)
    except RefusedError as refused:
        with contextlib.suppress(NotServedError):
            raise_refusal(refused.reply)
    except (OSError, EOFError, NoDaemonError):
        pass
    return None


def ask_tool(link: Lines, config: Config, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The structured content of one tool call; None when the daemon is gone and the command must work alone."""
    # Longer than any call may take, so that the daemon's own deadline speaks first.
    seconds = config.limits.call_deadline_s + config.limits.daemon_hello_s
    try:
        return link.ask({"tool": tool, "arguments": arguments}, seconds)["body"]
    except (OSError, EOFError):
        return None


def ask_job(
    link: Lines, config: Config, *, full: bool, force: bool, show: Callable[[Progress], None]
) -> dict[str, Any] | None:
    """How a job ended, with its progress shown; None when the daemon went away. Raises what the job failed with."""
    from sightline_core.progress import Progress, Stage

    seconds = config.limits.write_lock_wait_s
    try:
        reply = link.ask({"full": full, "force": force}, seconds)
        while "progress" in reply:
            fields: dict[str, Any] = {**reply["progress"], "stage": Stage(reply["progress"]["stage"])}
            show(Progress(**fields))
            reply = link.read(seconds)
    except (OSError, EOFError):
        return None
    raise_refusal(reply)
    return reply


def ask_control(place: Place, config: Config, ask: str) -> dict[str, Any] | None:
    """The answer of a daemon about itself; None when nobody answers there."""
    try:
        connection = connect(place, config.limits)
        try:
            return Lines(connection).ask(hello("control", ask=ask), config.limits.daemon_hello_s)
        finally:
            connection.close()
    except (OSError, EOFError, NoDaemonError):
        return None
