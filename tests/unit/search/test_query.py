"""Inline filters, phrases, terms, references and cursors."""

from __future__ import annotations

import pytest

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.types import SymbolKind
from sightline_search.cursor import decode_cursor, encode_cursor
from sightline_search.file_references import find_references
from sightline_search.model import Filters
from sightline_search.names import SymbolName, parse_name
from sightline_search.path_globs import path_matcher
from sightline_search.query import parse_query
from sightline_search.word_forms import word_forms


def parse(text: str):
    return parse_query(text, Filters(), DEFAULT_LIMITS)


def test_inline_filters_equal_the_arguments() -> None:
    query = parse('open files lang:go path:pkg/ kind:class -path:vendor "exact phrase"')
    assert query.filters == Filters(paths=("pkg/",), exclude=("vendor",), language="go", kind=SymbolKind.CLASS)
    assert query.phrases == ("exact phrase",)
    assert query.text == 'open files     "exact phrase"'


@pytest.mark.parametrize(
    ("text", "language"), [("lang:py x", "python"), ("lang:c++ x", "cpp"), ("language:TS x", "typescript")]
)
def test_a_language_is_named_by_name_or_extension(text: str, language: str) -> None:
    assert parse(text).filters.language == language


@pytest.mark.parametrize("text", ["kind:bug in x", "lang:klingon x", "file://host/x", "see path: x"])
def test_what_is_no_filter_stays_text(text: str) -> None:
    assert parse(text).filters == Filters()
    assert parse(text).text == text


def test_a_pasted_text_has_no_filters() -> None:
    assert parse("it fails\npath:x lang:go").filters == Filters()


def test_identifiers_weigh_more_than_prose_and_grammar_nothing() -> None:
    weights = {term.word: term.weight for term in parse("the trustedProxies of an engine").terms.terms}
    assert weights["trustedproxies"] > weights["engine"]
    assert "the" not in weights
    assert "of" not in weights


def test_grammar_alone_is_still_searched() -> None:
    assert [term.word for term in parse("if not").terms.terms] == ["if", "not"]


@pytest.mark.parametrize(
    "text",
    [
        "\0",
        "\ud800 x",
        "(" * 20_000,
        "word " * 100_000,
        "a" * 50_000,
        "",
        "   ",
        '"',
        "path:",
        "𝕏" * 500,
        "\\" * 9_000,
    ],
)
def test_any_text_is_a_query(text: str) -> None:
    query = parse(text)
    query.text.encode("utf-8")
    assert len(query.terms.terms) <= DEFAULT_LIMITS.max_query_terms


def test_a_shortened_query_says_so() -> None:
    assert [note.code for note in parse("x" * 30_000).notes] == ["query_shortened"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Foo", SymbolName("Foo")),
        ("a.b.c", SymbolName("c", ("a", "b"))),
        ("Foo::bar", SymbolName("bar", ("Foo",))),
        ("Foo#bar", SymbolName("bar", ("Foo",))),
        ("foo->bar()", SymbolName("bar", ("foo",))),
        ("pkg/mod.Name", SymbolName("Name", ("pkg", "mod"))),
        ("Map<K, V>", SymbolName("Map")),
        ("self.total", SymbolName("total")),
        ("two words", None),
        ("", None),
        ("123", None),
    ],
)
def test_names_are_read(text: str, expected: SymbolName | None) -> None:
    assert parse_name(text) == expected


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ('  File "/app/src/shop/cart.py", line 14, in add_item', "/app/src/shop/cart.py", 14),
        ("    at load (/srv/lib/load.js:10:3)", "/srv/lib/load.js", 10),
        ("\tat com.acme.shop.Cart.add(Cart.java:42)", "com/acme/shop/Cart.java", 42),
        ("\t/go/src/pkg/server/handler.go:27 +0x1d", "/go/src/pkg/server/handler.go", 27),
        ("  --> src/main.rs:4:5", "src/main.rs", 4),
        (r"   at Shop.Cart.Add() in C:\code\Shop\Cart.cs:line 12", "C:/code/Shop/Cart.cs", 12),
        ("src/a.ts(12,3): error TS2322", "src/a.ts", 12),
        ("PHP Fatal error: boom in /var/www/a.php on line 3", "/var/www/a.php", 3),
        ("see https://forge.example/o/r/blob/main/src/x.py#L7", "src/x.py", 7),
        ("look into src/shop/cart.py please", "src/shop/cart.py", 0),
    ],
)
def test_references_to_files_are_found(text: str, path: str, line: int) -> None:
    assert (path, line) in [(found.path, found.line) for found in find_references(text, DEFAULT_LIMITS)]


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("vendor", "a/vendor/x.go", True),
        ("vendor", "vendored/x.go", False),
        ("pkg/", "pkg/a/b.go", True),
        ("pkg/", "other/pkg.go", False),
        ("src/shop", "src/shop/cart.py", True),
        ("src/shop", "x/src/shop/cart.py", False),
        ("*.go", "a/b/c.go", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/**/*.py", "src/a/b.py", True),
        ("src/**/*.py", "src/b.py", True),
        ("**/test_*", "a/b/test_x.py", True),
        ("*.{ts,tsx}", "web/a.tsx", True),
        ("[ab].py", "a.py", True),
        ("[!ab].py", "a.py", False),
        ("a.py", "aXpy", False),
        ("/README.md", "README.md", True),
        ("/README.md", "docs/README.md", False),
    ],
)
def test_globs_match_as_people_write_them(glob: str, path: str, matches: bool) -> None:
    assert path_matcher((glob,), DEFAULT_LIMITS)(path) is matches


def test_an_evil_glob_is_answered_in_linear_time() -> None:
    assert path_matcher(("*a" * 200 + "b",), DEFAULT_LIMITS)("a" * 4_000) is False


@pytest.mark.parametrize(
    ("word", "form"), [("decoding", "decode"), ("headers", "header"), ("parse", "parser"), ("retries", "retry")]
)
def test_words_find_their_other_forms(word: str, form: str) -> None:
    assert form in word_forms(word)


def test_a_cursor_belongs_to_its_question_and_generation() -> None:
    token = encode_cursor(3, "question", 20)
    assert decode_cursor(token, 3, "question") == 20
    for generation, question, text in ((4, "question", token), (3, "other", token), (3, "question", "nonsense!")):
        with pytest.raises(SightlineError) as caught:
            decode_cursor(text, generation, question)
        assert caught.value.code is ErrorCode.INVALID_INPUT
