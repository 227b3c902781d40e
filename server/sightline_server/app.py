"""The process: its services, made once and closed in reverse.

**Invariant**: services outlive every client session; nothing here knows a transport.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sightline_core.config import Config
from sightline_server.registry import Registry
from sightline_server.sessions.session import Session, TransportKind
from sightline_server.tools import select_tools
from sightline_server.workspaces import Workspaces


@dataclass(slots=True, eq=False)
class Services:
    """What all sessions share."""

    config: Config
    workspaces: Workspaces
    start_directory: str | None
    started_at: float = field(default_factory=time.monotonic)
    active_calls: int = 0
    is_warming: bool = False

    def new_session(self, transport: TransportKind) -> Session:
        """A session with this process's permissions and the default workspace of its start."""
        return Session(
            transport=transport,
            tools=select_tools(self.config.toolset),
            default_workspace=self.workspaces.default_for(self.start_directory),
            call_limit=self.config.limits.max_inflight_calls_per_session,
            allow_write=self.config.allow_write,
        )


@asynccontextmanager
async def open_services(config: Config, *, start_directory: str | None = None) -> AsyncGenerator[Services, None]:
    """The services of one process; raises `invalid_input` for a configuration that cannot work."""
    select_tools(config.toolset)
    registry = Registry(config.data_dir)
    workspaces = Workspaces(config, registry)
    yield Services(config, workspaces, start_directory or _current_directory())


def _current_directory() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None
