"""What the pool answers with, in Sightline's own terms.

**Invariant**: positions are 1-based code points, text is cleaned, and a location says which registered root holds it;
nothing here came from a server unchecked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from sightline_core.paths import relative_to
from sightline_core.types import Position, Range, Source, SymbolKind
from sightline_lsp.texts import FileText

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LspLocation:
    """A place a server named; `in_root` is the registered root that holds it, None for an external one.

    `text`, where it is known, is what the range was counted in.
    """

    path: str
    range: Range
    in_root: str | None
    text: FileText | None = field(default=None, compare=False, repr=False)

    @property
    def relative(self) -> str:
        """The path below its root, or the absolute one of an external place."""
        return (relative_to(self.in_root, self.path) if self.in_root else None) or self.path


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """An answer with the server's own entry for the envelope; `dropped` counts parts that were not valid."""

    value: T
    source: Source
    dropped: int = 0
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class LiveSymbol:
    """A workspace symbol inside a registered root."""

    name: str
    kind: SymbolKind
    container: str
    location: LspLocation
    language: str


@dataclass(frozen=True, slots=True)
class LiveSymbols:
    """What the servers of a workspace know about a query, and how each took part."""

    symbols: tuple[LiveSymbol, ...]
    sources: tuple[Source, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class HierarchyItem:
    """An item of a call or type hierarchy; `token` is the server's own form, which it wants back."""

    name: str
    kind: SymbolKind
    detail: str
    location: LspLocation
    span: Range
    token: bytes


@dataclass(frozen=True, slots=True)
class Call:
    """A caller or callee with the places of the calls, which lie in the caller's file."""

    item: HierarchyItem
    sites: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Hover:
    """The documentation a server shows for a position."""

    text: str
    range: Range | None = None


@dataclass(frozen=True, slots=True)
class Highlight:
    """An occurrence in the same file: `text`, `read` or `write`."""

    range: Range
    kind: str


@dataclass(frozen=True, slots=True)
class OutlineSymbol:
    """A symbol of a document with those inside it."""

    name: str
    kind: SymbolKind
    detail: str
    range: Range
    selection: Range
    children: tuple[OutlineSymbol, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """One proposal."""

    label: str
    kind: str
    detail: str
    documentation: str
    insert_text: str


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature with the labels of its parameters."""

    label: str
    documentation: str
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SignatureHelp:
    """The signatures of the call at a position; the active ones are indices that exist, or None."""

    signatures: tuple[Signature, ...]
    active_signature: int | None
    active_parameter: int | None


@dataclass(frozen=True, slots=True)
class Edit:
    """A proposed replacement; never carried out here."""

    location: LspLocation
    new_text: str


@dataclass(frozen=True, slots=True)
class CodeAction:
    """A proposed fix; `has_command` when choosing it would run a command of the server."""

    title: str
    kind: str
    preferred: bool
    edits: tuple[Edit, ...]
    has_command: bool


@dataclass(frozen=True, slots=True)
class InlayHint:
    """A hint shown inside a line: `type` or `parameter`, empty when not said."""

    position: Position
    label: str
    kind: str


@dataclass(frozen=True, slots=True)
class SemanticToken:
    """A classified stretch of one line."""

    range: Range
    type: str
    modifiers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding: severity `error`, `warning`, `information` or `hint`."""

    range: Range
    severity: str
    message: str
    code: str
    source: str


class DiagnosticsOutcome(StrEnum):
    """How an answer about diagnostics came about."""

    UPDATED = "updated"
    INACTIVE = "inactive"
    SERVER_DIED = "server_died"


@dataclass(frozen=True, slots=True)
class DiagnosticsAnswer:
    """The diagnostics of one file."""

    outcome: DiagnosticsOutcome
    items: tuple[Diagnostic, ...]
    source: Source
    truncated: bool = False


class ServerState(StrEnum):
    """The life of one server."""

    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """One server as `health_check` shows it."""

    name: str
    languages: tuple[str, ...]
    state: ServerState
    pid: int | None
    rss_bytes: int
    cpu_s: float
    roots: tuple[str, ...]
    starts: int
    ready: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Detected:
    """A server of the table and whether it is there."""

    name: str
    languages: tuple[str, ...]
    command: tuple[str, ...]
    found: str | None
    install: str
    runs_workspace_code: bool
    in_use_for: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServerCapabilities:
    """What a running server offers."""

    server: str
    version: str
    position_encoding: str
    methods: tuple[str, ...]
