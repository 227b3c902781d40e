"""The MCP face of the services: one low-level server whose handlers end in `dispatch`.

**Invariant**: every JSON-RPC error leaves with a string code in `data.code`.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib import resources
from typing import Any, Protocol, cast

import mcp_types as types
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from pydantic import ValidationError

from sightline_core.errors import ErrorCode
from sightline_core.version import __version__
from sightline_server.answer_form import AnswerForm, with_body
from sightline_server.app import Services
from sightline_server.dispatch import Outcome, UnknownToolError, call_tool
from sightline_server.schema import input_schema, output_schema
from sightline_server.sessions.client_roots import arguments_with_roots, refresh_roots
from sightline_server.sessions.connections import connection_of
from sightline_server.sessions.resources import serve_resources
from sightline_server.sessions.session import Session, TransportKind
from sightline_server.tools.base import AnyTool, ProgressReporter
from sightline_server.tools.table import TOOLS

# The experimental capability with which a client asks for progress of index jobs.
INDEX_PROGRESS = "sightline/indexProgress"


class SessionScope(Protocol):
    """Finds the session that a request belongs to."""

    def session_for(self, context: Context) -> Session:
        """The session of one request."""
        ...


Context = ServerRequestContext[SessionScope, Any]


class SingleSession:
    """The scope of a transport that serves exactly one client."""

    def __init__(self, services: Services, session: Session) -> None:
        self._services = services
        self.session = session
        self.form: AnswerForm | None = None

    def session_for(self, context: Context) -> Session:
        """Always the same one."""
        note_client(self._services, self.session, context)
        return self.session

    def note_answer(self, context: Context, result: Mapping[str, Any]) -> None:
        """Remember what an answer looks like to this client, if its version knows more than the text."""
        if self.form is None and "structuredContent" in result:
            self.form = AnswerForm.of(context, result)


def build_server(services: Services, scope: SessionScope) -> Server[SessionScope]:
    """An MCP server over the services, for all protocol versions the library speaks."""

    async def list_tools(context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        session = scope.session_for(context)
        return types.ListToolsResult(tools=[describe_tool(tool) for tool in session.tools.values()])

    async def on_call(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        session = scope.session_for(context)
        arguments = await arguments_with_roots(services, session, context, params)
        if isinstance(arguments, types.InputRequiredResult):
            return arguments
        try:
            outcome = await call_tool(services, session, params.name, arguments, _reporter(context))
        except UnknownToolError as error:
            raise MCPError(types.INVALID_PARAMS, error.full_message, {"code": error.code.value}) from None
        _finished.get().append(outcome)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text="")], structured_content={}, is_error=outcome.is_error
        )

    async def on_roots_changed(context: Context, _params: types.NotificationParams | None) -> None:
        session = scope.session_for(context)
        if not session.shared:
            await refresh_roots(services, session, context)

    async def on_set_level(context: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        scope.session_for(context).log_level = params.level
        return types.EmptyResult()

    @asynccontextmanager
    async def lifespan(_server: Server[SessionScope]) -> AsyncGenerator[SessionScope, None]:
        yield scope

    with warnings.catch_warnings():
        # Clients of the handshake era still use what the 2026 version deprecates.
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        server: Server[SessionScope] = Server(
            "sightline",
            version=__version__,
            title="Sightline",
            description="Indexed code search with language-server enrichment",
            instructions=_instructions(),
            lifespan=lifespan,
            on_list_tools=list_tools,
            on_call_tool=on_call,
            get_tool_input_schema=_schema_by_name,
        )
    server.add_notification_handler("notifications/initialized", types.NotificationParams, on_roots_changed)
    server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, on_roots_changed)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, on_set_level)
    serve_resources(server, services, scope)
    # The library's tracing middleware is replaced: nothing here exports traces, and it costs every message.
    server.middleware = [_with_error_codes, _with_bodies]
    return server


@lru_cache(maxsize=256)
def describe_tool(tool: AnyTool) -> types.Tool:
    """A tool as `tools/list` shows it."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool.args),
        output_schema=output_schema(tool.result),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not (tool.changes_state or tool.writes_workspace),
            destructive_hint=tool.writes_workspace,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def note_client(services: Services, session: Session, context: Context) -> None:
    """Remember who the client says it is, what it declared, and how to reach it."""
    params = context.session.client_params
    if params is not None and not session.client_name:
        session.client_name = f"{params.client_info.name} {params.client_info.version}"[:100]
    capabilities = context.session.client_capabilities
    if capabilities is not None:
        session.wants_index_progress = INDEX_PROGRESS in (capabilities.experimental or {})
    services.attach(session, connection_of(context))


@asynccontextmanager
async def single_session(
    services: Services, transport: TransportKind, given: Session | None = None
) -> AsyncGenerator[tuple[Server[SessionScope], SingleSession], None]:
    """A server for one client on a connection of its own, and its scope; the session, a given or a new one, ends
    with the block.

    Run it over any pair of message streams with `serve_dual_era_loop(server, …, lifespan_state=scope)`.
    """
    session = given or services.new_session(transport)
    scope = SingleSession(services, session)
    try:
        yield build_server(services, scope), scope
    finally:
        services.end_session(session)


def error_data(code: ErrorCode, detail: Any = None) -> dict[str, Any]:
    """The `data` member of a JSON-RPC error."""
    body: dict[str, Any] = {"code": code.value}
    if detail not in (None, ""):
        body["detail"] = detail
    return body


def code_of(number: int) -> ErrorCode:
    """Our code for an error that the library made."""
    faults_here = (types.INTERNAL_ERROR, types.CONNECTION_CLOSED)
    return ErrorCode.INTERNAL_ERROR if number in faults_here else ErrorCode.INVALID_INPUT


# What the call under way came to, from its handler to the middleware around it; one list a request.
_finished: ContextVar[list[Outcome]] = ContextVar("sightline_finished")


async def _with_bodies(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Puts the body of a call in place of the empty one that its handler returned.

    The library checks and copies every value of a result several times over. What it makes of an empty one tells
    which fields the client's version of the protocol has.
    """
    finished: list[Outcome] = []
    token = _finished.set(finished)
    try:
        result = await call_next(ctx)
    finally:
        _finished.reset(token)
    if not finished or not isinstance(result, dict):
        return result
    (outcome,) = finished
    if isinstance(ctx.lifespan_context, SingleSession):
        ctx.lifespan_context.note_answer(ctx, result)
    return with_body(result, outcome)


async def _with_error_codes(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    try:
        return await call_next(ctx)
    except MCPError as error:
        data: Any = error.data
        if isinstance(data, Mapping) and "code" in cast("Mapping[str, Any]", data):
            raise
        raise MCPError(error.code, error.message, error_data(code_of(error.code), data)) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = f"Invalid parameters of {ctx.method}: {where}: {first['msg']}"
        raise MCPError(types.INVALID_PARAMS, message, error_data(ErrorCode.INVALID_INPUT)) from None


def _reporter(context: Context) -> ProgressReporter:
    async def send(progress: float, total: float | None, message: str) -> None:
        await context.session.report_progress(progress, total, message)

    return ProgressReporter(send)


@lru_cache(maxsize=1)
def _instructions() -> str:
    return resources.files("sightline_server").joinpath("instructions.md").read_text("utf-8")


def _schema_by_name(name: str) -> Mapping[str, Any] | None:
    return next((describe_tool(tool).input_schema for tool in TOOLS if tool.name == name), None)
