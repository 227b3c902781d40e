"""One client's state.

**Invariant**: a session owns its roots, default workspace, tools, log level, subscriptions and counters, nothing
else; workspaces, indexes and language servers belong to the process and outlive it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sightline_server.sessions.outbox import Outbox
from sightline_server.tools.base import AnyTool

if TYPE_CHECKING:
    from sightline_server.sessions.roots import RootsKeeper
    from sightline_server.workspaces import Discovery, Workspace

# The levels of MCP logging, from chatter to alarm.
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class TransportKind(StrEnum):
    """How a client is connected."""

    STDIO = "stdio"
    HTTP = "http"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Choice:
    """What a session brings of its own where the process serves many: tools, workspace, discovery, permission."""

    tools: Mapping[str, AnyTool]
    default_workspace: Workspace | None
    discovery: Discovery
    may_write: bool


@dataclass(slots=True, eq=False)
class Session:
    """One connected client. `shared` is True for the one that stands for all single exchanges of HTTP.

    `start_workspace` is its default before its client told roots, and when it has none.
    """

    transport: TransportKind
    tools: Mapping[str, AnyTool]
    start_workspace: Workspace | None
    call_limit: int
    outbox: Outbox
    default_workspace: Workspace | None = field(init=False)
    shared: bool = False
    discovery: Discovery | None = None
    may_write: bool = False
    session_id: str = field(default_factory=lambda: secrets.token_hex(8))
    client_name: str = ""
    active_calls: int = 0
    roots: tuple[Workspace, ...] = ()
    roots_keeper: RootsKeeper | None = None
    log_level: str = "info"
    subscriptions: set[str] = field(default_factory=set[str])
    wants_index_progress: bool = False
    is_attached: bool = False
    used: set[str] = field(default_factory=set[str])
    on_end: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def __post_init__(self) -> None:
        self.default_workspace = self.start_workspace

    @property
    def trusts_roots(self) -> bool:
        """Whether its client may name any directory: one on the same machine, in the user's own process, may."""
        return self.transport is not TransportKind.HTTP

    def concerns(self, workspace: Workspace) -> bool:
        """Whether its client works with a workspace: by default, as a root, or in some call."""
        return workspace is self.default_workspace or workspace in self.roots or workspace.path in self.used

    def concerns_any(self, paths: Set[str]) -> bool:
        """Whether its client works with one of the workspaces at these paths."""
        own = [*self.roots, *((self.default_workspace,) if self.default_workspace is not None else ())]
        return not paths.isdisjoint(self.used) or any(workspace.path in paths for workspace in own)

    def log(self, level: str, event: str, data: Mapping[str, Any]) -> None:
        """Tell the client something at a level, if it wants to hear of that level."""
        if LOG_LEVELS.index(level) >= LOG_LEVELS.index(self.log_level):
            params = {"level": level, "logger": "sightline", "data": {"event": event, **data}}
            self.outbox.post(f"log {secrets.token_hex(8)}", "notifications/message", params)
