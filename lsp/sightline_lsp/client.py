"""The client's side of one conversation: the handshake, and what servers ask of a client.

**Invariant**: every request of a server gets an answer at once, from values that are already here; none of them can
write a file, start a program or wait.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from sightline_core.limits import Limits
from sightline_lsp import faults, messages, shapes
from sightline_lsp.capabilities import WATCHED_FILES, Offers, as_table, client_capabilities
from sightline_lsp.connection import Connection
from sightline_lsp.convert import path_to_uri
from sightline_lsp.diagnostics import DiagnosticStore
from sightline_lsp.documents import Documents
from sightline_lsp.messages import Malformed, Notification, ServerRequest, Shape
from sightline_lsp.readiness import Readiness
from sightline_lsp.servers import Quirk, ServerRow
from sightline_lsp.texts import Texts
from sightline_lsp.watched_files import WatchedFiles

T = TypeVar("T")
log = logging.getLogger(__name__)

# Asked of clients that cache; there is nothing to redraw here, but a refusal kills some servers.
_REFRESHES = (
    "workspace/semanticTokens/refresh",
    "workspace/inlayHint/refresh",
    "workspace/inlineValue/refresh",
    "workspace/codeLens/refresh",
    "workspace/foldingRange/refresh",
    "workspace/diagnostic/refresh",
)
_LOGGED = ("window/logMessage", "window/showMessage")


class Client:
    """One server as Sightline sees it. Attach a connection, initialize, then ask."""

    def __init__(self, row: ServerRow, folders: Sequence[str], texts: Texts, limits: Limits) -> None:
        self.row = row
        self.folders = tuple(folders)
        self._texts = texts
        self._limits = limits
        self._offers: Offers | None = None
        self._early: list[shapes.WireRegistration] = []
        self._connection: Connection | None = None
        self.info = shapes.WireServerInfo()
        self.readiness = Readiness(limits, settle=Quirk.READY_AT_ONCE not in row.quirks)
        self.diagnostics = DiagnosticStore(limits)
        self.watched = WatchedFiles(limits)
        self.on_refresh: Callable[[], None] = lambda: None
        self._requests: Mapping[str, Callable[[msgspec.Raw], Any]] = {
            "workspace/configuration": self._configuration,
            "workspace/workspaceFolders": lambda _: self._folder_list(),
            "client/registerCapability": self._register,
            "client/unregisterCapability": self._unregister,
            "window/workDoneProgress/create": lambda _: None,
            "window/showMessageRequest": lambda _: None,
            "window/showDocument": lambda _: {"success": False},
            "workspace/applyEdit": lambda _: {"applied": False, "failureReason": "Sightline applies no edits."},
            **dict.fromkeys(_REFRESHES, self._refresh),
        }
        self._notifications: Mapping[str, Callable[[msgspec.Raw], None]] = {
            "textDocument/publishDiagnostics": self._publish,
            "$/progress": self._progress,
            "language/status": self._status,
            **dict.fromkeys(_LOGGED, self._log_message),
        }

    # -- the handshake -------------------------------------------------------------------------

    def attach(self, connection: Connection) -> None:
        """Use `connection` from now on."""
        self._connection = connection
        self.documents = Documents(connection.notify, self._texts, self._limits, lambda: self.diagnostics.generation)

    @property
    def connection(self) -> Connection:
        """The conversation this client has."""
        assert self._connection is not None
        return self._connection

    @property
    def offers(self) -> Offers:
        """What the server offers; known after `initialize`."""
        assert self._offers is not None
        return self._offers

    @property
    def language(self) -> str:
        """The language that errors of no particular request are blamed on."""
        return self.row.languages[0]

    async def initialize(self, timeout_s: float) -> None:
        """The handshake; raises `LspError`."""
        if Quirk.STATUS_NOTIFICATION in self.row.quirks:
            self.readiness.hold()
        answer = await self.connection.request(
            "initialize", self._initialize_params(), shapes.INITIALIZED, timeout_s=timeout_s
        )
        try:
            offers = Offers(answer.capabilities, self._limits)
        except Malformed as error:
            raise faults.garbage(self.language, error.reason) from None
        self.info = answer.server_info or shapes.WireServerInfo()
        for entry in self._early:
            offers.register(entry)
        self._offers = offers
        self.documents.enabled = offers.wants_documents
        self._refresh_watchers()
        await self.connection.notify("initialized", {})
        if self.row.settings:
            await self.connection.notify("workspace/didChangeConfiguration", {"settings": self.row.settings})
        self.readiness.started()

    async def shutdown(self) -> None:
        """Ask the server to end; raises `LspError` when it does not answer in time."""
        # Without parameters: some servers refuse null and then stay.
        timeout_s = self._limits.lsp_shutdown_timeout_s
        await self.connection.request("shutdown", None, shapes.NOTHING, timeout_s=timeout_s)
        await self.connection.notify("exit", None)

    def _initialize_params(self) -> dict[str, Any]:
        first = self.folders[0] if self.folders else None
        params: dict[str, Any] = {
            "processId": os.getpid(),
            "clientInfo": {"name": "Sightline"},
            "rootPath": first,
            "rootUri": path_to_uri(first) if first else None,
            "workspaceFolders": self._folder_list(),
            "capabilities": client_capabilities(),
        }
        if self.row.init_options:
            params["initializationOptions"] = self.row.init_options
        return params

    # -- asking --------------------------------------------------------------------------------

    async def ask(self, method: str, params: Any, shape: Shape[T], *, timeout_s: float) -> T:
        """A request the server offers; raises `LspError`."""
        if not self.offers.has(method):
            raise faults.unsupported(self.language, self.row.name, method)
        return await self.connection.request(method, params, shape, timeout_s=timeout_s)

    async def change_folders(self, folders: Sequence[str]) -> None:
        """Tell the server about its folders in one message."""
        before, after = set(self.folders), set(folders)
        added = [_folder(path) for path in folders if path not in before]
        removed = [_folder(path) for path in self.folders if path not in after]
        self.folders = tuple(folders)
        if added or removed:
            event = {"added": added, "removed": removed}
            await self.connection.notify("workspace/didChangeWorkspaceFolders", {"event": event})

    async def flush_watched(self) -> None:
        """Send the waiting batch of file changes."""
        batch = self.watched.take()
        if batch:
            await self.connection.notify(WATCHED_FILES, {"changes": batch})

    # -- what the server asks ------------------------------------------------------------------

    def on_request(self, request: ServerRequest) -> bytes:
        """The framed reply."""
        answer = self._requests.get(request.method)
        if answer is None:
            return messages.encode_refusal(request.id, messages.METHOD_NOT_FOUND, "not known to this client")
        try:
            return messages.encode_answer(request.id, answer(request.params))
        except Malformed as error:
            return messages.encode_refusal(request.id, messages.INVALID_PARAMS, error.reason)

    def on_notification(self, notification: Notification) -> None:
        """Take what is known, drop the rest; parameters of the wrong shape are dropped too."""
        take = self._notifications.get(notification.method)
        if take is None:
            return
        try:
            take(notification.params)
        except Malformed as error:
            # Nobody waits for a notification: a bad one is logged and fails no request.
            log.warning("[%s] a bad %s: %s", self.language, notification.method, faults.quoted(error.reason))

    def _configuration(self, params: msgspec.Raw) -> list[Any]:
        items = shapes.CONFIGURATION.decode(params).items
        return [setting(self.row.settings or {}, item.section) for item in items[: self._limits.lsp_max_items]]

    def _folder_list(self) -> list[dict[str, str]]:
        return [_folder(path) for path in self.folders]

    def _register(self, params: msgspec.Raw) -> None:
        for entry in shapes.REGISTRATIONS.decode(params).registrations:
            if self._offers is not None:
                self._offers.register(entry)
            elif len(self._early) < self._limits.lsp_max_registrations:
                self._early.append(entry)
        self._refresh_watchers()
        self.diagnostics.wake()

    def _unregister(self, params: msgspec.Raw) -> None:
        for entry in shapes.UNREGISTRATIONS.decode(params).unregisterations:
            if self._offers is not None:
                self._offers.unregister(entry.id)
        self._refresh_watchers()

    def _refresh_watchers(self) -> None:
        if self._offers is not None:
            self.watched.set_registrations(self._offers.registrations(WATCHED_FILES))

    def _refresh(self, _params: msgspec.Raw) -> None:
        self.on_refresh()

    # -- what the server tells -----------------------------------------------------------------

    def _publish(self, params: msgspec.Raw) -> None:
        self.diagnostics.publish(shapes.PUBLISHED.decode(params), len(bytes(params)))

    def _progress(self, params: msgspec.Raw) -> None:
        message = shapes.PROGRESS.decode(params)
        if message.value.kind == "begin":
            self.readiness.begin(message.token, faults.quoted(message.value.title))
        elif message.value.kind == "end":
            self.readiness.end(message.token)
            self.on_refresh()
        else:
            self.readiness.report(message.token)

    def _status(self, params: msgspec.Raw) -> None:
        if as_table(shapes.NOTHING.decode(params)).get("type") == "ServiceReady":
            self.readiness.release()

    def _log_message(self, params: msgspec.Raw) -> None:
        if log.isEnabledFor(logging.DEBUG):
            text = as_table(shapes.NOTHING.decode(params)).get("message")
            log.debug("[%s] %s: %s", self.language, self.row.name, faults.quoted(str(text)))


def setting(settings: Mapping[str, Any], section: str | None) -> Any:
    """The value of a dotted section, `{}` where nothing is set: null makes some servers skip the project."""
    if not section:
        return dict(settings)
    if section in settings:
        return settings[section]
    value: Any = settings
    for part in section.split("."):
        value = as_table(value).get(part)
        if value is None:
            return {}
    return value


def _folder(path: str) -> dict[str, str]:
    return {"uri": path_to_uri(path), "name": os.path.basename(path) or path}
