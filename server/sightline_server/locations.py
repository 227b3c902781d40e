"""Places as answers show them: with the text of the line, the enclosing symbol, grouped by file, in pages.

**Invariant**: text and names come only from files that open through a registered root's door; the rest is `external`
with its absolute path and nothing else. A cursor is good for exactly the list of places it was made from.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

import anyio.to_thread
from pydantic import Field

from sightline_core.errors import SightlineError
from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.paths import FileContent, RepoRoot
from sightline_core.text import clean_line, decode
from sightline_core.types import Range
from sightline_indexer.file_traits import FileTrait, traits_of
from sightline_indexer.records import FileRecord
from sightline_indexer.store import Snapshot
from sightline_lsp.answers import LspLocation
from sightline_search.cursor import decode_cursor, encode_cursor, question_key
from sightline_server.envelope import WireModel
from sightline_server.targets import may_hold_secrets
from sightline_server.tools.base import Args, Call
from sightline_server.workspaces import Workspace, Workspaces


class PageArgs(Args):
    """How much of a list, and where to go on."""

    limit: Annotated[
        int, Field(ge=1, le=DEFAULT_LIMITS.navigation_max_locations, description="Most places in one answer.")
    ] = DEFAULT_LIMITS.navigation_locations
    cursor: Annotated[str, Field(max_length=200, description="`next_cursor` of the answer before.")] = ""


class Location(WireModel):
    """A place in a file."""

    path: Annotated[str, Field(description="Relative to the workspace; absolute when external.")]
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    text: Annotated[str | None, Field(description="The line.")] = None
    symbol: Annotated[str | None, Field(description="The enclosing definition.")] = None
    root: Annotated[str | None, Field(description="The registered root, when it is another one.")] = None
    external: Annotated[bool | None, Field(description="True outside all roots.")] = None
    is_test: Annotated[bool | None, Field(description="True in a test file.")] = None
    role: Annotated[str | None, Field(description="From syntax: definition, call, import, inheritance or other.")] = (
        None
    )
    doubtful: Annotated[
        bool | None, Field(description="True where only the name fits: the file names nothing that leads there.")
    ] = None


@dataclass(frozen=True, slots=True)
class Place:
    """A place before it is shown; `root` is None outside all roots, and then `path` is absolute."""

    root: str | None
    path: str
    range: Range
    role: str = ""
    is_likely: bool = True

    @property
    def is_test(self) -> bool:
        """Whether the file is a test, by its path."""
        return self.root is not None and _is_test_path(self.path)


@dataclass(frozen=True, slots=True)
class Page:
    """A part of the places, and the token for what follows."""

    locations: tuple[Location, ...]
    total: int
    next_cursor: str | None


def place_of(location: LspLocation) -> Place:
    """A server's location as a place."""
    return Place(location.in_root, location.relative, location.range)


def grouped(places: Iterable[Place], home: str) -> list[Place]:
    """Each place once, grouped by file: the likely before the doubtful, source before tests, external ones last."""
    unique: dict[tuple[str | None, str, int, int], Place] = {}
    for place in places:
        key = (place.root, place.path, place.range.start.line, place.range.start.column)
        known = unique.get(key)
        if known is None or (place.role and not known.role):
            # What a server found too is no longer doubtful.
            unique[key] = replace(place, range=known.range, is_likely=True) if known is not None else place
    tests: dict[str, bool] = {}
    for place in unique.values():
        if place.path not in tests:
            tests[place.path] = place.is_test

    def order(place: Place) -> tuple[bool, bool, bool, bool, str, str, int, int]:
        start = place.range.start
        elsewhere, external = place.root != home, place.root is None
        kind = external, elsewhere, not place.is_likely, tests[place.path]
        return *kind, place.root or "", place.path, start.line, start.column

    return sorted(unique.values(), key=order)


async def page_of(call: Call, places: Sequence[Place], args: PageArgs, *question: object) -> Page:
    """The page of `places` that the arguments ask for; raises `invalid_input` for a cursor of another list."""
    part, next_cursor = page_bounds(places, args, *question)
    return Page(await show(call, places[part]), len(places), next_cursor)


def page_bounds(places: Sequence[Place], args: PageArgs, *question: object) -> tuple[slice, str | None]:
    """Which part of `places` is asked for, and the token for the next; raises `invalid_input`."""
    generation = _fingerprint(places)
    key = question_key(*question)
    offset = decode_cursor(args.cursor, generation, key)
    following = offset + args.limit
    token = encode_cursor(generation, key, following) if following < len(places) else None
    return slice(offset, following), token


async def show(call: Call, places: Sequence[Place]) -> tuple[Location, ...]:
    """Places with text and symbols, in one thread, each root from one snapshot."""
    home = call.require_workspace()
    return await anyio.to_thread.run_sync(_show_all, tuple(places), home, call.services.workspaces, call.limits)


