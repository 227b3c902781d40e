"""Definitions of a file, packed and unpacked."""

from __future__ import annotations

import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline_indexer.outlines import Outline, Texts, pack_outline, pack_texts
from sightline_indexer.records import SymbolEntry

TEXT = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=12)
NUMBER = st.integers(1, 1_100_000)
ENTRIES = st.lists(
    st.builds(SymbolEntry, TEXT, TEXT, TEXT, st.integers(0, 127), NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER).map(
        lambda entry: entry._replace(name=entry.name or "x", end_line=entry.line + entry.end_line)
    ),
    max_size=30,
)


@given(ENTRIES)
def test_unpacking_gives_what_was_packed(entries: list[SymbolEntry]) -> None:
    outline = Outline(pack_outline(entries))
    assert outline.entries() == entries
    assert [outline.entry(at) for at in range(len(outline))] == entries
    assert [outline.container(at) for at in range(len(outline))] == [entry.container for entry in entries]
    assert list(outline.lines) == [entry.line for entry in entries]


@given(ENTRIES, NUMBER)
def test_the_innermost_definition_around_a_line_is_the_last_to_begin_and_the_first_to_end(entries, line) -> None:
    around = [(-e.line, e.end_line, -at) for at, e in enumerate(entries) if e.line <= line <= e.end_line]
    expected = -min(around)[2] if around else None
    assert Outline(pack_outline(entries)).around(line) == expected


def entry(name: str, first: int, last: int, container: str = "") -> SymbolEntry:
    return SymbolEntry(name, "", container, 5, first, 1, last, 1, first, 5)


SHOP = Outline(pack_outline([entry("Cart", 1, 9), entry("addItem", 2, 4, "Cart"), entry("total", 6, 8, "Cart")]))


def test_spans_come_outermost_first_and_only_those_that_touch_the_lines() -> None:
    assert SHOP.spans(3, 3) == [(1, 9, "Cart"), (2, 4, "Cart.addItem")]
    assert SHOP.spans(5, 5) == [(1, 9, "Cart")]
    assert SHOP.spans(10, 20) == []


@pytest.mark.parametrize(
    ("pieces", "every", "expected"),
    [
        (("item",), False, [1]),
        (("item", "tot"), False, [1, 2]),
        (("item", "add"), True, [1]),
        (("item", "cart"), True, []),
        (("nowhere",), False, []),
        ((), False, [0, 1, 2]),
    ],
)
def test_names_are_found_by_pieces_in_any_case(pieces, every: bool, expected: list[int]) -> None:
    assert SHOP.holding(pieces, every=every) == expected


def test_a_file_without_definitions_takes_nothing() -> None:
    assert pack_outline([]) == b""
    assert Outline(b"").entries() == []
    assert Outline(b"").around(1) is None
    assert Outline(b"").spans(1, 9) == []


def test_damaged_bytes_are_noticed() -> None:
    blob = pack_outline([entry("Cart", 1, 9)])
    for at in range(len(blob)):
        broken = blob[:at] + bytes([blob[at] ^ 1]) + blob[at + 1 :]
        with pytest.raises((zlib.error, msgspec.DecodeError)):
            Outline(broken)


@pytest.mark.parametrize("count", [1, 2, 128, 129, 1000])
def test_texts_come_back(count: int) -> None:
    written = [(f"def f{number}()", f"Says {number}." if number % 3 else "") for number in range(count)]
    texts = Texts(pack_texts(written))
    assert [texts[number] for number in reversed(range(count))] == written[::-1]
    assert texts[count] == ("", "")
    assert Texts(pack_texts([]))[0] == ("", "")
