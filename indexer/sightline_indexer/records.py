"""The values that the indexer's parts hand to each other: what a worker found, what a row of the manifest holds.

**Invariant**: a worker's answer is decoded into these types once, where its pipe is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple

import msgspec

from sightline_core.types import Position, Range, Symbol, SymbolKind
from sightline_indexer.file_traits import FileTrait


class Outcome(IntEnum):
    """What came of reading one file."""

    INDEXED = 0
    UNCHANGED = 1
    VANISHED = 2
    UNREADABLE = 3
    SKIPPED = 4


class Problem(StrEnum):
    """Why a file is not, or only partly, in the index; empty for a good one."""

    NONE = ""
    BINARY = "binary"
    TOO_LARGE = "too_large"
    PARSE_TIMEOUT = "parse_timeout"
    PARSE_CRASH = "parse_crash"
    SYMBOL_LIMIT = "symbol_limit"


# Problems of files whose text is not searchable; the others only lack symbols.
SKIPPING_PROBLEMS = frozenset({Problem.BINARY, Problem.TOO_LARGE})


class SymbolEntry(NamedTuple):
    """A symbol as the manifest stores it, but for the texts that only a shown result needs."""

    name: str
    qualified: str  # empty when it is the container and the name joined by a dot
    container: str
    kind: int
    line: int
    column: int
    end_line: int
    end_column: int
    name_line: int
    name_column: int


class Task(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file for a worker; an answer is only complete when its digest differs from `known_digest`."""

    path: str
    known_digest: bytes = b""
    parse: bool = True


class Extracted(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """All that the index keeps of one file."""

    path: str
    outcome: Outcome
    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    racy: bool = False
    digest: bytes = b""
    language: str = ""
    traits: int = 0
    problem: Problem = Problem.NONE
    content: str = ""
    parts: str = ""
    path_words: str = ""
    names: str = ""
    symbol_words: str = ""
    docs: str = ""
    has_long_word: bool = False
    symbol_count: int = 0
    outline: bytes = b""
    texts: bytes = b""
    name_keys: bytes = b""


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """A worker's message: files in the order they were asked for, and the words it met for the first time."""

    files: tuple[Extracted, ...]
    new_words: bytes


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file of one generation."""

    file_id: int
    path: str
    size: int
    mtime_ns: int
    inode: int
    digest: bytes
    language: str
    traits: FileTrait
    problem: Problem
    symbol_count: int


@dataclass(frozen=True, slots=True)
class SymbolRecord:
    """A definition with its file."""

    file_id: int
    path: str
    language: str
    traits: FileTrait
    symbol: Symbol


_KINDS = tuple(SymbolKind)
_KIND_NUMBERS = {kind: number for number, kind in enumerate(_KINDS)}
# Added to the number of a kind when the symbol only announces what is written elsewhere.
DECLARATION = 64


def to_symbol(entry: SymbolEntry, signature: str = "", doc: str = "") -> Symbol:
    """The symbol that an entry stands for."""
    joined = f"{entry.container}.{entry.name}" if entry.container else entry.name
    return Symbol(
        name=entry.name,
        qualified_name=entry.qualified or joined,
        kind=stored_kind(entry.kind),
        container=entry.container,
        signature=signature,
        doc=doc,
        range=Range(Position(entry.line, entry.column), Position(entry.end_line, entry.end_column)),
        name_position=Position(entry.name_line, entry.name_column),
        declaration=is_declaration(entry.kind),
    )


def stored_kind(number: int) -> SymbolKind:
    """The kind of a stored symbol."""
    return _KINDS[number % DECLARATION]


def is_declaration(number: int) -> bool:
    """Whether a stored symbol only announces what is written elsewhere."""
    return number >= DECLARATION


def stored_number(kind: SymbolKind, declaration: bool) -> int:
    """How the manifest stores a kind and whether the symbol only announces what is written elsewhere."""
    number = _KIND_NUMBERS[kind]
    return number + DECLARATION if declaration else number
