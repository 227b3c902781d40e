"""Decoding, lines, and columns against slow and obvious references."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline_core.text import (
    ColumnUnit,
    LineIndex,
    clean,
    clean_line,
    column_to_units,
    decode,
    display_width,
    is_binary,
    units_to_column,
)

# Widths of 1, 2, 3 and 4 bytes, combining marks, and whatever else hypothesis finds.
LINE = st.text(st.one_of(st.sampled_from("aé日😀\u0301\U0010ffff"), st.characters(exclude_characters="\r\n")))
TEXT = st.text(st.one_of(st.sampled_from("a\n\r😀é"), st.characters()))
UNITS = list(ColumnUnit)


def width(char: str, unit: ColumnUnit) -> int:
    """How many units one code point takes, spelled out."""
    if unit is ColumnUnit.UTF32:
        return 1
    if unit is ColumnUnit.UTF16:
        return 2 if ord(char) > 0xFFFF else 1
    return 1 if ord(char) < 0x80 else 2 if ord(char) < 0x800 else 3 if ord(char) < 0x10000 else 4


@given(LINE, st.integers(-3, 40), st.sampled_from(UNITS))
def test_a_column_becomes_the_units_before_it(line: str, column: int, unit: ColumnUnit) -> None:
    expected = sum(width(char, unit) for char in line[: max(0, column - 1)])
    assert column_to_units(line, column, unit) == expected


@example("\ud800", 1, ColumnUnit.UTF16)
@example("\ud83d\ude00x", 2, ColumnUnit.UTF16)
@example("a\udfffx", 4, ColumnUnit.UTF8)
@given(LINE, st.integers(-3, 120), st.sampled_from(UNITS))
def test_units_become_the_column_that_holds_them(line: str, offset: int, unit: ColumnUnit) -> None:
    column, at = 1, 0
    for char in line:
        if at + width(char, unit) > offset:
            break
        at += width(char, unit)
        column += 1
    assert units_to_column(line, offset, unit) == column


@given(LINE, st.sampled_from(UNITS), st.data())
def test_a_column_survives_the_way_there_and_back(line: str, unit: ColumnUnit, data: st.DataObject) -> None:
    column = data.draw(st.integers(1, len(line) + 1))
    assert units_to_column(line, column_to_units(line, column, unit), unit) == column


def slow_lines(text: str, *, lone_cr: bool) -> list[str]:
    """Lines with their breaks, one character at a time."""
    lines = [""]
    for at, char in enumerate(text):
        lines[-1] += char
        if char == "\n" or (lone_cr and char == "\r" and text[at + 1 : at + 2] != "\n"):
            lines.append("")
    return lines


@given(TEXT, st.booleans())
def test_lines_are_where_a_slow_reader_finds_them(text: str, lone_cr: bool) -> None:
    index = LineIndex(text, lone_cr=lone_cr)
    expected = slow_lines(text, lone_cr=lone_cr)
    at = 0
    for number, line in enumerate(expected, 1):
        assert index.line(number) == line.rstrip("\r\n")
        assert index.line_start(number) == at
        for column in range(1, len(line) + 1):
            assert (index.line_of(at + column - 1), index.column_of(at + column - 1)) == (number, column)
        at += len(line)
    ends_with_break = len(expected) > 1 and expected[-1] == ""
    assert index.line_count == len(expected) - ends_with_break


def test_outside_the_text_there_are_only_empty_lines() -> None:
    index = LineIndex("one\ntwo\n")
    assert [index.line(number) for number in (-1, 0, 1, 2, 3, 4)] == ["", "", "one", "two", "", ""]
    assert index.line_count == 2
    assert index.line_start(0) == 0
    assert index.line_start(99) == 8
    assert index.line_of(-5) == 1
    assert index.line_of(99) == 3


def test_an_empty_text_is_one_empty_line() -> None:
    index = LineIndex("")
    assert (index.line_count, index.line(1), index.line_of(0), index.column_of(0)) == (1, "", 1, 1)


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_line_feeds_break_lines(separator: str) -> None:
    assert LineIndex(f"a{separator}b").line_count == 1


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", ""),
        ("naïve 😀".encode(), "naïve 😀"),
        (codecs.BOM_UTF8 + "é".encode(), "é"),
        (codecs.BOM_UTF16_LE + "é😀".encode("utf-16-le"), "é😀"),
        (codecs.BOM_UTF16_BE + "é😀".encode("utf-16-be"), "é😀"),
        (codecs.BOM_UTF32_LE + "é😀".encode("utf-32-le"), "é😀"),
        (codecs.BOM_UTF32_BE + "é😀".encode("utf-32-be"), "é😀"),
        (b"caf\xe9", "café"),
        (b"\xed\xa0\x80", "\xed\xa0\x80"),
        (codecs.BOM_UTF16_LE + b"\x00\xd8a\x00", "\ufffda"),
        (codecs.BOM_UTF8 + b"a\xff", "a\ufffd"),
    ],
)
def test_bytes_become_text_by_mark_then_utf8_then_latin1(data: bytes, expected: str) -> None:
    assert decode(data) == expected


@given(st.binary(), st.sampled_from([b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF32_BE]))
def test_decoding_never_fails_and_never_makes_surrogates(data: bytes, mark: bytes) -> None:
    decode(mark + data).encode("utf-8")


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"", False),
        (b"text\n", False),
        (b"\xff\xfe\x00\x01", False),
        ("é".encode("utf-16"), False),
        ("é".encode("utf-32"), False),
        (b"\x7fELF\x00", True),
        (b"caf\xe9", False),
    ],
)
def test_a_nul_outside_wide_text_means_binary(head: bytes, expected: bool) -> None:
    assert is_binary(head) is expected


CONTROLS = [chr(code) for code in (*range(9), 11, 12, *range(14, 32), *range(127, 160))]
BIDI = [chr(code) for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF)]
SEQUENCES = [
    "\x1b[2J\x1b[H",
    "\x1b]0;owned\x07",
    "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\x9b31mred",
    "access\u202e \u2066// admin\u2069 \u2066",
    "/*\u202e } \u2066if (isAdmin)\u2069 \u2066 begin*/",
    "a\x00b",
    "\x08\x08\x08rm -rf",
    "lone \ud800 surrogate",
    "\udfff\ud800",
]


@pytest.mark.parametrize("payload", [*CONTROLS, *BIDI, *SEQUENCES], ids=ascii)
def test_control_and_bidirectional_characters_never_reach_a_reader(payload: str) -> None:
    for text in (payload, f"before {payload} after", payload * 3):
        cleaned = clean(text)
        assert not any(bad in cleaned for bad in (*CONTROLS, *BIDI))
        cleaned.encode("utf-8")
        assert clean(cleaned) == cleaned
        assert "\n" not in clean_line(text)


def test_at_least_fifty_payloads_are_tried() -> None:
    assert len([*CONTROLS, *BIDI, *SEQUENCES]) >= 50


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf"])))
def test_harmless_text_is_left_alone(text: str) -> None:
    assert clean(text) == text


def test_tabs_and_line_breaks_stay_and_bidi_controls_are_spelled_out() -> None:
    assert clean("a\tb\r\nc") == "a\tb\r\nc"
    assert clean("a\u202eb") == "a\\u202eb"
    assert clean_line(" a\tb\r\nc\rd\n") == "a b c d"


@pytest.mark.parametrize(("text", "cells"), [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1)])
def test_width_counts_terminal_cells(text: str, cells: int) -> None:
    assert display_width(text) == cells
