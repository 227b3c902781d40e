"""Arguments that several search tools share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.errors import ErrorCode, SightlineError, nearest_name
from sightline_core.languages import languages
from sightline_core.types import SymbolKind
from sightline_search.model import DetailLevel, Filters
from sightline_server.freshness import FreshnessPolicy

PathFilterArg = Annotated[
    str, Field(max_length=4096, description="Only files whose path matches this glob or lies below this folder.")
]
LanguageArg = Annotated[str, Field(max_length=40, description="Only files of this language, for example python.")]
KindArg = Annotated[
    SymbolKind | None, Field(description="Only symbols of this kind, for example class, function or method.")
]
LimitArg = Annotated[int, Field(ge=1, le=100, description="How many results at most.")]
CursorArg = Annotated[str, Field(max_length=400, description="`next_cursor` of the page before.")]
DetailArg = Annotated[
    DetailLevel, Field(description="location (smallest), signature, or context (with the best lines).")
]
FreshnessArg = Annotated[
    FreshnessPolicy,
    Field(
        description="strict brings changed files in first, balanced answers and syncs behind, best_effort answers."
    ),
]
EnrichArg = Annotated[bool, Field(description="Also ask the language servers, within a small time box.")]


def filters_of(
    path: str, exclude: list[str], language: str, kind: SymbolKind | None, *, include_tests: bool
) -> Filters:
    """The filters of a call; raises `invalid_input` for a language that is not known."""
    if language and language not in languages():
        near = nearest_name(language, list(languages()))
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            f"'{language}' is no language that Sightline knows.",
            hint=f"Did you mean '{near}'?" if near else "index_status lists the languages of the workspace.",
        )
    return Filters(
        paths=(path,) if path else (),
        exclude=tuple(exclude),
        language=language,
        kind=kind,
        include_tests=include_tests,
    )
