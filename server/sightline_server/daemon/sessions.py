"""Sessions of the daemon: made from a front's hello, known as long as its connection lives."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from sightline_core.config import Config
from sightline_core.errors import ErrorCode, SightlineError
from sightline_server.app import Services
from sightline_server.daemon.places import SESSION_SETTINGS
from sightline_server.sessions.session import Choice, Session, TransportKind
from sightline_server.tools.table import select_tools
from sightline_server.workspaces import Origin, Workspace, discovery_of


@dataclass(slots=True, eq=False)
class LiveSession:
    """A front that is connected now."""

    session: Session
    pid: int
    workspaces: tuple[Workspace, ...]
    prewarm: bool
    since: float = field(default_factory=time.monotonic)


def make_session(services: Services, greeting: Mapping[str, Any]) -> LiveSession:
    """The session that a front asks for; raises `invalid_input` for settings that cannot work."""
    config = _session_config(services.config, greeting)
    tools = select_tools(config.toolset)
    discovery = discovery_of(config)
    named = tuple(services.workspaces.register(path, Origin.NAMED) for path in config.workspace)
    start: Any = greeting.get("start_directory")
    default = services.workspaces.default_for(start if isinstance(start, str) else None, named)
    session = services.new_session(TransportKind.STDIO, Choice(tools, default, discovery, config.allow_write))
    chosen = dict.fromkeys(found for found in (*named, default) if found is not None)
    return LiveSession(session, int(greeting.get("pid", 0)), tuple(chosen), config.prewarm)


def _session_config(config: Config, greeting: Mapping[str, Any]) -> Config:
    settings = cast("dict[str, Any]", greeting.get("settings") or {})
    if set(settings) != set(SESSION_SETTINGS):
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            "The front and the daemon are of different releases.",
            hint="Run: sightline daemon restart",
        )
    lists = {key: tuple(settings[key]) for key in ("workspace", "allowed_root", "toolset")}
    return replace(config, **{**settings, **lists})
