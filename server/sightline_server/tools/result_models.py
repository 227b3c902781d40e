"""How search results are shown, by level of detail."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, SkipValidation, WithJsonSchema

from sightline_core.text import clean
from sightline_core.types import Source, SourceStatus
from sightline_search.model import DetailLevel, Hit
from sightline_server.envelope import WireModel
from sightline_server.schema import plain_schema


class LineModel(WireModel):
    """A line of a file."""

    line: int
    text: str


class ResultModel(WireModel):
    """One place in the code."""

    path: str
    line: int
    end_line: int
    kind: Annotated[str, Field(description="A symbol kind, or `text` for a place that is no definition.")]
    name: str
    provenance: Annotated[list[str], Field(description="Who knows of it: `index`, `lsp` or both.")]
    column: int | None = None
    qualified_name: str | None = None
    signature: str | None = None
    language: str | None = None
    container: str | None = None
    symbol: Annotated[str | None, Field(description="The definition that encloses a text hit.")] = None
    score: float | None = None
    lines: Annotated[list[LineModel] | None, Field(description="The best lines, at detail_level=context.")] = None
    drifted: Annotated[bool | None, Field(description="True when the file changed since it was indexed.")] = None
    score_parts: Annotated[dict[str, float] | None, Field(description="What the score is made of; with explain.")] = (
        None
    )


class ActionModel(WireModel):
    """A call that may be worth making next."""

    tool: str
    arguments: dict[str, Any]
    reason: str


# A `ResultModel` without the fields that are not known, as it leaves.
ResultRow = dict[str, Any]
ResultRows = Annotated[
    list[ResultRow], SkipValidation, WithJsonSchema({"type": "array", "items": plain_schema(ResultModel)})
]


def result_row(hit: Hit, detail: DetailLevel, *, explain: bool = False) -> ResultRow:
    """A hit at one level of detail."""
    row: ResultRow = {
        "path": hit.path,
        "line": hit.line,
        "end_line": hit.end_line,
        "kind": hit.kind,
        "name": clean(hit.name),
        "provenance": list(hit.provenance),
    }
    if detail is not DetailLevel.LOCATION:
        known = {
            "column": hit.column,
            "qualified_name": clean(hit.qualified_name),
            "signature": clean(hit.signature),
            "language": hit.language,
            "container": clean(hit.container),
            "symbol": clean(hit.symbol),
            "score": round(hit.score, 3),
            "lines": _lines(hit) if detail is DetailLevel.CONTEXT else None,
        }
        row.update({name: value for name, value in known.items() if value})
    if hit.drifted:
        row["drifted"] = True
    if explain:
        row["score_parts"] = {key: round(value, 4) for key, value in hit.parts.items()}
    return row


def result_model(hit: Hit, detail: DetailLevel) -> ResultModel:
    """The same as a model, for answers with few of them."""
    return ResultModel.model_validate(result_row(hit, detail))


def _lines(hit: Hit) -> list[dict[str, Any]]:
    return [{"line": line.number, "text": clean(line.text)} for line in hit.lines]


def install_actions(sources: tuple[Source, ...] | None, most: int) -> list[ActionModel]:
    """How to get the language servers that are missing: one entry, the languages with most files first."""
    missing = [source for source in sources or () if source.status is SourceStatus.NOT_INSTALLED and source.server]
    if not missing:
        return []
    ways = "; ".join(f"[{source.language}] {source.detail}" for source in missing[:most])
    reason = f"Answers from the index alone; a language server makes them more exact: {ways}"
    return [ActionModel(tool="detect_lsp_servers", arguments={}, reason=reason)]


def follow_up_actions(hits: tuple[Hit, ...], most: int) -> list[ActionModel]:
    """What an agent usually asks after these results."""
    actions: list[ActionModel] = []
    for hit in hits[:1]:
        if hit.kind in ("text", "file"):
            reason = f"See what {hit.path} defines."
            actions.append(ActionModel(tool="get_file_outline", arguments={"path": hit.path}, reason=reason))
        else:
            arguments = {"symbol_name": hit.qualified_name or hit.name, "path": hit.path}
            reason = "See what is defined beside it."
            actions.append(ActionModel(tool="find_related_symbols", arguments=arguments, reason=reason))
    return actions[:most]
