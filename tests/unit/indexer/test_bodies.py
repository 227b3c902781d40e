"""Bodies that are not parsed: only those that surely hold nothing, and what is found is the same as with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline_core.languages import languages
from sightline_core.limits import Limits
from sightline_indexer.bodies import plain_bodies
from sightline_indexer.grammars import grammar_of
from sightline_indexer.symbols import Extraction, extract_symbols

FIXTURES = Path(__file__).parents[3] / "fixtures" / "languages"
WITH_BODIES = sorted(name for name, row in languages().items() if row.symbols and grammar_of(name).bodies is not None)
SKIMMED = Limits(min_unparsed_body_bytes=1)
WHOLE = Limits(min_unparsed_body_bytes=2**31)


def left_out(source: str, language: str) -> list[str]:
    grammar = grammar_of(language)
    data = source.encode()
    return [data[a:b].decode().strip() for a, b in plain_bodies(data, grammar.bodies, grammar.hint, 1)]


def both_ways(source: bytes, language: str) -> tuple[Extraction, Extraction]:
    return extract_symbols(source, language, SKIMMED), extract_symbols(source, language, WHOLE)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("package p\nfunc f() {\n\tg()\n}\n", ["g()"]),
        ("package p\r\nfunc f() {\r\n\tg()\r\n}\r\n", ["g()"]),
        ("package p\nfunc f() {\n\tif a {\n\t\tg()\n\t}\n}\nfunc h() {\n\ti()\n}\n", ["if a {\n\t\tg()\n\t}", "i()"]),
        ("package p\nfunc f(\n\ta int,\n) (int, error) {\n\tg()\n}\n", ["g()"]),
        ("package p\nfunc f() {\nagain:\n\tgoto again\n}\n", ["again:\n\tgoto again"]),
        ("package p\nfunc f() {\n\n\t// {}\n\tg()\n}\n", ["// {}\n\tg()"]),
        # What stands as far left as the function ends it, or it is not left out.
        ("package p\nfunc f() {\n\tif a {\n}\n\tg()\n}\n", []),
        ("package p\nfunc f() {\n\tg()\n\t}\ntype T struct {\n\ta int\n}\n", []),
        ("package p\nfunc f() {\n\tg()\n\t}\n\ttype T struct {\n\ta int\n}\n", []),
        # Braces in quotes and comments do not count, and none of those may reach across the end.
        ('package p\nfunc f() {\n\tg("{")\n}\n', ['g("{")']),
        ("package p\nfunc f() {\n\tif a {\n\t// }\n}\n}\n", []),
        ("package p\nfunc f() {\n\ta := `\n}\n`\n}\n", []),
        ("package p\nfunc f() {\n\ta := `{\n}`\n}\n", []),
        ("package p\nfunc f() {\n\t/*\n}\n*/\n}\n", []),
        # Not closed, closed elsewhere, no function.
        ("package p\nfunc f() {\n\tg()\n", []),
        ("package p\nfunc f() { g() }\n", []),
        ("package p\ntype T struct {\n\ta int\n}\nvar f = func() {\n\tg()\n}\n", []),
        ("", []),
    ],
)
def test_a_body_is_left_out_only_when_its_lines_leave_no_doubt(source: str, expected: list[str]) -> None:
    assert left_out(source, "go") == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("class A {\n  void f() {\n    g();\n  }\n}\n", ["g();"]),
        ("class A {\n  @Override public <T> void f(T t) throws E {\n    g();\n  }\n}\n", ["g();"]),
        ("class A {\n  record P(int x) {\n    int y() { return x; }\n  }\n}\n", []),
        ("class A {\n  public static final class B extends C<D> {\n    int x;\n  }\n}\n", []),
        ("class A {\n  B b = new B() {\n    int x;\n  };\n}\n", []),
        ('class A {\n  void f() {\n    g("""\n  }\n""");\n  }\n}\n', []),
    ],
)
def test_a_type_is_no_body(source: str, expected: list[str]) -> None:
    assert left_out(source, "java") == expected


@pytest.mark.parametrize(
    ("source", "language", "expected"),
    [
        ("int f(int a)\n{\n\treturn a;\n}\n", "c", ["return a;"]),
        ("int f(int a)\n{\n#if B\n\tg();\n#endif\nout:\n\th();\n}\n", "c", ["#if B\n\tg();\n#endif\nout:\n\th();"]),
        ("int f(int a)\n{\n#define B 1\n\treturn B;\n}\n", "c", []),
        ("int f(int a)\n{\n\tstruct s {\n\t\tint b;\n\t};\n\treturn a;\n}\n", "c", []),
        ("int f(int a)\n{\n#if B\n\tif (a) {\n#else\n\t{\n#endif\n\t}\n}\n", "c", []),
        ("struct s\n{\n\tint a;\n};\nint b[] =\n{\n\t1,\n};\n", "c", []),
        ("\nvoid A::f(int a) const {\n  g();\n}\n", "cpp", ["g();"]),
        ("void f(int a)\n{\n  std::g();\n}\n", "cpp", ["std::g();"]),
        ("class A B(C) {\n  int a;\n};\nnamespace a {\n}\n", "cpp", []),
    ],
)  # fmt: skip
def test_macros_and_types_within_a_body_keep_it(source: str, language: str, expected: list[str]) -> None:
    assert left_out(source, language) == expected


@pytest.mark.parametrize("language", WITH_BODIES)
def test_fixtures_have_the_same_definitions_without_their_bodies(language: str) -> None:
    skipped = 0
    for path in FIXTURES.joinpath(language).iterdir():
        source = path.read_bytes()
        skimmed, whole = both_ways(source, language)
        assert (skimmed.entries, skimmed.texts) == (whole.entries, whole.texts)
        skipped += len(left_out(source.decode(), language))
    assert skipped


def test_an_error_inside_a_body_spoils_nothing_around_it() -> None:
    source = b"package p\nfunc f() {\n\tif ( ] {\n\t}\n}\n// Does it.\nfunc g(a int) {\n\tg(a)\n}\n"
    skimmed, whole = both_ways(source, "go")
    assert [symbol.name for symbol in skimmed.symbols] == ["f", "g"]
    assert not skimmed.broken
    assert whole.broken


def test_errors_elsewhere_are_those_of_the_source() -> None:
    source = b"package p\nfunc f() {\n\tg()\n}\nfunc ( {\ntype T struct {\n\ta int\n}\n"
    skimmed, whole = both_ways(source, "go")
    assert skimmed == whole
    assert whole.broken


def test_what_the_parser_takes_for_something_else_is_parsed() -> None:
    # Without its content the body of such a function could be the braces of an initial value.
    source = b"Point add(Random& rng, View& view)\n{\n    Point point{rng.next()};\n    return point;\n}\n"
    skimmed, whole = both_ways(source, "cpp")
    assert [symbol.name for symbol in skimmed.symbols] == ["add"]
    assert skimmed == whole


def test_places_behind_a_body_are_those_of_the_text() -> None:
    source = 'package p\n\nfunc f() {\n\tg("äöü")\n\n}; var ä, b = 1, 2\n\nfunc (t *T) h() {\n\ti()\n}\n'
    assert len(left_out(source, "go")) == 2
    skimmed, whole = both_ways(source.encode(), "go")
    assert [(symbol.name, symbol.name_position) for symbol in skimmed.symbols] == [
        (symbol.name, symbol.name_position) for symbol in whole.symbols
    ]


@pytest.mark.parametrize(
    "source",
    ["\nfunc f() {" * 50_000, "\nfunc f() {\n" + "\t{\n" * 50_000 + "\t}\n" * 50_000 + "}\n", "\n)" * 200_000],
    ids=["opened", "deep", "closed"],
)
def test_what_nobody_writes_is_left_to_the_parser(source: str) -> None:
    assert left_out(source, "go") == []


# Go that parses, however it is indented.
_SIMPLE = st.sampled_from(
    [
        "g()", "// }", "// {", "/* {\n} */", 'g("}")', 'g("{")', "g('{')", "g(`\n}\n`)", "g(`\nfunc x() {\n`)",
        "again:\ng()",
        "type L struct {\nl int\n}", "const c = `{`", "var v = T{\na: 1,\n}", "",
    ]
)  # fmt: skip
_STATEMENTS = st.recursive(
    _SIMPLE,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda some: "\n".join(["if a {", *some, "}"]))
        | st.lists(inner, max_size=3).map(lambda some: "\n".join(["go func() {", *some, "}()"]))
    ),
    max_leaves=8,
)
_TOP = st.sampled_from(["type T struct {\n\ta int\n}", "var w = 1", "// func c() {", "const (\n\tk = 1\n)"])


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_go_that_parses_has_the_same_definitions_without_its_bodies(data: st.DataObject) -> None:
    lines = ["package p"]
    for number in range(data.draw(st.integers(1, 4))):
        body = "\n".join(data.draw(st.lists(_STATEMENTS, max_size=4))).split("\n")
        indents = data.draw(st.lists(st.sampled_from(["", "\t", "\t\t"]), min_size=len(body), max_size=len(body)))
        end = data.draw(st.sampled_from(["}", "}", "\t}"]))
        lines += [f"func f{number}() {{", *map("".join, zip(indents, body, strict=True)), end, data.draw(_TOP)]
    source = "\n".join(lines).encode() + b"\n"
    skimmed, whole = both_ways(source, "go")
    assert not whole.broken, source
    assert (skimmed.entries, skimmed.texts) == (whole.entries, whole.texts), source


def test_the_smallest_body_that_is_left_out_is_a_limit() -> None:
    grammar = grammar_of("go")
    source = b"\nfunc f() {\n\tg()\n}\n"
    (body,) = plain_bodies(source, grammar.bodies, None, 1)
    size = body[1] - body[0]
    assert plain_bodies(source, grammar.bodies, None, size)
    assert not plain_bodies(source, grammar.bodies, None, size + 1)
