"""Resources: the answers of tools under addresses that a client can list, read, complete and subscribe to.

**Invariant**: a resource is read through the tool it stands for, so both say the same and obey the same bounds.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from sightline_core.errors import ErrorCode
from sightline_indexer.store import Snapshot
from sightline_server.app import Services
from sightline_server.dispatch import answer_call
from sightline_server.freshness import NoSnapshot, read
from sightline_server.sessions.announcer import DIAGNOSTICS_PREFIX
from sightline_server.sessions.session import Session
from sightline_server.tools.base import AnyTool, Call
from sightline_server.tools.table import TOOLS

_JSON = "application/json"
_STATUS = "sightline://status"
# One name may be defined in many places.
_ROWS_A_NAME = 4


@dataclass(frozen=True, slots=True)
class _Template:
    """A family of resources: its address up to the argument, and the tool that answers."""

    prefix: str
    argument: str
    tool: str
    tool_argument: str
    title: str
    description: str

    @property
    def uri(self) -> str:
        return f"{self.prefix}{{{self.argument}}}"


TEMPLATES = (
    _Template(
        "sightline://outline/",
        "path",
        "get_file_outline",
        "path",
        "Outline of a file",
        "The nested symbols of a file.",
    ),
    _Template(
        DIAGNOSTICS_PREFIX, "path", "get_diagnostics", "path", "Diagnostics of a file", "What its server finds in it."
    ),
    _Template(
        "sightline://symbol/", "name", "locate_symbol", "name", "Definitions of a symbol", "Where a name is defined."
    ),
)


def list_resources() -> types.ListResourcesResult:
    """What can be read without an argument."""
    status = types.Resource(
        uri=_STATUS,
        name="status",
        title="Status",
        description="Workspaces, indexes and language servers of this process.",
        mime_type=_JSON,
    )
    return types.ListResourcesResult(resources=[status])


def list_templates() -> types.ListResourceTemplatesResult:
    """What can be read with an argument."""
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                uri_template=row.uri, name=row.tool, title=row.title, description=row.description, mime_type=_JSON
            )
            for row in TEMPLATES
        ]
    )


async def read_resource(services: Services, session: Session, uri: str) -> types.ReadResourceResult:
    """The content of a resource; raises `MCPError` for an unknown address or what the tool could not answer."""
    tool, arguments = _tool_of(uri)
    begun = time.monotonic()
    outcome = await answer_call(services, session, tool, arguments)
    services.audit.record(session, f"{tool.name} (resource)", arguments, outcome.body, begun)
    if outcome.is_error:
        error = outcome.body["error"]
        raise MCPError(types.INVALID_PARAMS, error["message"], {"code": error["code"], "uri": uri})
    content = types.TextResourceContents(uri=uri, mime_type=_JSON, text=outcome.encoded.decode("utf-8"))
    return types.ReadResourceResult(contents=[content])


def subscribe(services: Services, session: Session, uri: str) -> None:
    """Have a session told when a resource may have changed; raises `MCPError`."""
    _tool_of(uri)
    if session.shared:
        raise MCPError(
            types.INVALID_PARAMS, "Subscribing needs a session.", {"code": ErrorCode.INVALID_INPUT.value, "uri": uri}
        )
    if len(session.subscriptions) >= services.config.limits.max_subscriptions:
        raise MCPError(types.INVALID_PARAMS, "Too many subscriptions.", {"code": ErrorCode.OVERLOADED.value})
    session.subscriptions.add(uri)


async def complete(services: Services, session: Session, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Values for the argument of a template: paths and symbol names of the default workspace."""
    reference = params.ref
    uri = reference.uri if isinstance(reference, types.ResourceTemplateReference) else ""
    row = next((row for row in TEMPLATES if row.uri == uri and row.argument == params.argument.name), None)
    workspace = session.default_workspace
    if row is None or workspace is None:
        return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))
    limits = services.config.limits
    call = Call(services, session, workspace, anyio.current_time() + limits.first_snapshot_wait_s)
    begin = params.argument.value[: limits.max_path_chars]
    find = _paths if row.argument == "path" else _names
    found = await read(call, functools.partial(find, begin, limits.max_completions + 1))
    values = [] if isinstance(found, NoSnapshot) else found
    more = len(values) > limits.max_completions
    return types.CompleteResult(completion=types.Completion(values=values[: limits.max_completions], has_more=more))


