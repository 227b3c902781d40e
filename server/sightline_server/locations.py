"""Places as answers show them: with the text of the line and the enclosing symbol.

**Invariant**: text and names come only from files that open through a registered root's door; the rest is `external`
with its absolute path and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated, Any

import anyio.to_thread
from pydantic import Field, SkipValidation, WithJsonSchema

from sightline_core.limits import Limits
from sightline_core.text import clean_line
from sightline_lsp.texts import Texts
from sightline_server.envelope import WireModel
from sightline_server.place_lists import PageArgs, Place, PlaceList, page_bounds
from sightline_server.surroundings import RootReader, Surroundings
from sightline_server.targets import may_hold_secrets
from sightline_server.tools.base import Call
from sightline_server.workspaces import Workspace, Workspaces


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


@dataclass(frozen=True, slots=True)
class Page:
    """A part of the places, and the token for what follows."""

    rows: list[Row]
    total: int
    next_cursor: str | None


async def page_of(call: Call, places: PlaceList, args: PageArgs, *question: object) -> Page:
    """The page of `places` that the arguments ask for; raises `invalid_input` for a cursor of another list."""
    part, next_cursor = page_bounds(places, args, *question)
    return Page(await show(call, places.part(part)), places.total, next_cursor)


async def show(call: Call, places: Sequence[Place]) -> list[Row]:
    """Places as rows with text and symbols, in one thread, each root from one snapshot."""
    home, services = call.require_workspace(), call.services
    texts = services.language_servers.pool.texts
    return await anyio.to_thread.run_sync(_show_all, tuple(places), home, services.workspaces, texts, call.limits)


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
