"""MCP over HTTP: `/` and `/mcp` for messages, `/health` for probes, `/ui` for people.

**Invariant**: the gate, the path, the method and the size are checked here before the library sees a byte; every
refusal is a JSON-RPC error envelope.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from sightline_core.errors import ErrorCode
from sightline_core.limits import Limits
from sightline_core.version import __version__
from sightline_server.app import Services
from sightline_server.envelope import to_json
from sightline_server.health import read_health
from sightline_server.protocol import build_server, error_data
from sightline_server.sessions.http_sessions import HttpSessions
from sightline_server.tools.health_check import health_model
from sightline_server.transports.gate import Gate
from sightline_server.transports.messages import BadLine, parse_message
from sightline_server.ui.routes import UI_PATH, page_response

logger = logging.getLogger(__name__)

MCP_PATHS = ("/", "/mcp")
HEALTH_PATH = "/health"
_SESSION_HEADER = "mcp-session-id"
_VERSION_HEADER = "mcp-protocol-version"
_BOTH_TYPES = "application/json, text/event-stream"


class _RefusedError(Exception):
    """An HTTP status with the JSON-RPC error that goes with it."""

    def __init__(
        self,
        status: int,
        message: str,
        code: int = types.INVALID_REQUEST,
        request_id: str | int | None = None,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        error_code: ErrorCode = ErrorCode.INVALID_INPUT,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.request_id = request_id
        self.headers = headers
        self.error_code = error_code

    def response(self) -> Response:
        body = {
            "jsonrpc": "2.0",
            "id": self.request_id,
            "error": {"code": self.code, "message": self.message, "data": error_data(self.error_code)},
        }
        return JSONResponse(body, self.status, headers=dict(self.headers))


class HttpApp:
    """The ASGI application; enter `running()` before serving requests."""

    def __init__(self, services: Services, gate: Gate) -> None:
        self._services = services
        self._gate = gate
        self._limits: Limits = services.config.limits
        server = build_server(services, HttpSessions(services))
        # Streams and sessions for clients that take them; plain JSON, one exchange a request, for all others.
        self._streaming = self._manager(server, stateless=False)
        self._plain = self._manager(server, stateless=True)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None, None]:
        """Serve sessions until the block ends."""
        async with self._streaming.run(), self._plain.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One HTTP request."""
        if scope["type"] != "http":
            return
        try:
            await self._route(scope, receive, send)
        except _RefusedError as refusal:
            await refusal.response()(scope, receive, send)
        except Exception:
            logger.exception("HTTP request failed")
            fault = _RefusedError(500, "Internal error.", types.INTERNAL_ERROR, error_code=ErrorCode.INTERNAL_ERROR)
            await fault.response()(scope, receive, send)

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        self._check_browser(headers)
        path, method = scope["path"], scope["method"]
        if path == HEALTH_PATH:
            self._check_method(method, ("GET", "HEAD"))
            await self._health(headers)(scope, receive, send)
            return
        if path == UI_PATH or path.startswith(f"{UI_PATH}/"):
            page = page_response(path)
            if page is not None:
                self._check_method(method, ("GET", "HEAD"))
                await page(scope, receive, send)
                return
        self._check_token(headers)
        if path not in MCP_PATHS:
            raise _RefusedError(404, f"There is nothing at this path. MCP is served at {' and '.join(MCP_PATHS)}.")
        self._check_method(method, ("POST", "GET", "DELETE"))
        if method == "POST":
            await self._post(scope, receive, send, headers)
        elif _SESSION_HEADER in headers:
            await self._streaming.handle_request(scope, receive, send)
        else:
            raise _method_refused(method, ("POST",))

    async def _post(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        body = await self._read_body(headers, receive)
        message = self._parse(headers, body)
        wants_stream = "text/event-stream" in headers.get("accept", "")
        opens_session = isinstance(message, types.JSONRPCRequest) and message.method == "initialize"
        has_session = _SESSION_HEADER in headers or (wants_stream and opens_session)
        manager = self._streaming if has_session or (wants_stream and _VERSION_HEADER in headers) else self._plain
        await manager.handle_request(_with_standard_headers(scope), _replay(body, receive), send)

    async def _read_body(self, headers: Headers, receive: Receive) -> bytes:
        declared = headers.get("content-length", "0")
        limit = self._limits.max_message_bytes
        if declared.isdigit() and int(declared) > limit:
            raise _RefusedError(413, f"A request may have at most {limit} bytes.")
        body = bytearray()
        with anyio.move_on_after(self._limits.http_read_timeout_s):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise _RefusedError(400, "The request ended before its body.", types.PARSE_ERROR)
                body += message.get("body", b"")
                if len(body) > limit:
                    raise _RefusedError(413, f"A request may have at most {limit} bytes.")
                if not message.get("more_body", False):
                    return bytes(body)
        raise _RefusedError(400, "The body did not arrive in time.", types.PARSE_ERROR)

    def _parse(self, headers: Headers, body: bytes) -> types.JSONRPCMessage:
        content_type = headers.get("content-type", "application/json").lower()
        if not content_type.startswith("application/json"):
            raise _RefusedError(400, "The Content-Type must be application/json.")
        parsed = parse_message(body)
        if isinstance(parsed, BadLine):
            raise _RefusedError(400, parsed.message, parsed.code, parsed.request_id)
        return parsed

    def _check_browser(self, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if not self._gate.accepts_host(hosts):
            raise _RefusedError(403, "The Host header does not name this machine.")
        if not self._gate.accepts_origin(headers.getlist("origin"), hosts):
            raise _RefusedError(403, "Requests from this origin are not accepted.")

    def _check_token(self, headers: Headers) -> None:
        if not self._gate.accepts_token(headers.getlist("authorization")):
            raise _RefusedError(401, "A valid bearer token is needed.", headers=(("WWW-Authenticate", "Bearer"),))

    @staticmethod
    def _check_method(method: str, allowed: tuple[str, ...]) -> None:
        if method not in allowed:
            raise _method_refused(method, allowed)

    def _health(self, headers: Headers) -> Response:
        health = read_health(self._services)
        if not self._gate.is_loopback and not self._gate.accepts_token(headers.getlist("authorization")):
            return JSONResponse({"status": health.status.value, "version": __version__})
        return JSONResponse(to_json(health_model(health)))

    def _manager(self, server: Any, *, stateless: bool) -> StreamableHTTPSessionManager:
        return StreamableHTTPSessionManager(
            app=server,
            stateless=stateless,
            json_response=stateless,
            session_idle_timeout=self._limits.http_session_idle_s,
            max_request_body_size=self._limits.max_message_bytes,
            max_sessions=self._limits.http_max_sessions,
        )


def _method_refused(method: str, allowed: tuple[str, ...]) -> _RefusedError:
    # A person who opened the address in a browser looks for the page.
    hint = " The page for people is at /ui." if method == "GET" else ""
    return _RefusedError(405, f"{method} is not served here.{hint}", headers=(("Allow", ", ".join(allowed)),))


def _with_standard_headers(scope: Scope) -> Scope:
    """The scope with the Accept and Content-Type that the library insists on."""
    changed = {**scope, "headers": list(scope["headers"])}
    headers = MutableHeaders(scope=changed)
    headers["accept"] = _BOTH_TYPES
    headers.setdefault("content-type", "application/json")
    return changed


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
