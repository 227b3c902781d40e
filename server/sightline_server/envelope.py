"""The JSON that every tool answer is wrapped in.

**Invariant**: metadata is built here alone, and a response never exceeds its byte cap.
"""

from __future__ import annotations

from typing import Annotated, Any

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
    """A value that leaves the process; unknown fields are omitted, never null."""

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


class Body(dict[str, Any]):
    """The structured content of an answer, finished, with the JSON that it was measured by.

    Whoever sends it uses that JSON, for the text and for the structured content: encoding it again, and checking and
    copying it entry by entry on the way out, took as long as making it.
    """

    __slots__ = ("encoded",)

    def __init__(self, content: dict[str, Any], encoded: bytes) -> None:
        super().__init__(content)
        self.encoded = encoded

    @property
    def text(self) -> str:
        """The same as JSON text."""
        return self.encoded.decode("utf-8")


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


def error_body(error: SightlineError, metadata: Metadata) -> Body:
    """The structured content of a failing tool."""
    model = ErrorModel(code=error.code.value, message=clean(error.full_message), data=dict(error.data) or None)
    return seal({"error": to_json(model), "metadata": to_json(metadata)})


def seal(content: dict[str, Any]) -> Body:
    """JSON values as a finished body."""
    return Body(content, _encoder.encode(content))


def encode_answer(request_id: str | int, result: dict[str, Any]) -> bytes | None:
    """The JSON-RPC response whose structured content is a finished body; None when it is something else."""
    body = result.get("structuredContent")
    if not isinstance(body, Body):
        return None
    raw = {**result, "structuredContent": msgspec.Raw(body.encoded)}
    return _encoder.encode({"jsonrpc": "2.0", "id": request_id, "result": raw})


def to_json(model: BaseModel) -> dict[str, Any]:
    """A wire model as JSON values, without the fields that are not known."""
    return model.model_dump(mode="json", exclude_none=True, by_alias=True)


def dump(body: dict[str, Any]) -> str:
    """Compact JSON text; what is not ASCII stays readable."""
    return _encoder.encode(body).decode("utf-8")


def byte_size(body: dict[str, Any]) -> int:
    """The UTF-8 size of a body's compact JSON."""
    return len(_encoder.encode(body))


def cut_list(body: dict[str, Any], field: str, max_bytes: int) -> int:
    """Drop entries from the end of `body[field]` until the body fits; returns how many were dropped."""
    items: list[Any] = body[field]
    excess = byte_size(body) - max_bytes
    dropped = 0
    while excess > 0 and items:
        # With its comma.
        excess -= len(_encoder.encode(items.pop())) + 1
        dropped += 1
    return dropped
