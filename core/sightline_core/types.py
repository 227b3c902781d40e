"""The values that travel between the packages.

**Invariant**: lines and columns are 1-based and a column counts Unicode code points; wire forms live at the
edges (`sightline_lsp.convert`, `sightline_server.wire`), so nothing here knows JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class SymbolKind(StrEnum):
    """The language-server kinds in lower case, in the protocol's order (file is 1)."""

    FILE = "file"
    MODULE = "module"
    NAMESPACE = "namespace"
    PACKAGE = "package"
    CLASS = "class"
    METHOD = "method"
    PROPERTY = "property"
    FIELD = "field"
    CONSTRUCTOR = "constructor"
    ENUM = "enum"
    INTERFACE = "interface"
    FUNCTION = "function"
    VARIABLE = "variable"
    CONSTANT = "constant"
    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"
    KEY = "key"
    NULL = "null"
    ENUM_MEMBER = "enummember"
    STRUCT = "struct"
    EVENT = "event"
    OPERATOR = "operator"
    TYPE_PARAMETER = "typeparameter"


class Position(NamedTuple):
    """A place in a text: 1-based line, 1-based code-point column; ordered as it stands there.

    A tuple, as is `Range`: answers have thousands of them, and a frozen dataclass takes several times as long to
    make, compare and hash.
    """

    line: int
    column: int


class Range(NamedTuple):
    """A stretch of text; `end` is exclusive, as in the language-server protocol."""

    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition that other code can name.

    `range` spans the whole definition, `name_position` points at the name itself. `container` is the qualified
    name of the enclosing definition, empty at the top level. `declaration` when it only announces what is written
    elsewhere: abstract methods, overload and ambient signatures, prototypes inside a class, methods of Go interfaces.
    """

    name: str
    qualified_name: str
    kind: SymbolKind
    container: str
    signature: str
    doc: str
    range: Range
    name_position: Position
    declaration: bool = False


class IndexingStatus(StrEnum):
    """Whether a workspace can be searched."""

    NOT_INDEXED = "not_indexed"
    INDEXING = "indexing"
    READY = "ready"
    FAILED = "failed"


class Completeness(StrEnum):
    """Whether an answer is all there is."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    TRUNCATED = "truncated"


class Freshness(StrEnum):
    """How far the index may lag behind the disk."""

    FRESH = "fresh"
    SYNCING = "syncing"
    STALE = "stale"


class SchemaStatus(StrEnum):
    """Whether the stored index can be read by this version."""

    COMPATIBLE = "compatible"
    NOT_INDEXED = "not_indexed"
    REINDEX_REQUIRED = "reindex_required"
    CORRUPT_MANIFEST = "corrupt_manifest"


class SourceStatus(StrEnum):
    """How a language server took part in an answer."""

    OK = "ok"
    STARTING = "starting"
    INDEXING = "indexing"
    TIMEOUT = "timeout"
    DOWN = "down"
    NOT_INSTALLED = "not_installed"
    UNSUPPORTED = "unsupported"
    UNTRUSTED = "untrusted"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Source:
    """One language server's part in an answer.

    `expected` is True when the answer counts on this server: the user configured it, it ran before in this
    workspace, or it is running.
    """

    language: str
    status: SourceStatus
    server: str = ""
    detail: str = ""
    expected: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """Something the reader of an answer must know; becomes an entry of `metadata.warnings`."""

    code: str
    message: str
    language: str = ""


class JobState(StrEnum):
    """The life of an index job."""

    QUEUED = "queued"
    RUNNING = "running"
    PUBLISHED = "published"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


class JobMode(StrEnum):
    """How much an index job reads."""

    FULL = "full"
    INCREMENTAL = "incremental"
