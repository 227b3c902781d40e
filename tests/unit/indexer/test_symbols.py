"""What extraction promises beyond the goldens: caps, broken and hostile input, columns."""

from __future__ import annotations

import sys

import pytest

from sightline_core.languages import is_primary, languages
from sightline_core.limits import Limits
from sightline_core.types import Position, SymbolKind
from sightline_indexer.grammars import has_symbol_rules, read_rules
from sightline_indexer.symbols import extract_symbols

LANGUAGES = sorted(name for name, row in languages().items() if row.symbols)


def names(source: str, language: str, limits: Limits | None = None) -> list[str]:
    return [s.qualified_name for s in extract_symbols(source.encode(), language, limits or Limits()).symbols]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("source", [b"", b"\n", b"\xff\xfe\x00{{{", b"((((((((", "é\u2028".encode(), b"\r\r\r"])
def test_any_bytes_give_an_answer(language: str, source: bytes) -> None:
    assert extract_symbols(source, language, Limits()).truncated is False


@pytest.mark.parametrize(
    ("language", "unit"),
    [
        ("javascript", "f(["),
        ("python", "f(("),
        ("c", "{ "),
        ("go", "func f() {"),
        ("rust", "mod a {"),
        ("java", "class A {"),
    ],
)
def test_very_deep_nesting_breaks_nothing(language: str, unit: str) -> None:
    extraction = extract_symbols((unit * 20_000).encode(), language, Limits())
    assert extraction.broken


def test_symbol_cap_cuts_and_says_so() -> None:
    source = "".join(f"def f{i}(): pass\n" for i in range(50)).encode()
    whole = extract_symbols(source, "python", Limits(max_symbols_per_file=50))
    cut = extract_symbols(source, "python", Limits(max_symbols_per_file=10))
    assert (len(whole.symbols), whole.truncated) == (50, False)
    assert (len(cut.symbols), cut.truncated) == (10, True)


def test_time_cap_keeps_what_was_read_and_says_so() -> None:
    source = b"def first(): pass\n" + b"f(1)\n" * 50_000
    limits = Limits(max_parse_ms=0, parse_unwatched_bytes=0, parse_chunk_bytes=64)
    cut = extract_symbols(source, "python", limits)
    assert cut.truncated
    whole = extract_symbols(source, "python", Limits(parse_unwatched_bytes=0, parse_chunk_bytes=64))
    assert not whole.truncated
    assert whole.symbols[0].name == "first"


def test_file_read_in_chunks_has_the_same_symbols() -> None:
    source = "".join(f"class Ä{i}:\n    def m(self): pass\n" for i in range(200)).encode()
    chunked = extract_symbols(source, "python", Limits(parse_unwatched_bytes=0, parse_chunk_bytes=7))
    assert chunked == extract_symbols(source, "python", Limits())


def test_broken_code_is_marked_and_sound_code_is_not() -> None:
    assert not extract_symbols(b"def f(): pass\n", "python", Limits()).broken
    broken = extract_symbols(b"def f(: pass\nclass C:\n    def g(self): pass\n", "python", Limits())
    assert broken.broken
    assert "C.g" in [s.qualified_name for s in broken.symbols]


def test_columns_count_code_points() -> None:
    symbol = extract_symbols('x = "äöü"; naïve = "😀"\n'.encode(), "python", Limits()).symbols[1]
    assert symbol.name_position == Position(1, 12)
    assert symbol.range.end == Position(1, 23)


def test_signature_is_one_bounded_line() -> None:
    source = "def f(\n" + "".join(f"    argument_{i}: int,\n" for i in range(100)) + "): pass\n"
    signature = extract_symbols(source.encode(), "python", Limits(max_signature_chars=40)).symbols[0].signature
    assert signature.startswith("def f( argument_0: int,")
    assert len(signature) == 40
    assert "\n" not in signature


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("python", "def f():\n    x = 1\n    y: int = 2\n", ["f"]),
        ("javascript", "function f() { const g = () => 1; let o = { m() {} }; }", ["f"]),
        ("go", "package p\nfunc f() { const c = 1; type t int }", ["f"]),
        ("rust", "fn f() { let x = 1; const C: u8 = 1; }", ["f"]),
        ("java", "class A { void f() { int x; class L { void m() {} } } }", ["A", "A.f"]),
        ("c", "int f(int a) { int b; static int c = 1; return b; }", ["f"]),
        ("cpp", "void f() { int b = 1; auto g = [](int x) { int y; }; }", ["f"]),
        ("ruby", "def f\n  x = 1\nend\n", ["f"]),
        ("php", "<?php function f($a) { $b = 1; $g = fn($x) => $x; }", ["f"]),
        ("kotlin", "fun f(a: Int) { val b = 1 }", ["f"]),
        ("csharp", "class A { void F(int a) { int b = 1; } }", ["A", "A.F"]),
    ],
)
def test_imports_parameters_and_locals_are_no_symbols(language: str, source: str, expected: list[str]) -> None:
    assert names(source, language) == expected


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("python", "import a\nfrom b import c as d\n"),
        ("javascript", "import a from 'a';\nimport * as b from 'b';\nconst c = require('c');\n"),
        ("go", 'package p\nimport x "y"\n'),
        ("rust", "use a::b as c;\n"),
        ("java", "package a;\nimport b.C;\n"),
        ("c", "#include <x.h>\nint prototype(int);\nextern int elsewhere;\n"),
        ("php", "<?php use A\\B as C;"),
        ("kotlin", "package a\nimport b.C\n"),
    ],
)
def test_what_is_defined_elsewhere_is_no_symbol(language: str, source: str) -> None:
    assert names(source, language) == []


def test_language_without_symbol_rules_is_refused() -> None:
    assert not has_symbol_rules("json")
    assert not has_symbol_rules("cobol")
    with pytest.raises(LookupError):
        extract_symbols(b"x", "cobol", Limits())


def test_inherited_rules_come_after_the_own_ones() -> None:
    base, own = read_rules("c"), read_rules("cpp")
    assert own.query.endswith(base.query)
    assert own.hint == base.hint


def test_values_count_first_only_where_the_language_says_so() -> None:
    assert is_primary(SymbolKind.FUNCTION, "python")
    assert not is_primary(SymbolKind.VARIABLE, "python")
    assert is_primary(SymbolKind.VARIABLE, "go")
    assert is_primary(SymbolKind.CONSTANT, "c")
    assert not is_primary(SymbolKind.METHOD, "go", declaration=True)
    assert is_primary(SymbolKind.METHOD, "java", declaration=True)


def test_a_doc_line_stands_without_the_spaces_around_it_of_whatever_kind() -> None:
    spaces = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace() and chr(code) not in "\r\n"]
    for space in spaces:
        source = f"//{space}Says it.{space}\nfunc f() {{}}\n".encode()
        (symbol,) = extract_symbols(source, "go", Limits()).symbols
        assert symbol.doc == "Says it.", hex(ord(space))


def test_a_comment_behind_the_line_before_is_no_documentation() -> None:
    source = b"int a; /* of a */\nint b;\n/* of c */\nint c;\n    /* of\n     * d */\nint d;\n"
    assert [(symbol.name, symbol.doc) for symbol in extract_symbols(source, "c", Limits()).symbols] == [
        ("a", ""),
        ("b", ""),
        ("c", "of c"),
        ("d", "of"),
    ]
