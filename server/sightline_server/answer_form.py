"""How the answer to a call looks to one client: the fields that its version of the protocol has.

**Invariant**: the library alone decides which fields there are; only the body is put in here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from mcp.server.context import ServerRequestContext
from mcp_types import PROTOCOL_VERSION_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from sightline_server.dispatch import Outcome
from sightline_server.envelope import Encoded, encode_response

_PROGRESS_TOKEN = "progressToken"  # noqa: S105 - the name of a field


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """A result without its body, and the envelope of the call that it answered.

    Since 2026-07-28 every request says anew who asks and in which version; `envelope` is what it said, and None for
    the versions that agree on it once.
    """

    result: Mapping[str, Any]
    envelope: Mapping[str, Any] | None

    @classmethod
    def of(cls, context: ServerRequestContext[Any, Any], result: Mapping[str, Any]) -> Self:
        """The form of the answer that was just given."""
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return cls(result, None)
        return cls(result, _envelope((context.params or {}).get("_meta")))

    def fits(self, meta: Mapping[str, Any] | None) -> bool:
        """Whether a call with this `_meta` gets an answer of this form."""
        token = (meta or {}).get(_PROGRESS_TOKEN, 0)
        if not isinstance(token, str | int) or isinstance(token, bool):
            return False
        if self.envelope is None:
            return PROTOCOL_VERSION_META_KEY not in (meta or {})
        return _envelope(meta) == self.envelope

    def response(self, request_id: str | int, outcome: Outcome) -> bytes:
        """The JSON-RPC response with a finished call."""
        (text,) = self.result["content"]
        content = [{**text, "text": outcome.encoded.decode("utf-8")}]
        result = {**self.result, "content": content, "isError": outcome.is_error}
        return encode_response(request_id, result, outcome.encoded)


def with_body(result: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
    """A result with the body of a finished call in place of the empty one."""
    (text,) = result["content"]
    filled = {**result, "content": [{**text, "text": outcome.encoded.decode("utf-8")}]}
    if "structuredContent" in result:
        filled["structuredContent"] = Encoded(outcome.body, outcome.encoded)
    return filled


def _envelope(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (meta or {}).items() if name != _PROGRESS_TOKEN}