def serve_resources(server: Server[Any], services: Services, scope: Any) -> None:
    """Register everything about resources with a server."""
    listening = 0

    async def on_list(_context: Any, _params: types.PaginatedRequestParams) -> types.ListResourcesResult:
        return list_resources()

    async def on_templates(_context: Any, _params: types.PaginatedRequestParams) -> types.ListResourceTemplatesResult:
        return list_templates()

    async def on_read(context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await read_resource(services, scope.session_for(context), str(params.uri))

    async def on_subscribe(context: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
        subscribe(services, scope.session_for(context), str(params.uri))
        return types.EmptyResult()

    async def on_unsubscribe(context: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        scope.session_for(context).subscriptions.discard(str(params.uri))
        return types.EmptyResult()

    async def on_complete(context: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
        return await complete(services, scope.session_for(context), params)

    async def on_listen(
        context: Any, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        nonlocal listening
        if listening >= services.config.limits.max_subscriptions:
            raise MCPError(types.INTERNAL_ERROR, "Too many subscriptions.", {"code": ErrorCode.OVERLOADED.value})
        listening += 1
        try:
            return await _listen(services, scope.session_for(context), context, params)
        finally:
            listening -= 1

    server.add_request_handler("resources/list", types.PaginatedRequestParams, on_list)
    server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, on_templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, on_read)
    server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, on_subscribe)
    server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, on_unsubscribe)
    server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, on_listen)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, on_complete)


async def _listen(
    services: Services, session: Session, context: Any, params: types.SubscriptionsListenRequestParams
) -> types.SubscriptionsListenResult:
    """Serve one stream of updates until its client leaves."""
    # A bus for each stream: on a shared one every listener would get what is published for each of the others.
    bus = InMemorySubscriptionBus()
    uris = [str(uri) for uri in dict.fromkeys(params.notifications.resource_subscriptions or ())]

    def tell(kind: str, paths: set[str]) -> None:
        # What single exchanges of HTTP work with is not remembered: they are rather told too much.
        if session.shared or session.concerns_any(paths):
            services.tasks.start_soon(_publish, bus, kind, uris)

    stop = services.announcer.on_update(tell)
    try:
        return await ListenHandler(bus)(context, params)
    finally:
        stop()


async def _publish(bus: InMemorySubscriptionBus, kind: str, uris: list[str]) -> None:
    for uri in uris:
        if uri.startswith(DIAGNOSTICS_PREFIX) == (kind == "diagnostics"):
            await bus.publish(ResourceUpdated(uri=uri))


def _tool_of(uri: str) -> tuple[AnyTool, dict[str, Any]]:
    if uri == _STATUS:
        return _TOOL_BY_NAME["health_check"], {}
    for row in TEMPLATES:
        if uri.startswith(row.prefix) and len(uri) > len(row.prefix):
            return _TOOL_BY_NAME[row.tool], {row.tool_argument: unquote(uri[len(row.prefix) :])}
    raise MCPError(
        types.INVALID_PARAMS,
        f"There is no resource {uri[:200]}.",
        {"code": ErrorCode.INVALID_INPUT.value, "uri": uri},
    )


_TOOL_BY_NAME: dict[str, AnyTool] = {tool.name: tool for tool in TOOLS}


def _paths(begin: str, count: int, snapshot: Snapshot) -> list[str]:
    entries = snapshot.catalogue().entries
    text = begin.lower()
    matching = [entry.path for entry in entries if text in entry.path.lower()]
    # Those that begin so come first.
    matching.sort(key=lambda path: (not path.lower().startswith(text), path))
    return [quote(path, safe="/") for path in matching[:count]]


def _names(begin: str, count: int, snapshot: Snapshot) -> list[str]:
    if not begin:
        return []
    found = snapshot.symbols_with_prefix(begin, limit=count * _ROWS_A_NAME)
    return list(dict.fromkeys(record.symbol.name for record in found))[:count]
