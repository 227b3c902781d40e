"""The values of a search: what is asked, and what comes back.

**Invariant**: no JSON, no engine types; the server's wire models are made from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sightline_core.types import Note, SymbolKind


class Intent(StrEnum):
    """What a query was taken for."""

    SYMBOL = "symbol"
    PATH = "path"
    ERROR = "error"
    REGEX = "regex"
    LITERAL = "literal"
    NATURAL_LANGUAGE = "natural_language"


class SearchMode(StrEnum):
    """How the caller wants a query to be read; `auto` lets the query decide."""

    AUTO = "auto"
    TEXT = "text"
    REGEX = "regex"
    LITERAL = "literal"
    SYMBOL = "symbol"
    PATH = "path"


class DetailLevel(StrEnum):
    """How much of each result is shown."""

    LOCATION = "location"
    SIGNATURE = "signature"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Filters:
    """What results may come from; `paths` and `exclude` are globs."""

    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    language: str = ""
    kind: SymbolKind | None = None
    include_tests: bool = True


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Everything of a search but the query.

    `case_sensitive` None: case counts in a literal or a regular expression, as in ripgrep, and not in other modes.
    """

    mode: SearchMode = SearchMode.AUTO
    filters: Filters = field(default_factory=Filters)
    case_sensitive: bool | None = None
    limit: int = 10
    cursor: str = ""
    count_only: bool = False
    detail: DetailLevel = DetailLevel.SIGNATURE
    max_tokens: int | None = None
    explain: bool = False


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a file with its 1-based number."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One place. `kind` is a symbol kind or `text`; `symbol` is the enclosing definition of a text hit.

    `name` of a text hit is what matched and `signature` its line, both cut. `end_column` is exclusive, on `end_line`.
    """

    path: str
    line: int
    end_line: int
    kind: str
    name: str
    column: int = 0
    end_column: int = 0
    qualified_name: str = ""
    signature: str = ""
    language: str = ""
    container: str = ""
    symbol: str = ""
    score: float = 0.0
    lines: tuple[ShownLine, ...] = ()
    provenance: tuple[str, ...] = ("index",)
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    drifted: bool = False


@dataclass(frozen=True, slots=True)
class FileCount:
    """How many matches a file has."""

    path: str
    matches: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to one query.

    `values` are variables, fields and bare announcements of a name that no function or type has.
    `cuts` and `holes` become the completeness of the answer, see the server's `completeness`.
    """

    intent: Intent
    hits: tuple[Hit, ...] = ()
    why: str = ""
    did_you_mean: tuple[str, ...] = ()
    values: tuple[Hit, ...] = ()
    total_candidates: int | None = None
    next_cursor: str = ""
    counts: tuple[FileCount, ...] = ()
    cuts: tuple[Note, ...] = ()
    holes: tuple[Note, ...] = ()
    notes: tuple[Note, ...] = ()
