"""What a front must remember of a conversation to go on with another daemon.

**Invariant**: an answer to a replayed request never reaches the client, and the client's answer to a question of a
lost daemon never reaches the next one. A light module, see `place`.
"""

from __future__ import annotations

from sightline_server.daemon.plain_json import decode, encode, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard

    Identity = str | int

_REPLAYED = "sightline-replay"
_ASKED = "sightline-asked"
_REPLY = b'{"jsonrpc":"2.0","id":'
_OUTCOMES = (b',"result":', b',"error":')


class Recall:
    """The handshake, the requests under way, and the standing wishes of one client."""

    def __init__(self) -> None:
        self._handshake: bytes | None = None
        self._initialized: bytes | None = None
        self._level: bytes | None = None
        self._subscriptions: dict[str, bytes] = {}
        self._pending: dict[Identity, str] = {}
        self._swallowed: set[Identity] = set()
        self._generation = 0

    @property
    def waits_for_handshake(self) -> bool:
        """True when the client's own `initialize` is not answered yet."""
        return "initialize" in self._pending.values()

    def from_client(self, line: bytes) -> bytes | None:
        """Note a line; returns what the daemon gets, or None when it is not for this one."""
        # What is no object goes on as it is: the daemon has the answer to it.
        message = decode(line) if line.lstrip()[:1] == b"{" else None
        if message is None:
            return line
        method, identity = message.get("method"), message.get("id")
        if not isinstance(method, str):
            return self._answer_for_daemon(line, message, identity)
        if _is_identity(identity):
            self._pending[identity] = method
            self._note_request(method, message, line)
        elif method == "notifications/initialized":
            self._initialized = line
        elif method == "notifications/cancelled":
            # The daemon owes no answer to what was cancelled.
            cancelled = _params(message).get("requestId")
            if _is_identity(cancelled) and self._pending.get(cancelled) != "initialize":
                self._pending.pop(cancelled, None)
        return line

    def from_daemon(self, line: bytes) -> bytes | None:
        """Note a line; returns what the client gets, or None when it is not for the client."""
        identity = _answered(line)
        if identity is not None:
            if identity in self._swallowed:
                self._swallowed.discard(identity)
                return None
            self._pending.pop(identity, None)
            return line
        message = decode(line)
        if message is None:
            return line
        if "method" not in message:
            if _is_identity(message.get("id")):
                self._pending.pop(message["id"], None)
            return line
        return self._question_for_client(line, message)

    def take_pending(self, *, keep_handshake: bool) -> list[Identity]:
        """The requests that nobody will answer now; a handshake under way is kept, since it can be replayed."""
        kept = {i: m for i, m in self._pending.items() if keep_handshake and m == "initialize"}
        taken = [identity for identity in self._pending if identity not in kept]
        self._pending = kept
        return taken

    def replay(self) -> list[bytes]:
        """The lines that bring a new daemon to where the lost one was."""
        self._generation += 1
        self._swallowed.clear()
        if self._handshake is None:
            return []
        if self.waits_for_handshake:
            return [self._handshake]
        lines = [self._again(self._handshake)]
        lines += [self._initialized] if self._initialized is not None else []
        lines += [self._again(line) for line in (self._level, *self._subscriptions.values()) if line is not None]
        return lines

    def _note_request(self, method: str, message: dict[str, Any], line: bytes) -> None:
        if method == "initialize":
            self._handshake, self._initialized, self._level = line, None, None
            self._subscriptions.clear()
        elif method == "logging/setLevel":
            self._level = line
        elif method in ("resources/subscribe", "resources/unsubscribe"):
            uri = _params(message).get("uri")
            if isinstance(uri, str):
                self._subscriptions.pop(uri, None)
                if method == "resources/subscribe":
                    self._subscriptions[uri] = line

    def _again(self, line: bytes) -> bytes:
        message = decode(line) or {}
        identity = f"{_REPLAYED}-{self._generation}-{len(self._swallowed)}"
        self._swallowed.add(identity)
        return encode({**message, "id": identity})

    def _question_for_client(self, line: bytes, message: dict[str, Any]) -> bytes:
        """Questions of later daemons get ids of their own: the client may still work on one of the lost daemon's."""
        if self._generation == 0:
            return line
        identity = message.get("id")
        if _is_identity(identity):
            return encode({**message, "id": self._asked_id(identity)})
        if message.get("method") == "notifications/cancelled" and _is_identity(_params(message).get("requestId")):
            params = {**_params(message), "requestId": self._asked_id(_params(message)["requestId"])}
            return encode({**message, "params": params})
        return line

    def _asked_id(self, identity: Identity) -> str:
        return f"{_ASKED}-{self._generation}-{encode(identity).decode()}"

    def _answer_for_daemon(self, line: bytes, message: dict[str, Any], identity: Any) -> bytes | None:
        if self._generation == 0 or "id" not in message or not ("result" in message or "error" in message):
            return line
        prefix = f"{_ASKED}-{self._generation}-"
        if not isinstance(identity, str) or not identity.startswith(prefix):
            return None
        try:
            asked = read(identity[len(prefix) :].encode())
        except (ValueError, RecursionError):
            return None
        return encode({**message, "id": asked})


def _answered(line: bytes) -> Identity | None:
    """The request that a line answers, read from its start alone; None when that does not tell.

    Answers can be long, and this is what every one of them goes through.
    """
    if not line.startswith(_REPLY):
        return None
    begin = len(_REPLY)
    end = line.find(b'"', begin + 1) + 1 if line[begin : begin + 1] == b'"' else line.find(b",", begin)
    written = line[begin:end]
    # A name with an escape in it may not have ended yet.
    if end <= begin or b"\\" in written or not line.startswith(_OUTCOMES, end):
        return None
    try:
        identity = read(written)
    except ValueError:
        return None
    return identity if _is_identity(identity) else None


def _is_identity(value: Any) -> TypeGuard[Identity]:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _params(message: dict[str, Any]) -> dict[str, Any]:
    params: Any = message.get("params")
    return params if isinstance(params, dict) else {}  # pyright: ignore[reportUnknownVariableType]
