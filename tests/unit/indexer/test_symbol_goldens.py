"""Every language with symbol rules has a fixture, and its symbols are the reviewed ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline_core.languages import language_of, languages
from sightline_core.limits import Limits
from sightline_core.types import Symbol
from sightline_indexer.grammars import grammar_of
from sightline_indexer.symbols import Extraction, extract_symbols

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "fixtures" / "languages"
GOLDEN = ROOT / "tests" / "golden" / "symbols"
LANGUAGES = sorted(name for name, row in languages().items() if row.symbols)


def fixture_files(language: str) -> list[Path]:
    return sorted(path for path in (FIXTURES / language).iterdir() if path.is_file())


def one_line(symbol: Symbol) -> str:
    place = f"{symbol.range.start.line}:{symbol.range.start.column}-{symbol.range.end.line}:{symbol.range.end.column}"
    name = f"{symbol.name_position.line}:{symbol.name_position.column}"
    kind = symbol.kind.value + (" (declaration)" if symbol.declaration else "")
    doc = f"  -- {symbol.doc}" if symbol.doc else ""
    return f"{place} @{name} {kind} {symbol.qualified_name}  |{symbol.signature}|{doc}"


def written(name: str, extraction: Extraction) -> str:
    head = f"# {name}{' (broken)' if extraction.broken else ''}\n"
    return head + "".join(one_line(symbol) + "\n" for symbol in extraction.symbols)


@pytest.mark.parametrize("language", LANGUAGES)
def test_language_with_symbol_rules_has_query_fixture_and_golden(language: str) -> None:
    assert grammar_of(language)
    assert {language_of(path.name) for path in fixture_files(language)} == {language}
    assert (GOLDEN / f"{language}.txt").is_file()


@pytest.mark.parametrize("language", LANGUAGES)
def test_symbols_of_fixture_are_the_reviewed_ones(language: str, update_golden: bool) -> None:
    found = "".join(
        written(path.name, extract_symbols(path.read_bytes(), language, Limits())) for path in fixture_files(language)
    )
    golden = GOLDEN / f"{language}.txt"
    if update_golden:
        golden.write_text(found, "utf-8")
    assert found == golden.read_text("utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_positions_and_containers_of_fixture_hold_together(language: str) -> None:
    for path in fixture_files(language):
        lines = path.read_text("utf-8").split("\n")
        symbols = extract_symbols(path.read_bytes(), language, Limits()).symbols
        for symbol in symbols:
            at = symbol.name_position
            text = lines[at.line - 1][at.column - 1 :].lstrip("'\":")
            assert text.startswith(symbol.name)
            assert symbol.range.start <= at < symbol.range.end
            assert symbol.qualified_name.startswith(symbol.container)


def test_no_fixture_or_golden_is_left_without_a_language() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == set(LANGUAGES)
    assert {path.stem for path in GOLDEN.iterdir()} == set(LANGUAGES)
