"""Asking an MCP client for its roots, in both eras of the protocol.

Handshake versions are asked with `roots/list`. Since 2026-07-28 a server cannot ask: a call that names no workspace,
in a session that has none, is answered with what is needed instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, cast

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from sightline_server.app import Services
from sightline_server.sessions.connections import connection_of
from sightline_server.sessions.roots import RootsKeeper, register_roots
from sightline_server.sessions.session import Session

_INPUT_KEY = "roots"


async def refresh_roots(services: Services, session: Session, context: ServerRequestContext[Any, Any]) -> None:
    """Ask a client that declared roots for them, and follow its answer."""
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.roots is None or _is_modern(context):
        return
    if session.roots_keeper is None:
        session.roots_keeper = RootsKeeper(services, session)

    connection = connection_of(context)

    async def ask() -> Sequence[str]:
        # The library's typed question refuses the whole answer for a single root that is no file URI.
        return _uris_of(await connection.send_raw_request("roots/list", None))

    await session.roots_keeper.refresh(ask)


async def arguments_with_roots(
    services: Services,
    session: Session,
    context: ServerRequestContext[Any, Any],
    params: types.CallToolRequestParams,
) -> Mapping[str, Any] | types.InputRequiredResult | None:
    """The arguments of a call, with the workspace that the client named on request; or the request for it."""
    arguments = params.arguments
    tool = session.tools.get(params.name)
    needs_root = tool is not None and tool.needs_workspace and session.default_workspace is None
    if not needs_root or not _is_modern(context) or (arguments or {}).get("workspace") is not None:
        return arguments
    answer = (params.input_responses or {}).get(_INPUT_KEY)
    if isinstance(answer, types.ListRootsResult):
        found = register_roots(services, session, [str(root.uri) for root in answer.roots])
        return {**(arguments or {}), "workspace": found[0].path} if found else arguments
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return arguments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        return types.InputRequiredResult(input_requests={_INPUT_KEY: types.ListRootsRequest()})


def _uris_of(answer: Mapping[str, Any]) -> list[str]:
    roots: Any = answer.get("roots")
    if not isinstance(roots, list):
        raise TypeError("its answer has no list of roots")
    uris = [cast("dict[str, Any]", root).get("uri") for root in cast("list[Any]", roots) if isinstance(root, dict)]
    return [uri for uri in uris if isinstance(uri, str)]


def _is_modern(context: ServerRequestContext[Any, Any]) -> bool:
    return context.session.protocol_version in MODERN_PROTOCOL_VERSIONS
