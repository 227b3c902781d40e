"""The outline of a file: its definitions as they contain each other.

**Invariant**: nesting follows the ranges, so that a definition is always inside its parent, whatever it is called.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.languages import is_primary
from sightline_core.limits import Limits
from sightline_core.types import Note, Symbol
from sightline_indexer.store import Snapshot
from sightline_search.locate import holes_of
from sightline_search.path_search import suggest_paths


class OutlineDepth(StrEnum):
    """How deep an outline goes."""

    TOP = "top"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """A definition with those inside it."""

    symbol: Symbol
    children: tuple[OutlineItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """The definitions of one file; `problem` says why it may have none, `left_out` counts variables and fields."""

    path: str
    language: str
    items: tuple[OutlineItem, ...]
    left_out: int = 0
    problem: str = ""
    holes: tuple[Note, ...] = ()


@dataclass(slots=True)
class _Open:
    symbol: Symbol
    children: list[OutlineItem] = field(default_factory=list["OutlineItem"])


def outline(
    snapshot: Snapshot, path: str, depth: OutlineDepth = OutlineDepth.ALL, *, values: bool = False, limits: Limits
) -> Outline:
    """The outline of an indexed file; raises `file_not_found` with paths that could have been meant.

    Functions and types, and the values that the language counts in; with `values` variables and fields too.

    `path` is relative to the root, as `RepoRoot.resolve` gives it.
    """
    file = snapshot.file(path)
    if file is None:
        near = suggest_paths(snapshot, path.rsplit("/", 1)[-1], limits)
        raise SightlineError(
            ErrorCode.FILE_NOT_FOUND,
            f"The index has no file '{path}'.",
            hint="Check the path, or find it with search_code and mode=path.",
            data={"did_you_mean": list(near)},
        )
    everything = [record.symbol for record in snapshot.symbols_in(file)]
    primary = [symbol for symbol in everything if is_primary(symbol.kind, file.language)]
    # A file of constants has nothing else to show.
    symbols = everything if values or not primary else primary
    items = nest(symbols)
    if depth is OutlineDepth.TOP:
        items = tuple(OutlineItem(item.symbol) for item in items)
    left_out = len(everything) - len(symbols)
    return Outline(file.path, file.language, items, left_out, file.problem.value, holes_of(snapshot))


def nest(symbols: list[Symbol]) -> tuple[OutlineItem, ...]:
    """Definitions by containment, in their order; without recursion, because nesting has no bound."""
    ordered = sorted(symbols, key=lambda symbol: (symbol.range.start, _negated_end(symbol)))
    top: list[OutlineItem] = []
    stack: list[_Open] = []
    for symbol in ordered:
        while stack and not _contains(stack[-1].symbol, symbol):
            _close(stack, top)
        stack.append(_Open(symbol))
    while stack:
        _close(stack, top)
    return tuple(top)


def _close(stack: list[_Open], top: list[OutlineItem]) -> None:
    done = stack.pop()
    item = OutlineItem(done.symbol, tuple(done.children))
    (stack[-1].children if stack else top).append(item)


def _contains(outer: Symbol, inner: Symbol) -> bool:
    return outer.range.end >= inner.range.end and outer.range.start < inner.range.start


def _negated_end(symbol: Symbol) -> tuple[int, int]:
    return -symbol.range.end.line, -symbol.range.end.column
