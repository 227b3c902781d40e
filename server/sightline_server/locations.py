"""Places as answers show them: with the text of the line, the enclosing symbol, grouped by file, in pages.

**Invariant**: text and names come only from files that open through a registered root's door; the rest is `external`
with its absolute path and nothing else. A cursor is good for exactly the list of places it was made from.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter, lt
from typing import Annotated, Any, NamedTuple

import anyio.to_thread
from pydantic import Field, SkipValidation, WithJsonSchema

from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.text import clean_line
from sightline_core.types import Position, Range
from sightline_indexer.file_traits import FileTrait, traits_of
from sightline_lsp.answers import LspLocation
from sightline_lsp.texts import FileText, Texts
from sightline_search.cursor import decode_cursor, encode_cursor, question_key
from sightline_server.envelope import WireModel
from sightline_server.surroundings import RootReader, Surroundings
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


# The fields of a `Location` that are known, as they leave; of its subclasses, with more.
Row = dict[str, Any]
Rows = Annotated[list[Row], SkipValidation, WithJsonSchema({"type": "array", "items": Location.model_json_schema()})]


class Place(NamedTuple):
    """A place before it is shown; `root` is None outside all roots, and then `path` is absolute.

    `file`, where it is known, is the text that the range was counted in. A tuple because answers have thousands of
    them and a frozen dataclass takes three times as long to make.
    """

    root: str | None
    path: str
    range: Range
    role: str = ""
    is_likely: bool = True
    file: FileText | None = None

    @property
    def is_test(self) -> bool:
        """Whether the file is a test, by its path."""
        return self.root is not None and _is_test_path(self.path)


@dataclass(frozen=True, slots=True)
class Page:
    """A part of the places, and the token for what follows."""

    rows: list[Row]
    total: int
    next_cursor: str | None


def place_of(location: LspLocation) -> Place:
    """A server's location as a place."""
    return Place(location.in_root, location.relative, location.range, file=location.text)


def places_of(locations: Iterable[LspLocation]) -> list[Place]:
    """A server's locations as places."""
    names: dict[str, str] = {}
    places: list[Place] = []
    make = Place._make
    for location in locations:
        path = location.path
        name = names.get(path)
        if name is None:
            name = names[path] = location.relative
        places.append(make((location.in_root, name, location.range, "", True, location.text)))
    return places


def grouped(places: Iterable[Place], home: str) -> list[Place]:
    """Each place once, grouped by file: the likely before the doubtful, source before tests, external ones last."""
    files: defaultdict[tuple[Any, ...], list[Place]] = defaultdict(list)
    for place in places:
        # Root and path.
        files[place[:2]].append(place)
    groups: list[tuple[tuple[bool, bool, bool, bool, str, str], list[Place]]] = []
    for (root, path), found in files.items():
        ordered = _in_order(found)
        likely = [place for place in ordered if place.is_likely]
        doubted = [place for place in ordered if not place.is_likely] if len(likely) < len(ordered) else []
        for doubtful, part in ((False, likely), (True, doubted)):
            if part:
                groups.append(((root is None, root != home, doubtful, part[0].is_test, root or "", path), part))
    groups.sort(key=itemgetter(0))
    return [place for _, part in groups for place in part]


def _in_order(places: list[Place]) -> list[Place]:
    """Places of one file, each start once."""
    starts = [place.range.start for place in places]
    if all(map(lt, starts, starts[1:])):
        # As servers mostly answer.
        return places
    spots: dict[Position, Place] = {}
    for at, place in zip(starts, places, strict=True):
        known = spots.setdefault(at, place)
        if known is not place and place.role and not known.role:
            # What a server found too is no longer doubtful.
            spots[at] = place._replace(range=known.range, is_likely=True, file=known.file)
    return [spots[at] for at in sorted(spots)]


async def page_of(call: Call, places: Sequence[Place], args: PageArgs, *question: object) -> Page:
    """The page of `places` that the arguments ask for; raises `invalid_input` for a cursor of another list."""
    part, next_cursor = page_bounds(places, args, *question)
    return Page(await show(call, places[part]), len(places), next_cursor)


def page_bounds(places: Sequence[Place], args: PageArgs, *question: object) -> tuple[slice, str | None]:
    """Which part of `places` is asked for, and the token for the next; raises `invalid_input`."""
    if not args.cursor and len(places) <= args.limit:
        return slice(0, args.limit), None
    generation = _fingerprint(places)
    key = question_key(*question)
    offset = decode_cursor(args.cursor, generation, key)
    following = offset + args.limit
    token = encode_cursor(generation, key, following) if following < len(places) else None
    return slice(offset, following), token


async def show(call: Call, places: Sequence[Place]) -> list[Row]:
    """Places as rows with text and symbols, in one thread, each root from one snapshot."""
    home, services = call.require_workspace(), call.services
    texts = services.language_servers.pool.texts
    return await anyio.to_thread.run_sync(_show_all, tuple(places), home, services.workspaces, texts, call.limits)


def _fingerprint(places: Sequence[Place]) -> int:
    digest = hashlib.blake2b(digest_size=8)
    for (root, path), group in groupby(places, key=itemgetter(0, 1)):
        starts = array("q", chain.from_iterable([place.range.start for place in group]))
        digest.update(f"{root}\0{path}\0{len(starts)}\0".encode("utf-8", "surrogatepass"))
        digest.update(starts.tobytes())
    return int.from_bytes(digest.digest(), "big")


def _show_all(
    places: Sequence[Place], home: Workspace, workspaces: Workspaces, texts: Texts, limits: Limits
) -> list[Row]:
    files: dict[tuple[str | None, str], list[int]] = {}
    for number, place in enumerate(places):
        files.setdefault((place.root, place.path), []).append(number)
    rows: list[Row] = [{}] * len(places)
    with ExitStack() as stack:
        readers: dict[str, RootReader] = {}
        for (root, path), numbers in files.items():
            file: Surroundings | None = None
            if root is not None and not may_hold_secrets(path):
                if root not in readers:
                    workspace = home if home.path == root else workspaces.registered(root)
                    readers[root] = RootReader(workspace, texts, stack)
                file = readers[root].read(path, places[numbers[0]].file)
            common = _common(places[numbers[0]], home.path)
            for number in numbers:
                rows[number] = _row(places[number], common, file, limits)
    return rows


@lru_cache(maxsize=4096)
def _is_test_path(path: str) -> bool:
    return FileTrait.TEST in traits_of(path, b"")


def _common(place: Place, home: str) -> Row:
    """What all locations of a file say alike."""
    common: Row = {"path": place.path}
    if place.root is None:
        common["external"] = True
    elif place.root != home:
        common["root"] = place.root
    if place.is_test:
        common["is_test"] = True
    return common


def _row(place: Place, common: Row, file: Surroundings | None, limits: Limits) -> Row:
    (line, column), (end_line, end_column) = place.range
    row = {**common, "line": line, "column": column, "end_line": end_line, "end_column": end_column}
    if file is not None:
        if text := cut_line(file.line(line), column, limits):
            row["text"] = text
        if symbol := file.symbol_at(line):
            row["symbol"] = symbol
    if place.role:
        row["role"] = place.role
    if not place.is_likely:
        row["doubtful"] = True
    return row


def cut_line(line: str, column: int, limits: Limits) -> str:
    """A line made harmless; a long one is cut around the column."""
    bound = limits.max_location_text_chars
    if len(line) <= bound:
        return clean_line(line)
    start = max(0, min(column - bound // 4, len(line) - bound))
    before = "…" if start else ""
    after = "…" if start + bound < len(line) else ""
    return before + clean_line(line[start : start + bound]) + after