def _fingerprint(places: Sequence[Place]) -> int:
    digest = hashlib.blake2b(digest_size=8)
    for place in places:
        start = place.range.start
        text = f"{place.root}\0{place.path}\0{start.line}\0{start.column}\0"
        digest.update(text.encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest(), "big")


def _show_all(
    places: Sequence[Place], home: Workspace, workspaces: Workspaces, limits: Limits
) -> tuple[Location, ...]:
    files: dict[tuple[str | None, str], list[int]] = {}
    for number, place in enumerate(places):
        files.setdefault((place.root, place.path), []).append(number)
    shown: list[Location | None] = [None] * len(places)
    with ExitStack() as stack:
        readers: dict[str, _RootReader] = {}
        for (root, _), numbers in files.items():
            inside = [places[number] for number in numbers]
            if root is None:
                locations = [_location(place, home.path) for place in inside]
            else:
                if root not in readers:
                    readers[root] = _reader_of(root, home, workspaces, stack, limits)
                locations = readers[root].show(inside, home.path)
            for number, location in zip(numbers, locations, strict=True):
                shown[number] = location
    return tuple(location for location in shown if location is not None)


def _reader_of(root: str, home: Workspace, workspaces: Workspaces, stack: ExitStack, limits: Limits) -> _RootReader:
    workspace = home if home.path == root else workspaces.registered(root)
    snapshot: Snapshot | None = None
    if workspace is not None and workspace.index is not None:
        try:
            snapshot = stack.enter_context(workspace.index.snapshot())
        except SightlineError:
            # Not indexed yet, or not readable: places are shown without their enclosing symbol.
            snapshot = None
    return _RootReader(workspace.root if workspace is not None else None, snapshot, limits)


@dataclass(frozen=True, slots=True)
class _RootReader:
    """Lines and symbols of one root's files."""

    root: RepoRoot | None
    snapshot: Snapshot | None
    limits: Limits

    def show(self, places: Sequence[Place], home: str) -> list[Location]:
        """The places of one file: it is read once, and its symbols are asked for once."""
        path, is_test = places[0].path, places[0].is_test
        numbers = [place.range.start.line for place in places]
        content = self._read(path)
        if content is None:
            return [_location(place, home, is_test=is_test) for place in places]
        lines = decode(content.data).split("\n", max(numbers))
        spans = self._spans(path, content, min(numbers), max(numbers))
        starts = [start for start, _, _ in spans]
        shown: list[Location] = []
        for place in places:
            line, column = place.range.start.line, place.range.start.column
            text = cut_line(lines[line - 1], column, self.limits) if line <= len(lines) else ""
            shown.append(_location(place, home, text, _innermost(spans, starts, line), is_test=is_test))
        return shown

    def _read(self, path: str) -> FileContent | None:
        if self.root is None or may_hold_secrets(path):
            return None
        try:
            return self.root.read_file(self.root.known(path), self.limits.lsp_max_document_bytes)
        except SightlineError:
            # Gone since the server answered: the place is shown without its line.
            return None

    def _spans(self, path: str, content: FileContent, first: int, last: int) -> list[tuple[int, int, str]]:
        record = self.snapshot.file(path) if self.snapshot is not None else None
        # The index's lines are only right for the very file that was indexed.
        if record is None or self.snapshot is None or not _is_same(record, content):
            return []
        return self.snapshot.spans_between(record.file_id, first, last)


def _innermost(spans: Sequence[tuple[int, int, str]], starts: Sequence[int], line: int) -> str:
    """The name of the last span that begins at or before a line and reaches it."""
    for number in range(bisect_right(starts, line) - 1, -1, -1):
        _, end, name = spans[number]
        if end >= line:
            return name
    return ""


@lru_cache(maxsize=4096)
def _is_test_path(path: str) -> bool:
    return FileTrait.TEST in traits_of(path, b"")


def _is_same(record: FileRecord, content: FileContent) -> bool:
    return (record.size, record.mtime_ns, record.inode) == (content.size, content.mtime_ns, content.inode)


def _location(place: Place, home: str, text: str = "", symbol: str = "", *, is_test: bool = False) -> Location:
    start, end = place.range.start, place.range.end
    return Location(
        path=place.path,
        line=start.line,
        column=start.column,
        end_line=end.line,
        end_column=end.column,
        text=text or None,
        symbol=symbol or None,
        is_test=is_test or None,
        root=place.root if place.root not in (None, home) else None,
        external=True if place.root is None else None,
        role=place.role or None,
        doubtful=True if not place.is_likely else None,
    )


def cut_line(line: str, column: int, limits: Limits) -> str:
    """A line made harmless; a long one is cut around the column."""
    bound = limits.max_location_text_chars
    if len(line) <= bound:
        return clean_line(line)
    start = max(0, min(column - bound // 4, len(line) - bound))
    before = "…" if start else ""
    after = "…" if start + bound < len(line) else ""
    return before + clean_line(line[start : start + bound]) + after
