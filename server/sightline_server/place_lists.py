"""Lists of places: each once, grouped by file, in pages.

**Invariant**: a cursor is good for exactly the list of places it was made from. A server may name thousands of places
of which a page shows two hundred, so a place is made when it is shown.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby
from operator import lt
from typing import Annotated, NamedTuple, TypeVar

from pydantic import Field

from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.types import Position, Range
from sightline_indexer.file_traits import FileTrait, traits_of
from sightline_lsp.answers import LspLocation
from sightline_lsp.texts import FileText
from sightline_search.cursor import decode_cursor, encode_cursor, question_key
from sightline_server.tools.base import Args


class PageArgs(Args):
    """How much of a list, and where to go on."""

    limit: Annotated[
        int, Field(ge=1, le=DEFAULT_LIMITS.navigation_max_locations, description="Most places in one answer.")
    ] = DEFAULT_LIMITS.navigation_locations
    cursor: Annotated[str, Field(max_length=200, description="`next_cursor` of the answer before.")] = ""


class Place(NamedTuple):
    """A place before it is shown; `root` is None outside all roots, and then `path` is absolute.

    `file`, where it is known, is the text that the range was counted in. A tuple because answers have hundreds of
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


Found = TypeVar("Found", LspLocation, Place)


class _Group(NamedTuple):
    """Places of one file, in order."""

    root: str | None
    path: str
    found: Sequence[LspLocation] | Sequence[Place]


@dataclass(frozen=True, slots=True)
class PlaceList:
    """Places in the order of an answer."""

    groups: Sequence[_Group]
    total: int

    def part(self, wanted: slice) -> list[Place]:
        """Some of them; the slice says where it begins and ends."""
        places: list[Place] = []
        at = 0
        for root, path, found in self.groups:
            if at >= wanted.stop:
                break
            begin, end = wanted.start - at, wanted.stop - at
            at += len(found)
            if begin < len(found):
                places += [
                    one if isinstance(one, Place) else Place(root, path, one.range, file=one.text)
                    for one in found[max(0, begin) : end]
                ]
        return places

    def all(self) -> list[Place]:
        """Every one."""
        return self.part(slice(0, self.total))

    def fingerprint(self) -> int:
        """Tells this list from another."""
        digest = hashlib.blake2b(digest_size=8)
        for root, path, found in self.groups:
            starts = array("q", chain.from_iterable([one.range.start for one in found]))
            digest.update(f"{root}\0{path}\0{len(found)}\0".encode("utf-8", "surrogatepass"))
            digest.update(starts.tobytes())
        return int.from_bytes(digest.digest(), "big")


def place_of(location: LspLocation) -> Place:
    """A server's location as a place."""
    return Place(location.in_root, location.relative, location.range, file=location.text)


def in_given_order(places: Iterable[Place]) -> PlaceList:
    """Places that are in order already."""
    groups = [_Group(root, path, list(found)) for (root, path), found in groupby(places, key=_file_of)]
    return PlaceList(groups, sum(len(group.found) for group in groups))


def _file_of(place: Place) -> tuple[str | None, str]:
    return place.root, place.path


def listed(by_server: Iterable[LspLocation], by_name: Iterable[Place], home: str) -> PlaceList:
    """Each place once, grouped by file: the likely before the doubtful, source before tests, external ones last."""
    others = list(by_name)
    groups = _by_certainty([*map(place_of, by_server), *others]) if others else _by_file(by_server)

    def rank(item: tuple[_Order, _Group]) -> tuple[object, ...]:
        order, (root, path, _) = item
        return (root is None, root != home, *order, root or "", path)

    groups.sort(key=rank)
    return PlaceList([group for _, group in groups], sum(len(group.found) for _, group in groups))


def page_bounds(places: PlaceList, args: PageArgs, *question: object) -> tuple[slice, str | None]:
    """Which part of `places` is asked for, and the token for the next; raises `invalid_input`."""
    if not args.cursor and places.total <= args.limit:
        return slice(0, args.limit), None
    generation = places.fingerprint()
    key = question_key(*question)
    offset = decode_cursor(args.cursor, generation, key)
    following = offset + args.limit
    token = encode_cursor(generation, key, following) if following < places.total else None
    return slice(offset, following), token


# Whether a group is doubtful, and whether it is a test.
_Order = tuple[bool, bool]


def _by_file(locations: Iterable[LspLocation]) -> list[tuple[_Order, _Group]]:
    files: dict[str, list[LspLocation]] = {}
    for location in locations:
        path = location.path
        if path in files:
            files[path].append(location)
        else:
            files[path] = [location]
    groups: list[tuple[_Order, _Group]] = []
    for found in files.values():
        root, path = found[0].in_root, found[0].relative
        is_test = root is not None and _is_test_path(path)
        groups.append(((False, is_test), _Group(root, path, _in_order(found, _first_of))))
    return groups


def _by_certainty(places: Iterable[Place]) -> list[tuple[_Order, _Group]]:
    files: dict[tuple[str | None, str], list[Place]] = {}
    for place in places:
        files.setdefault((place.root, place.path), []).append(place)
    groups: list[tuple[_Order, _Group]] = []
    for (root, path), found in files.items():
        ordered = _in_order(found, _surer_of)
        for is_doubtful in (False, True):
            part = [place for place in ordered if place.is_likely is not is_doubtful]
            if part:
                groups.append(((is_doubtful, part[0].is_test), _Group(root, path, part)))
    return groups


def _in_order(found: list[Found], choose: Callable[[Found, Found], Found]) -> list[Found]:
    """Places of one file, each start once."""
    starts = [one.range.start for one in found]
    if all(map(lt, starts, starts[1:])):
        # As servers mostly answer.
        return found
    spots: dict[Position, Found] = {}
    for at, one in zip(starts, found, strict=True):
        spots[at] = choose(spots[at], one) if at in spots else one
    return [spots[at] for at in sorted(spots)]


def _first_of(known: LspLocation, _: LspLocation) -> LspLocation:
    return known


def _surer_of(known: Place, other: Place) -> Place:
    if other.role and not known.role:
        # What a server found too is no longer doubtful.
        return other._replace(range=known.range, is_likely=True, file=known.file)
    return known


@lru_cache(maxsize=4096)
def _is_test_path(path: str) -> bool:
    return FileTrait.TEST in traits_of(path, b"")
