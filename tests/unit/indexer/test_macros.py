"""Macros that are found by their lines: only those that surely define one, and with the places the parser gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline_core.limits import Limits
from sightline_indexer.grammars import grammar_of
from sightline_indexer.macros import plain_macros, stretches
from sightline_indexer.symbols import Extraction, extract_symbols

FIXTURES = Path(__file__).parents[3] / "fixtures" / "languages"
BY_LINES = Limits(min_plain_macros=1)
PARSED = Limits(min_plain_macros=2**31)


def found(source: str) -> list[str]:
    data = source.encode()
    return [data[macro.start : macro.end].decode() for macro in plain_macros(data, grammar_of("c").macros)]


def both_ways(source: bytes, language: str = "c") -> tuple[Extraction, Extraction]:
    return extract_symbols(source, language, BY_LINES), extract_symbols(source, language, PARSED)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("\n#define A 1\n", ["#define A 1\n"]),
        ("\r\n#define A 1\r\n#  define B\r\n", ["#define A 1\r\n", "#  define B\r\n"]),
        ("\n#define F(x) (x)\n", ["#define F(x) (x)\n"]),
        ("\n#define A 1 \\\n  + 2\nint b;\n", ["#define A 1 \\\n  + 2\n"]),
        ("\n#define A 1 /* one */ + 2\n", ["#define A 1 /* one */ + 2\n"]),
        ("\n#define B a / b // half\n", ["#define B a / b // half\n"]),
        ("/* a */\n#define A '\"'\n", ["#define A '\"'\n"]),
        # A comment that goes on, one that is around, and what may be one.
        ("\n#define A 1 /* one,\n#define B 2\n*/\n#define C 3\n", ["#define C 3\n"]),
        ("/*\n#define A 1\n*/\n#define B 2\n", ["#define B 2\n"]),
        ("/*/\n#define A 1\n*/\n#define B 2\n", ["#define B 2\n"]),
        ("/*\n#define A 1\n", []),
        ('char *a = "/*";\n#define A 1\nchar *b = "*/";\n#define B 2\n', ["#define B 2\n"]),
        ("\n \t# define A 1\n", ["# define A 1\n"]),
        # Not at the beginning of a line of its own.
        ("\n#define A \\\n#define B 2\n", ["#define A \\\n#define B 2\n"]),
        ("\nint a = \\\n#define B 2\n;\n", []),
        ("\nint a = \\\r\n#define B 2\r\n;\n", []),
        ("\n  a #define A 1\n", []),
        # Not ended, nameless, names of a kind that only a parser knows.
        ("\n#define A 1", []),
        ("\n#define\n#define 1 2\n#defined A\n#define A$B 1\n#define Ä 1\n#define A/**/ 1\n", []),
    ],
)  # fmt: skip
def test_a_line_is_taken_only_when_it_leaves_no_doubt(source: str, expected: list[str]) -> None:
    assert found(source) == expected


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_fixtures_have_the_same_definitions_by_lines(language: str) -> None:
    taken = 0
    for path in FIXTURES.joinpath(language).iterdir():
        source = path.read_bytes()
        by_lines, parsed = both_ways(source, language)
        assert (by_lines.entries, by_lines.texts) == (parsed.entries, parsed.texts)
        taken += len(plain_macros(source, grammar_of(language).macros))
    assert taken


def test_a_macro_is_found_where_the_grammar_expects_none() -> None:
    source = b"static int a[] = {\n#define WIDTH 3\n\tWIDTH,\n};\n\nenum b {\n\tC,\n#define D(x) x\n};\n"
    by_lines, _ = both_ways(source)
    assert [symbol.name for symbol in by_lines.symbols] == ["a", "WIDTH", "b", "C", "D"]
    assert not by_lines.broken


def test_macros_that_follow_each_other_are_one_stretch() -> None:
    source = b"\n#define A 1\n#define B \\\n 2\nint c;\n#define D 4\n"
    macros = plain_macros(source, grammar_of("c").macros)
    found = {source[begin:end]: row for (begin, end), row in stretches(macros).items()}
    assert found == {b"#define A 1\n#define B \\\n 2\n": 1, b"#define D 4\n": 5}
    assert stretches([]) == {}


def test_a_cap_cuts_behind_the_first_definitions() -> None:
    source = b"int first;\n" + b"".join(b"#define A%d %d\n" % (at, at) for at in range(9)) + b"int last;\n"
    cut = extract_symbols(source, "c", Limits(max_symbols_per_file=4))
    assert [symbol.name for symbol in cut.symbols] == ["first", "A0", "A1", "A2"]
    assert cut.truncated


@pytest.mark.parametrize(
    "source",
    ["\n#define A /*" * 50_000, "/*\n#define A 1\n" * 50_000, "\n#define A " + "/* * " * 200_000 + "\n"],
    ids=["opened", "around", "long"],
)
def test_what_nobody_writes_is_left_to_the_parser(source: str) -> None:
    assert found(source) == []


# C that parses; each piece begins a line.
_PIECES = st.sampled_from(
    [
        "#define A 1", "#define F(a, b) a", "#  define B", "#define C \\\n\t1 \\\n\t+ 2", "#define D 'x' /* d */",
        '#define E "//" // e', "#define G(x) do { \\\n\tx; \\\n} while (0)",
        "int v;", "/* Says\n * it. */", "// Says it.", "/*\n#define H 1\n*/", "", "\t", 'char *s = "/*"; /* */',
        "struct s {\n\tint f;\n#define I 1\n\tint g;\n};", "int f(void)\n{\n#define J 1\n\treturn J;\n}",
        "#ifdef K\n#define K 1\n#else\n#define L\n#endif", "enum e { M,\n\tN };", "\t#define O 1",
        "#define N /* over\n * two */ 1", 'char *t = "ä";',
    ]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(pieces=st.lists(_PIECES, max_size=10), line_break=st.sampled_from(["\n", "\r\n"]))
def test_any_c_that_parses_has_the_same_definitions_by_lines(pieces: list[str], line_break: str) -> None:
    source = ("\n".join(["int first;", *pieces]) + "\n").replace("\n", line_break).encode()
    by_lines, parsed = both_ways(source)
    if not parsed.broken:
        assert (by_lines.entries, by_lines.texts) == (parsed.entries, parsed.texts), source
