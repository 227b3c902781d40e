"""The JSON that every tool answer is wrapped in.

**Invariant**: metadata is built here alone, and a response never exceeds its byte cap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from sightline_core.errors import SightlineError
from sightline_core.text import clean
from sightline_core.types import (
    Completeness,
    Freshness,
    IndexingStatus,
    Note,
    SchemaStatus,
    Source,
    SourceStatus,
)
from sightline_core.version import PROTOCOL_VERSION

# Several times as fast as the standard library's.
_encoder = msgspec.json.Encoder()


class WireModel(BaseModel):
    """A value that leaves the process; unknown fields are omitted, never null.

    `as_rows` names lists of hundreds of rows, which are JSON values from the start: checked as models and dumped
    again they took as long as everything else about them. A test holds such rows against the model of their schema.
    """

    as_rows: ClassVar[frozenset[str]] = frozenset()

    model_config = ConfigDict(frozen=True, extra="forbid", use_enum_values=False)


class SourceModel(WireModel):
    """One language server's part in the answer."""

    name: Annotated[str, Field(description="`lsp:<language>`")]
    server: str | None = None
    status: SourceStatus
    detail: str | None = None


class WarningModel(WireModel):
    """Something the reader of the answer must know."""

    code: str
    message: str
    language: str | None = None


class Metadata(WireModel):
    """How far the answer can be trusted."""

    sightline_protocol_version: str = PROTOCOL_VERSION
    workspace: Annotated[str | None, Field(description="The resolved root that was searched.")] = None
    ref: Annotated[str | None, Field(description="Branch or short commit, or `live` outside git.")] = None
    indexing_status: IndexingStatus = IndexingStatus.NOT_INDEXED
    result_completeness: Annotated[
        Completeness,
        Field(description="`complete`: this is all there is. `partial`: a source was missing. `truncated`: cut."),
    ] = Completeness.COMPLETE
    freshness_status: Freshness = Freshness.STALE
    schema_status: SchemaStatus = SchemaStatus.NOT_INDEXED
    sources: list[SourceModel] | None = None
    warnings: list[WarningModel] | None = None


class Encoded(dict[str, Any]):
    """A finished body on its way to the transport, with the JSON it was measured by, which then is not made again."""

    __slots__ = ("data",)

    def __init__(self, body: Mapping[str, Any], data: bytes) -> None:
        super().__init__(body)
        self.data = data


class ErrorModel(WireModel):
    """Why a tool failed and what to do next."""

    code: str
    message: str
    data: dict[str, Any] | None = None


def source_models(sources: tuple[Source, ...] | None) -> list[SourceModel] | None:
    """Sources as they appear in metadata; None where the tool asks no language server."""
    if sources is None:
        return None
    return [
        SourceModel(
            name=f"lsp:{source.language}",
            server=source.server or None,
            status=source.status,
            detail=clean(source.detail) or None,
        )
        for source in sources
    ]


def warning_models(notes: tuple[Note, ...]) -> list[WarningModel] | None:
    """Warnings without repetition, in order; None when there is none."""
    unique = dict.fromkeys(notes)
    return [
        WarningModel(code=note.code, message=clean(note.message), language=note.language or None) for note in unique
    ] or None


def error_body(error: SightlineError, metadata: Metadata) -> dict[str, Any]:
    """The structured content of a failing tool."""
    model = ErrorModel(code=error.code.value, message=clean(error.full_message), data=dict(error.data) or None)
    return {"error": to_json(model), "metadata": to_json(metadata)}


def encode_answer(request_id: str | int, result: Mapping[str, Any]) -> bytes | None:
    """The JSON-RPC response to a call whose structured content was encoded before; None for any other result."""
    body = result.get("structuredContent")
    return encode_response(request_id, result, body.data) if isinstance(body, Encoded) else None


def encode_response(request_id: str | int, result: Mapping[str, Any], structured: bytes) -> bytes:
    """The JSON-RPC response with a result whose structured content is this JSON."""
    raw = {**result, "structuredContent": msgspec.Raw(structured)}
    return _encoder.encode({"jsonrpc": "2.0", "id": request_id, "result": raw})


def to_json(model: WireModel) -> dict[str, Any]:
    """A wire model as JSON values, without the fields that are not known."""
    if not model.as_rows:
        return model.model_dump(mode="json", exclude_none=True, by_alias=True)
    known = model.model_dump(mode="json", exclude_none=True, by_alias=True, exclude=set(model.as_rows))
    known.update({name: getattr(model, name) for name in model.as_rows})
    return {name: known[name] for name in type(model).model_fields if name in known}


def dump(body: Mapping[str, Any]) -> str:
    """Compact JSON text; what is not ASCII stays readable."""
    return encode(body).decode("utf-8")


def encode(body: Mapping[str, Any]) -> bytes:
    """The same in UTF-8: what is measured, and sent."""
    return _encoder.encode(body)


def cut_list(body: dict[str, Any], field: str, max_bytes: int) -> int:
    """Drop entries from the end of `body[field]` until the body fits; returns how many were dropped."""
    items: list[Any] = body[field]
    excess = len(encode(body)) - max_bytes
    dropped = 0
    while excess > 0 and items:
        # With its comma.
        excess -= len(_encoder.encode(items.pop())) + 1
        dropped += 1
    return dropped
