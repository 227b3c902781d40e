"""The library's connection behind a request."""

from __future__ import annotations

from typing import Any

from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext


def connection_of(context: ServerRequestContext[Any, Any]) -> Connection:
    """The library keeps per-connection state on this object and offers handlers no public way to it."""
    return context.session._connection  # pyright: ignore[reportPrivateUsage]  # noqa: SLF001
