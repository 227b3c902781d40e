"""One client's state.

**Invariant**: a session owns its default workspace, tools, permissions and counters, nothing else; workspaces,
indexes and language servers belong to the process and outlive it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from sightline_server.tools.base import AnyTool

if TYPE_CHECKING:
    from sightline_server.workspaces import Workspace


class TransportKind(StrEnum):
    """How a client is connected."""

    STDIO = "stdio"
    HTTP = "http"
    MEMORY = "memory"


@dataclass(slots=True, eq=False)
class Session:
    """One connected client."""

    transport: TransportKind
    tools: Mapping[str, AnyTool]
    default_workspace: Workspace | None
    call_limit: int
    session_id: str = field(default_factory=lambda: secrets.token_hex(8))
    client_name: str = ""
    active_calls: int = 0
