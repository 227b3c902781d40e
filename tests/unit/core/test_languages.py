"""The language table is complete and every lookup is unambiguous."""

from __future__ import annotations

from collections import Counter

import pytest
from tree_sitter_language_pack import get_parser

from sightline_core.languages import Language, language_of, languages

PROMISED = [
    "python",
    "javascript",
    "typescript",
    "tsx",
    "go",
    "rust",
    "java",
    "c",
    "cpp",
    "csharp",
    "ruby",
    "php",
    "kotlin",
    "swift",
    "scala",
    "lua",
    "bash",
    "html",
    "css",
    "json",
    "yaml",
    "toml",
    "markdown",
    "sql",
]


@pytest.mark.parametrize("name", PROMISED)
def test_every_promised_language_is_in_the_table(name: str) -> None:
    assert languages()[name].extensions


@pytest.mark.parametrize("row", languages().values(), ids=lambda row: row.name)
def test_a_row_is_complete(row: Language) -> None:
    assert row.extensions or row.filenames
    assert row.grammar
    assert row.lsp_id
    for extension in row.extensions:
        assert extension == extension.lower().lstrip(".")
        assert language_of(f"some/dir/name.{extension}") == row.name
        assert language_of(f"NAME.{extension.upper()}") == row.name
    for filename in row.filenames:
        assert language_of(f"some/dir/{filename}") == row.name
    for interpreter in row.interpreters:
        assert language_of("tool", f"#!/usr/bin/{interpreter}\n".encode()) == row.name


@pytest.mark.parametrize("field", ["extensions", "filenames", "interpreters"])
def test_no_two_languages_claim_the_same_name(field: str) -> None:
    claimed = Counter(item for row in languages().values() for item in getattr(row, field))
    assert [item for item, count in claimed.items() if count > 1] == []


@pytest.mark.parametrize("row", [row for row in languages().values() if row.symbols], ids=lambda row: row.name)
def test_a_language_with_symbols_has_a_grammar_that_parses_offline(row: Language) -> None:
    assert get_parser(row.grammar).parse(b"x").root_node is not None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"#!/usr/bin/env python3\n", "python"),
        (b"#!/usr/bin/python3.11\n", "python"),
        (b"#!/usr/bin/env -S python3 -u\n", "python"),
        (b"#!/usr/bin/env PYTHONUNBUFFERED=1 python3\n", "python"),
        (b"#! /bin/sh -e\n", "bash"),
        (b"#!/bin/bash", "bash"),
        (b"#!/usr/bin/env node\r\n", "javascript"),
        (b"#!/usr/bin/env\n", ""),
        (b"#!\n", ""),
        (b"#!/usr/bin/unheard-of\n", ""),
        (b"#!/usr/bin/\xff\xfe\n", ""),
        (b"# !/bin/sh\n", ""),
        (b"", ""),
    ],
)
def test_a_file_without_a_known_name_goes_by_its_interpreter(head: bytes, expected: str) -> None:
    assert language_of("bin/tool", head) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/b/c.py", "python"),
        ("a.b/c", ""),
        ("a.py/c", ""),
        ("Makefile", "make"),
        ("dir/Makefile.py", "python"),
        ("noextension", ""),
        (".py", "python"),
        ("archive.tar.gz", ""),
        ("", ""),
    ],
)
def test_a_name_decides_before_the_content(path: str, expected: str) -> None:
    assert language_of(path) == expected


def test_a_known_extension_wins_over_the_interpreter_line() -> None:
    assert language_of("script.py", b"#!/bin/sh\n") == "python"
