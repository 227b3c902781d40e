"""Words and their parts."""

from __future__ import annotations

import sys

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from sightline_core.limits import DEFAULT_LIMITS
from sightline_indexer.words import WordSplitter, fold, is_word_character, split_words, word_parts


def splitter() -> WordSplitter:
    return WordSplitter(DEFAULT_LIMITS.max_word_bytes, DEFAULT_LIMITS.worker_cached_words)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("parseHTTPRequest2", "parse http request 2"),
        ("parse_http_request", "parse http request"),
        ("HTTPServer", "http server"),
        ("getURL", "get url"),
        ("__init__", ""),
        ("MAX_FILE_BYTES", "max file bytes"),
        ("plain", ""),
        ("utf8", "utf 8"),
        ("0xDEADbeef", ""),
        ("größeWert", "größe wert"),
        ("ÜberGroß", "über groß"),
        ("名前Name", "名前 name"),
        ("x", ""),
    ],
)
def test_compound_words_have_parts(word: str, parts: str) -> None:
    assert word_parts(word) == parts.split()
    assert splitter().split(f"({word})").parts == parts


def test_whole_words_keep_their_order_and_lose_their_case() -> None:
    words = splitter().split("def Foo(bar_baz): return X-1")
    assert words.whole.split() == ["def", "foo", "bar_baz", "return", "x", "1"]


def test_words_are_the_same_with_and_without_characters_beyond_ascii() -> None:
    plain = splitter().split("call(someName, other_name)")
    mixed = splitter().split("call(someName, other_name) →")
    assert mixed.whole.split() == plain.whole.split()
    assert mixed.parts == plain.parts


def test_words_that_are_too_long_are_left_out_and_noted_each_time() -> None:
    words = splitter()
    long = "x" * (DEFAULT_LIMITS.max_word_bytes + 1)
    for _ in range(2):
        found = words.split(f"a {long} b")
        assert found.has_long
        assert found.whole.split() == ["a", "b"]
    assert not words.split("a b").has_long


def test_new_words_are_told_once() -> None:
    words = splitter()
    words.split("Alpha beta")
    assert sorted(words.take_new_words()) == [b"alpha", b"beta"]
    words.split("beta gamma")
    assert words.take_new_words() == [b"gamma"]


@given(st.text(), st.integers(0, 50), st.integers(0, 50))
def test_words_of_a_substring_are_words_of_the_text(text: str, start: int, length: int) -> None:
    piece = text[start : start + length]
    inner = split_words(piece)[1:-1]
    whole = splitter().split(text).whole.split()
    assert {fold(word) for word in inner} <= set(whole)


def test_folding_keeps_length_and_word_characters_for_every_character() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        folded = fold(character)
        assert len(folded) == 1
        assert is_word_character(folded) == is_word_character(character), hex(code)
        assert fold(folded) == folded, hex(code)


def test_characters_that_a_search_without_case_takes_for_one_fold_to_the_same() -> None:
    candidates = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).lower() != chr(code).upper()]
    everything = "\n".join(candidates)
    for character in candidates:
        options = re2.Options()
        options.case_sensitive = False
        for match in re2.finditer(re2.escape(character), everything, options=options):
            assert fold(match.group()) == fold(character), (character, match.group())


def test_a_name_counts_at_each_use() -> None:
    found = splitter().split("parseRequest filler " * 700)
    assert found.parts.split() == ["parse", "request"] * 700
    assert found.whole.count("parserequest") == 700
