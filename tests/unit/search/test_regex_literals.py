"""What a pattern requires holds for everything it matches."""

from __future__ import annotations

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline_core.limits import DEFAULT_LIMITS
from sightline_indexer.words import fold, is_word_character
from sightline_search.regex_literals import normalise, required_literals
from sightline_search.regex_syntax import may_span_lines, parse_pattern

ALPHABET = "abAB01_ .-é\nßKkſsıİ"


def check(pattern: str, *groups: set[str]) -> None:
    assert [set(group) for group in required_literals(pattern, DEFAULT_LIMITS)] == list(groups)


@pytest.mark.parametrize(
    ("pattern", "groups"),
    [
        ("foo", [{"foo"}]),
        ("Foo.Bar", [{"foo"}, {"bar"}]),
        (r"Foo\.Bar", [{"foo bar"}]),
        (r"return\s+err", [{"return err"}]),
        (r"func\s+\(\w+ \*Foo\)\s+Bar\(", [{" foo bar "}, {"func "}]),
        ("(foo|bar)baz", [{"foobaz", "barbaz"}]),
        ("(?i)[Ee]rror: .*file", [{"error "}, {"file"}]),
        ("^import (os|sys)$", [{" import os ", " import sys "}]),
        ("(abc)*def(gh|ij)+", [{"defgh", "defij"}]),
        ("(abc)?def", [{"abcdef", "def"}]),
        ("x{3}y", [{"xxxy"}]),
        (r"\Qa+b\E+c", [{"a b"}, {"bc"}]),
        (r"\x41\x{42}c", [{"abc"}]),
        ("foo|.*", []),
        ("[a-z]+", []),
        (r"\d{4}-\d\d", []),
        ("", []),
        ("(?:foo)*", []),
        ("foo{0}bar", [{"fobar"}]),
        (r"[^f]oo\W", [{"oo"}]),
    ],
)
def test_required_texts_are_found(pattern: str, groups: list[set[str]]) -> None:
    check(pattern, *groups)


@pytest.mark.parametrize("pattern", ["(" * 5000 + "a" + ")" * 5000, "[a", "(?x)a", "a)", "\\", "(?P<n", r"\x{zz}"])
def test_what_is_not_understood_requires_nothing(pattern: str) -> None:
    assert required_literals(pattern, DEFAULT_LIMITS) == ()


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a.b", False),
        (r"a\sb", False),
        (r"a\nb", True),
        ("a\nb", True),
        ("(?s)a.b", True),
        ("(?-s)a.b", False),
        ("(?s:a.)b", True),
        (r"a\\nb", False),
        (r"a\x0ab", True),
        (r"[^\n]*", True),
    ],
)
def test_only_explicit_patterns_span_lines(pattern: str, expected: bool) -> None:
    assert may_span_lines(pattern) is expected


literals = st.sampled_from([*"abABkKsS01_é ", r"\.", r"\-", "ß", r"\x41", r"\x{e9}", r"\Qa.\E", r"\n", r"\t"])
classes = st.sampled_from(
    [
        "[ab]",
        "[^a]",
        "[a-c]",
        r"\d",
        r"\s",
        r"\S",
        r"\w",
        r"\W",
        "[[:space:]]",
        r"\pL",
        r"[\s.]",
        ".",
        r"[_\-]",
        "[]a]",
    ]
)
edges = st.sampled_from(["^", "$", r"\b", r"\B", r"\A", r"\z"])
atoms = st.one_of(literals, literals, literals, classes, edges)


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    groups = st.sampled_from(["({})", "(?:{})", "(?i:{})", "(?P<n>{})", "(?s:{})", "(?-i:{})"])
    counts = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,1}", "*?", "+?", "{2,}"])
    return st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join).map("(?:{})".format),
        st.tuples(groups, inner).map(lambda pair: pair[0].replace("{}", pair[1])),
        st.tuples(inner, counts).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    )


patterns = st.recursive(atoms, _grow, max_leaves=12)


@settings(max_examples=1500, deadline=None)
@given(pattern=patterns, text=st.text(alphabet=ALPHABET, max_size=24), fold_case=st.booleans())
def test_a_match_holds_what_the_pattern_requires(pattern: str, text: str, fold_case: bool) -> None:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not fold_case
    try:
        compiled = re2.compile("(?m)" + pattern, options)
    except re2.error:
        return
    if compiled.search(text) is None:
        return
    # The ends of a file are ends of words.
    shown = normalise(f" {text} ")
    for group in required_literals(pattern, DEFAULT_LIMITS):
        assert any(literal in shown for literal in group), (pattern, text, group)


def test_the_reader_knows_the_syntax_that_is_used() -> None:
    for pattern in (r"(?P<year>\d{4})", r"a{,3}", r"[[:alpha:]_]\w*", r"\p{Greek}+", r"\PN", "a{1", r"\C\.\*", "]"):
        assert parse_pattern(pattern, DEFAULT_LIMITS.max_regex_depth) is not None, pattern


def test_characters_that_ignore_case_for_the_engine_are_one_for_the_index() -> None:
    options = re2.Options()
    options.case_sensitive = False
    for code in range(0x80, 0x1FFFF):
        character = chr(code)
        for other in {character.lower(), character.upper(), character.casefold(), character.title()}:
            if len(other) != 1 or other == character or 0xD800 <= code < 0xE000:
                continue
            if re2.compile(re2.escape(character), options).fullmatch(other):
                assert fold(character) == fold(other), (character, other)
                assert is_word_character(character) == is_word_character(other), (character, other)
