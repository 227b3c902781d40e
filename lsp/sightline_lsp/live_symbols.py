"""Workspace symbols of one server: asked once per query, late answers kept for the next asker.

**Invariant**: a kept answer is handed out only while nothing that may change it has happened to its server; a query
nobody waits for any more ends within its own bound.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from sightline_core.languages import language_of
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot, relative_to
from sightline_lsp import faults, shapes
from sightline_lsp.answers import LiveSymbol
from sightline_lsp.client import Client
from sightline_lsp.convert import Converter, Roots, kind_of, uri_to_path
from sightline_lsp.faults import LspError
from sightline_lsp.messages import Malformed
from sightline_lsp.navigation import off_loop
from sightline_lsp.servers import Quirk
from sightline_lsp.shapes import WireSymbol
from sightline_lsp.slot import Slot
from sightline_lsp.texts import Texts


@dataclass(frozen=True, slots=True)
class Fetched:
    """One server's answer to one query."""

    symbols: tuple[LiveSymbol, ...] = ()
    ready: bool = True
    truncated: bool = False
    error: LspError | None = None


@dataclass(slots=True)
class _Flight:
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)
    waiting: int = 0
    result: Fetched | None = None


_Key = tuple[str, str]


class LiveQueries:
    """The queries to one server, under way or answered."""

    def __init__(
        self, slot: Slot, texts: Texts, roots: Callable[[], Roots], limits: Limits, tasks: TaskGroup
    ) -> None:
        self._slot = slot
        self._texts = texts
        self._roots = roots
        self._limits = limits
        self._tasks = tasks
        self._flights: dict[_Key, _Flight] = {}
        self._kept: OrderedDict[_Key, tuple[int, Fetched]] = OrderedDict()

    async def get(self, root: RepoRoot, query: str, budget_s: float) -> Fetched | None:
        """The answer, or None when it did not come in time; then it is kept for the same query."""
        key = (root.path, query)
        kept = self._kept.get(key)
        if kept is not None:
            if kept[0] == self._slot.generation:
                self._kept.move_to_end(key)
                return kept[1]
            del self._kept[key]
        flight = self._flights.get(key)
        if flight is None:
            if len(self._flights) >= self._limits.lsp_max_pending_requests:
                return None
            flight = self._flights[key] = _Flight()
            self._tasks.start_soon(self._fly, key, flight, root)
        return await self._wait(flight, budget_s)

    async def _wait(self, flight: _Flight, budget_s: float) -> Fetched | None:
        flight.waiting += 1
        try:
            with anyio.move_on_after(budget_s):
                await flight.done.wait()
        except anyio.get_cancelled_exc_class():
            # The asker went away, which is not the same as having waited long enough.
            if flight.waiting == 1:
                flight.scope.cancel()
            raise
        finally:
            flight.waiting -= 1
        return flight.result

    async def _fly(self, key: _Key, flight: _Flight, root: RepoRoot) -> None:
        try:
            with flight.scope, anyio.move_on_after(self._limits.lsp_late_answer_s):
                flight.result = await self._fetch(root, key[1])
        finally:
            self._flights.pop(key, None)
            flight.done.set()

    async def _fetch(self, root: RepoRoot, query: str) -> Fetched:
        limits = self._limits
        try:
            client = await self._slot.client(limits.lsp_late_answer_s)
            if Quirk.OPEN_FIRST_FILE in client.row.quirks:
                await open_first_file(client, root, limits)
            loaded = await client.readiness.wait(limits.lsp_late_answer_s)
            generation = self._slot.generation
            found = await client.ask(
                "workspace/symbol", {"query": query}, shapes.SYMBOLS, timeout_s=limits.lsp_late_answer_s
            )
            ready = loaded and client.readiness.is_ready
            converter = Converter(self._roots(), self._texts, client.offers.unit, limits)
            symbols = await off_loop(
                limits, len(found or ()), lambda: _translate(found or [], query, root, converter)
            )
        except LspError as error:
            return Fetched(error=error)
        except Malformed as error:
            return Fetched(error=faults.garbage(self._slot.row.languages[0], error.reason))
        fetched = Fetched(symbols, ready, converter.truncated)
        if ready:
            self._keep((root.path, query), generation, fetched)
        return fetched

    def _keep(self, key: _Key, generation: int, fetched: Fetched) -> None:
        self._kept[key] = (generation, fetched)
        while len(self._kept) > self._limits.lsp_max_cached_queries:
            self._kept.popitem(last=False)


def _translate(found: list[WireSymbol], query: str, root: RepoRoot, converter: Converter) -> tuple[LiveSymbol, ...]:
    """Symbols inside `root`, those whose name fits best first, capped."""
    inside = [wire for wire in found if _lies_in(wire.location.uri, root.path)]
    wanted = query.rsplit(".", 1)[-1].rsplit(":", 1)[-1].casefold()
    inside.sort(key=lambda wire: _distance(wire.name.casefold(), wanted))
    symbols: dict[LiveSymbol, None] = {}
    for wire in converter.capped(inside, converter.limits.lsp_max_symbols):
        span = wire.location.range
        location = converter.location(wire.location.uri, span) if span is not None else None
        if location is None or location.in_root != root.path:
            converter.dropped += 1
            continue
        symbol = LiveSymbol(
            name=converter.line(wire.name),
            kind=kind_of(wire.kind),
            container=converter.line(wire.container_name),
            location=location,
            language=language_of(location.path),
        )
        symbols[symbol] = None
    return tuple(symbols)


def _lies_in(uri: str, root: str) -> bool:
    path = uri_to_path(uri)
    return path is not None and relative_to(root, path) is not None


def _distance(name: str, wanted: str) -> int:
    # Some servers write `name(…)` or `package.name`.
    bare = name.partition("(")[0].rsplit(".", 1)[-1]
    return 0 if wanted in (bare, name) else 1 if bare.startswith(wanted) else 2


async def open_first_file(client: Client, root: RepoRoot, limits: Limits) -> None:
    """Open some file of the server's languages below `root`, unless one is open, and wait until it was looked at."""
    if any(_lies_in(uri, root.path) for uri in client.documents.open_uris):
        return
    found = _first_file(root.path, client.row.languages, limits.lsp_first_file_scan)
    if found is None:
        return
    document = await client.documents.sync(root, root.known(found), client.language)
    if client.offers.has("textDocument/documentSymbol"):
        # Servers work a file's queue in order: this answer means that the file has been parsed. What it says, or
        # that it is refused, does not matter.
        with suppress(LspError):
            params = {"textDocument": {"uri": document.uri}}
            await client.ask(
                "textDocument/documentSymbol", params, shapes.NOTHING, timeout_s=limits.lsp_late_answer_s
            )


def _first_file(root: str, languages: tuple[str, ...], bound: int) -> str | None:
    """Breadth first, so that the file is near the top; hidden and dependency directories are left out."""
    level, seen = [root], 0
    while level:
        below: list[str] = []
        for directory in level:
            try:
                entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                seen += 1
                if seen > bound:
                    return None
                if entry.name.startswith(".") or entry.name == "node_modules":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    below.append(entry.path)
                elif entry.is_file(follow_symlinks=False) and language_of(entry.name) in languages:
                    return relative_to(root, entry.path)
        level = below
    return None
