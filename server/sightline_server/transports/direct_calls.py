"""Calls of tools, answered without the turns that the library's dispatch takes for every message.

Those turns (tasks, streams, a dozen checks and copies of values) take longer than most searches.

**Invariant**: only a plain call of a tool that exists, on a connection where the library has answered a call before,
in the very form that it gave its answer; everything else, and every fault of a message, stays the library's.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, TypeGuard, cast

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.shared.dispatcher import as_request_id, coerce_request_id

from sightline_server.answer_form import AnswerForm
from sightline_server.app import Services
from sightline_server.dispatch import call_tool
from sightline_server.protocol import SingleSession
from sightline_server.tools.base import ProgressReporter
from sightline_server.transports.descriptors import LineSink
from sightline_server.transports.messages import encode_message
from sightline_server.transports.unanswered import Unanswered

logger = logging.getLogger(__name__)

_PARAMS = frozenset({"name", "arguments", "_meta"})
# As long as the library allows itself for the same.
_LAST_WORD_S = 1


class DirectCalls:
    """The calls under way of one client."""

    def __init__(
        self, services: Services, scope: SingleSession, group: TaskGroup, lines: LineSink, unanswered: Unanswered
    ) -> None:
        self._services, self._scope = services, scope
        self._group, self._lines, self._unanswered = group, lines, unanswered
        self._running: dict[str | int, _Running] = {}

    def takes(self, message: types.JSONRPCMessage) -> bool:
        """Begin to answer a call, or end one that the client cancels; False when the message is not for here."""
        if isinstance(message, types.JSONRPCRequest):
            key = coerce_request_id(message.id)
            form, params = self._scope.form, message.params
            if form is None or message.method != "tools/call" or key in self._running:
                return False
            if not self._is_plain(params, form):
                return False
            running = self._running[key] = _Running()
            self._group.start_soon(self._answer, message.id, key, running, params, form)
            return True
        if isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            return self._cancel((message.params or {}).get("requestId"))
        return False

    def end(self) -> None:
        """Give up what is under way; its callers are told."""
        for running in self._running.values():
            running.scope.cancel()

    def _cancel(self, identity: object) -> bool:
        wanted = as_request_id(identity)
        running = None if wanted is None else self._running.get(coerce_request_id(wanted))
        if running is None:
            return False
        running.is_withdrawn = True
        running.scope.cancel()
        return True

    def _is_plain(self, params: Mapping[str, Any] | None, form: AnswerForm) -> TypeGuard[Mapping[str, Any]]:
        if params is None or not params.keys() <= _PARAMS:
            return False
        name, arguments, meta = params.get("name"), params.get("arguments"), params.get("_meta")
        tool = self._scope.session.tools.get(name) if isinstance(name, str) else None
        if tool is None or not isinstance(arguments, dict | None) or not isinstance(meta, dict | None):
            return False
        # A call without a workspace may have to ask its client for one.
        has_root = self._scope.session.default_workspace is not None or not tool.needs_workspace
        return has_root and form.fits(cast("dict[str, Any] | None", meta))

    async def _answer(
        self,
        identity: str | int,
        key: str | int,
        running: _Running,
        params: Mapping[str, Any],
        form: AnswerForm,
    ) -> None:
        sent = False
        try:
            with running.scope:
                reporter = self._reporter(params.get("_meta"))
                outcome = await call_tool(
                    self._services, self._scope.session, params["name"], params.get("arguments"), reporter
                )
                # An answer that was begun is never followed by another.
                sent = True
                await self._lines.send(form.response(identity, outcome))
            if not sent and not running.is_withdrawn:
                await self._say_closed(identity)
        except OSError:
            logger.debug("the client closed its streams")
        finally:
            del self._running[key]
            self._unanswered.settled(identity)

    async def _say_closed(self, identity: str | int) -> None:
        error = types.ErrorData(code=types.CONNECTION_CLOSED, message="Connection closed")
        with anyio.move_on_after(_LAST_WORD_S, shield=True):
            await self._lines.send(encode_message(types.JSONRPCError(jsonrpc="2.0", id=identity, error=error)))

    def _reporter(self, meta: Mapping[str, Any] | None) -> ProgressReporter:
        token = (meta or {}).get("progressToken")
        if token is None:
            return ProgressReporter()

        async def send(progress: float, total: float | None, message: str) -> None:
            params: dict[str, Any] = {"progressToken": token, "progress": progress, "message": message}
            if total is not None:
                params["total"] = total
            told = types.JSONRPCNotification(jsonrpc="2.0", method="notifications/progress", params=params)
            await self._lines.send(encode_message(told))

        return ProgressReporter(send)


class _Running:
    """One call: what ends it, and whether its client did."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.is_withdrawn = False
