"""The most useful code for a task within a budget of tokens.

**Invariant**: never over the budget by the safe estimate; no line of a file twice; whole definitions wherever one
fits, and otherwise whole lines from the beginning of one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.types import Note, Symbol
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.records import FileRecord
from sightline_indexer.store import Snapshot
from sightline_search import engine
from sightline_search.context_budget import Budget, ContextItem, Span
from sightline_search.model import DetailLevel, Filters, Hit, SearchMode, SearchOptions, SearchResult
from sightline_search.scan import search_pattern
from sightline_search.tree_reader import TreeReader

SearchFunction = Callable[[Snapshot, RepoRoot, str, SearchOptions, Limits, float], SearchResult]


class Strategy(StrEnum):
    """`breadth` shows many places briefly, `depth` few files in full."""

    BREADTH = "breadth"
    DEPTH = "depth"


@dataclass(frozen=True, slots=True)
class CodeContext:
    """Code for a task; `truncated` when something that belongs to it did not fit."""

    items: tuple[ContextItem, ...]
    estimated_tokens: int
    truncated: bool
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class _Source:
    """A file of the snapshot as it is on disk; its symbols are empty when it changed since."""

    file: FileRecord
    lines: tuple[str, ...]
    symbols: tuple[Symbol, ...]


@dataclass(slots=True)
class _Work:
    """One request under way."""

    snapshot: Snapshot
    root: RepoRoot
    limits: Limits
    deadline: float
    budget: Budget
    reader: TreeReader
    sources: dict[str, _Source | None] = field(default_factory=dict[str, "_Source | None"])
    named: list[Symbol] = field(default_factory=list[Symbol])


def build_context(
    snapshot: Snapshot,
    root: RepoRoot,
    query: str,
    *,
    max_tokens: int,
    strategy: str,
    language: str = "",
    limits: Limits,
    deadline: float,
    search: SearchFunction = engine.search,
) -> CodeContext:
    """Code that a search for `query` leads to, then its callers and tests as far as the budget goes.

    Raises `invalid_strategy`, `invalid_max_tokens`, or what the search raises.
    """
    chosen = _checked(strategy, max_tokens, limits)
    options = SearchOptions(
        mode=SearchMode.AUTO,
        filters=Filters(language=language),
        limit=limits.context_search_results,
        detail=DetailLevel.LOCATION,
    )
    result = search(snapshot, root, query, options, limits, deadline)
    share = limits.context_breadth_share if chosen is Strategy.BREADTH else limits.context_depth_share
    budget = Budget(max_tokens, int(max_tokens * share), limits)
    with TreeReader(root, limits) as reader:
        work = _Work(snapshot, root, limits, deadline, budget, reader)
        if chosen is Strategy.DEPTH:
            _add_files(work, result.hits)
        _add_hits(work, result.hits)
        _add_users(work)
    notes = (*result.cuts, *result.holes, *result.notes)
    return CodeContext(tuple(budget.items), budget.spent, budget.left_out > 0, notes)


def _checked(strategy: str, max_tokens: int, limits: Limits) -> Strategy:
    if strategy not in set(Strategy):
        raise SightlineError(
            ErrorCode.INVALID_STRATEGY, f"'{strategy}' is no strategy.", hint="Use 'breadth' or 'depth'."
        )
    if not limits.min_context_tokens <= max_tokens <= limits.max_context_tokens:
        raise SightlineError(
            ErrorCode.INVALID_MAX_TOKENS,
            f"max_tokens must lie between {limits.min_context_tokens} and {limits.max_context_tokens}.",
            hint="Ask for several smaller contexts rather than a huge one.",
        )
    return Strategy(strategy)


def _add_files(work: _Work, hits: tuple[Hit, ...]) -> None:
    """The best files as a whole, as far as each leaves room for something else."""
    for path in list(dict.fromkeys(hit.path for hit in hits))[: work.limits.context_depth_files]:
        source = _source(work, path)
        if source is not None and source.lines:
            whole = Span(path, 1, len(source.lines))
            # What does not fit as a file is shown by its definitions.
            work.budget.try_whole(whole, source.lines, "", "file that matches the query")


def _add_hits(work: _Work, hits: tuple[Hit, ...]) -> None:
    for hit in hits:
        if time.monotonic() > work.deadline:
            return
        source = _source(work, hit.path)
        if source is None or not source.lines:
            continue
        symbol = _symbol_at(source, hit.line)
        if symbol is not None and len(work.named) < work.limits.context_followed_symbols:
            work.named.append(symbol)
        reason = "definition that matches the query" if hit.kind != "text" else "lines that match the query"
        _add_place(work, source, symbol, hit.line, reason)


def _add_place(work: _Work, source: _Source, symbol: Symbol | None, line: int, reason: str) -> None:
    if symbol is not None:
        last = min(symbol.range.end.line, len(source.lines))
        span = Span(source.file.path, symbol.range.start.line, last)
        if not work.budget.try_whole(span, source.lines, symbol.qualified_name, reason):
            work.budget.add_head(span, source.lines, symbol.qualified_name, f"{reason} (beginning)")
        return
    around = work.limits.context_window_lines
    span = Span(source.file.path, max(1, line - around), min(len(source.lines), line + around))
    work.budget.add_head(span, source.lines, "", reason)


def _add_users(work: _Work) -> None:
    """Callers of what was found, then tests of it: one definition of each file that uses a name."""
    uses = [(symbol, hit, source) for symbol in work.named for hit, source in _uses(work, symbol)]
    for wanted_tests in (False, True):
        for symbol, hit, source in uses:
            if (FileTrait.TEST in source.file.traits) is not wanted_tests:
                continue
            user = _symbol_at(source, hit.line)
            # A use outside every definition is an import or a table; it tells little about the task.
            if user is None or user.name == symbol.name:
                continue
            verb = "tests" if wanted_tests else "uses"
            last = min(user.range.end.line, len(source.lines))
            span = Span(source.file.path, user.range.start.line, last)
            work.budget.try_whole(span, source.lines, user.qualified_name, f"{verb} {symbol.qualified_name}")


def _uses(work: _Work, symbol: Symbol) -> Iterator[tuple[Hit, _Source]]:
    if time.monotonic() > work.deadline or work.budget.is_full:
        return
    pattern = rf"\b{re.escape(symbol.name)}\b"
    options = SearchOptions(limit=work.limits.context_uses, detail=DetailLevel.LOCATION)
    result = search_pattern(
        work.snapshot, work.root, pattern, regex=True, options=options, limits=work.limits, deadline=work.deadline
    )
    for hit in result.hits:
        source = _source(work, hit.path)
        if source is not None:
            yield hit, source


def _symbol_at(source: _Source, line: int) -> Symbol | None:
    """The innermost definition around a line."""
    around = [symbol for symbol in source.symbols if symbol.range.start.line <= line <= symbol.range.end.line]
    return min(around, key=lambda symbol: symbol.range.end.line - symbol.range.start.line, default=None)


def _source(work: _Work, path: str) -> _Source | None:
    if path not in work.sources:
        work.sources[path] = _read(work, path)
    return work.sources[path]


def _read(work: _Work, path: str) -> _Source | None:
    file = work.snapshot.file(path)
    text = None if file is None else work.reader.read(path)
    if file is None or text is None:
        return None
    lines = tuple(text.data.decode("utf-8", "replace").removesuffix("\n").split("\n"))
    current = (file.size, file.mtime_ns, file.inode) == (text.size, text.mtime_ns, text.inode)
    symbols = tuple(record.symbol for record in work.snapshot.symbols_in(file)) if current else ()
    return _Source(file, lines, symbols)
