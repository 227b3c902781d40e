"""Lists of places: their order, each once, and pages that are made when they are shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sightline_core.types import Position, Range
from sightline_lsp.answers import LspLocation
from sightline_server.place_lists import PageArgs, Place, PlaceList, in_given_order, listed, page_bounds

HOME, OTHER = "/home", "/other"
_FILES = [(HOME, "b.py"), (HOME, "a.py"), (HOME, "tests/test_a.py"), (OTHER, "a.py"), (None, "/usr/lib/c.py")]


def span(line: int, width: int = 1) -> Range:
    return Range(Position(line, 1), Position(line, 1 + width))


def location(root: str | None, path: str, line: int, width: int = 1) -> LspLocation:
    return LspLocation(f"{root}/{path}" if root else path, span(line, width), root)


def lines(places: list[Place]) -> list[tuple[str | None, str, int]]:
    return [(place.root, place.path, place.range.start.line) for place in places]


LOCATIONS = st.lists(st.builds(lambda file, line: location(*file, line), st.sampled_from(_FILES), st.integers(1, 5)))
NAMED = st.lists(
    st.builds(
        lambda file, line, role, likely: Place(*file, span(line), role, likely),
        st.sampled_from(_FILES),
        st.integers(1, 5),
        st.sampled_from(["", "call", "import"]),
        st.booleans(),
    )
)


@given(by_server=LOCATIONS, by_name=NAMED)
def test_each_place_is_there_once_in_the_order_of_its_file(
    by_server: list[LspLocation], by_name: list[Place]
) -> None:
    places = listed(by_server, by_name, HOME)
    found = places.all()
    wanted = {(one.in_root, one.relative, one.range.start.line) for one in by_server}
    wanted |= {(one.root, one.path, one.range.start.line) for one in by_name}
    assert sorted(lines(found), key=str) == sorted(wanted, key=str)
    assert places.total == len(found)
    keys = [
        (
            one.root is None,
            one.root != HOME,
            not one.is_likely,
            one.is_test,
            one.root or "",
            one.path,
            one.range.start,
        )
        for one in found
    ]
    assert keys == sorted(keys)


def test_of_two_places_with_one_start_the_servers_form_counts() -> None:
    assert [
        place.range for place in listed([location(HOME, "a.py", 1, 4), location(HOME, "a.py", 1, 9)], [], HOME).all()
    ] == [span(1, 4)]
    (place,) = listed([location(HOME, "a.py", 1, 4)], [Place(HOME, "a.py", span(1, 9), "call", False)], HOME).all()
    assert (place.range, place.role, place.is_likely) == (span(1, 4), "call", True)


@given(by_server=LOCATIONS, by_name=NAMED, size=st.integers(1, 4))
def test_parts_make_up_the_whole(by_server: list[LspLocation], by_name: list[Place], size: int) -> None:
    places = listed(by_server, by_name, HOME)
    parts = [places.part(slice(at, at + size)) for at in range(0, places.total, size)]
    assert [place for part in parts for place in part] == places.all()
    assert places.part(slice(places.total, places.total + size)) == []
    assert in_given_order(places.all()).all() == places.all()


def test_pages_follow_each_other_to_the_end() -> None:
    places = listed([location(HOME, "a.py", line) for line in range(1, 8)], [], HOME)
    seen: list[Place] = []
    args = PageArgs(limit=3)
    for _ in range(3):
        part, token = page_bounds(places, args, "question")
        seen += places.part(part)
        args = PageArgs(limit=3, cursor=token or "")
    assert token is None
    assert seen == places.all()


def test_a_list_is_told_from_another_by_its_places() -> None:
    def of(*found: LspLocation) -> PlaceList:
        return listed(found, [], HOME)

    first, second = location(HOME, "a.py", 1), location(HOME, "b.py", 2)
    same = of(first, second).fingerprint()
    assert of(second, first).fingerprint() == same
    others = [of(first), of(first, location(HOME, "b.py", 3)), of(first, location(OTHER, "b.py", 2)), of(second)]
    assert len({same, *(other.fingerprint() for other in others)}) == 1 + len(others)
