"""The same matches as ripgrep on the same files."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from support.scan_kit import FILES, Tree, as_ripgrep, generated_files, make_tree, ripgrep

PATTERNS = (
    r"return",
    r"import os",
    r"err != nil",
    r"func \(\w+ \*Server\)",
    r"TODO",
    r"TODO\(.*\):",
    r"^import",
    r"^$",
    r"^\s*$",
    r"return$",
    r"\)$",
    r"\r$",
    r".",
    r"^",
    r"$",
    r"x*",
    r"a|",
    r"(foo|bar)_?[Bb]ar",
    r"\bparse\b",
    r"parse\b",
    r"\Bparse",
    r"[A-Z]{2,}",
    r"\d+",
    r"\w+\(\)",
    r"needle",
    r"x\+needle",
    r"short\(\)",
    r"(?i)http",
    r"(?i)größe",
    r"(?i)ΑΒΓ",
    r"(?i)k kelvin",
    r"(?i)ſet",
    r"你好",
    r"你.",
    r"\p{Greek}+",
    r"\pL+ve",
    r"[^\x00-\x7f]",
    r"é",
    r"caf",
    r"caf.",
    r"after_nul",
    r"return 0; }$",
    r"\x{1F600}",
    r"emoji = 'x'",
    r"return  err",
    r"return\s+err",
    r"\s\s",
    r"[^a]b",
    r"a{2,3}",
    r"(return|raise) \w+",
    r"^\t+return",
    r"end'",
    r"end'$",
    r"(?:http)_(?:request|response)",
    r"\\r",
    r"''",
    r"(?-i)Todo",
    r"p(?i)ARSE",
    r"def \w+\(self",
    r"(?P<name>parse)_request",
    r"^.{80,}$",
    r"[[:upper:]]\w+",
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    made = make_tree(tmp_path_factory.mktemp("scan"), {**FILES, **generated_files(7, 60)})
    yield made
    made.store.close()


def check(tree: Tree, pattern: str, *flags: str, regex: bool = True, **options: object) -> None:
    expected = ripgrep(tree, as_ripgrep(pattern) if regex else pattern, *flags)
    assert expected is not None, f"ripgrep refuses {pattern!r}"
    found = tree.every_match(pattern, regex=regex, **options)
    order = {path: place for place, path in enumerate(tree.paths())}
    expected.sort(key=lambda match: (order[match[0]], match[1]))
    assert [match[:2] for match in found] == [match[:2] for match in expected]
    assert [mine for mine, theirs in zip(found, expected, strict=True) if theirs[2] not in (0, mine[2])] == []


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_regular_expression_matches_the_lines_that_ripgrep_matches(tree: Tree, pattern: str) -> None:
    check(tree, pattern)


@pytest.mark.parametrize(
    "text",
    [
        "return",
        "parse(",
        "err != nil",
        "naïve",
        "你好",
        ".*",
        "\\",
        "  ",
        "->",
        "é",
        "x+needle+y",
        "'\\r\\n'",
        "o_b",
        "ß",
    ],
)
@pytest.mark.parametrize("case_sensitive", [True, False])
def test_a_literal_matches_the_lines_that_ripgrep_matches(tree: Tree, text: str, case_sensitive: bool) -> None:
    flags = ("--fixed-strings",) if case_sensitive else ("--fixed-strings", "--ignore-case")
    check(tree, text, *flags, regex=False, case_sensitive=case_sensitive)


def test_random_pieces_of_files_are_found_where_ripgrep_finds_them(tree: Tree) -> None:
    chosen = random.Random(11)
    texts = [data.decode("utf-8", "ignore") for data in generated_files(7, 60).values()]
    for _ in range(100):
        line = chosen.choice(chosen.choice(texts).split("\n")).rstrip("\r")
        start = chosen.randrange(len(line) + 1)
        piece = line[start : start + chosen.randrange(1, 20)]
        if piece:
            check(tree, piece, "--fixed-strings", regex=False)


def test_random_expressions_match_where_ripgrep_matches(tree: Tree) -> None:
    chosen = random.Random(5)
    parts = [
        "err",
        "return",
        "foo",
        "[Bb]ar",
        r"\w+",
        r"\d",
        r"\s*",
        ".",
        ".*",
        "(x|nil)",
        "(TODO)?",
        "^",
        "$",
        r"\b",
        "[^ ]",
        "é",
        "_",
    ]
    for _ in range(150):
        pattern = "".join(chosen.choice(parts) for _ in range(chosen.randrange(1, 5)))
        check(tree, pattern)
