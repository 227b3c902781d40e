"""Grammars and queries of the languages that have symbol rules, loaded once per process.

**Invariant**: a grammar is loaded only for a language whose row in `languages.toml` names its symbol rules; some of
the packed grammars never return from a parse, so nothing else is ever handed to one.
"""

from __future__ import annotations

import importlib.util
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import cast

from tree_sitter import Language, Parser, Point, Query, QueryCursor, Tree
from tree_sitter_language_pack import SupportedLanguage, get_language

from sightline_core.languages import Language as LanguageRow
from sightline_core.languages import languages
from sightline_core.limits import Limits
from sightline_indexer.bodies import ranges_around

_SETTINGS = frozenset({"inherits", "hint", "bodies", "macros", "comments", "docs"})


@dataclass(frozen=True, slots=True)
class SymbolRules:
    """A query file: its patterns and the settings of its head, with those of the file it inherits.

    `hint` must occur in the text of a function body before it is searched; `bodies` finds the lines that open a body
    which is not even parsed without it; `macros` finds lines that define a macro, as `plain_macros` wants it;
    `comments` are the markers of a line comment that can document a definition; `docs` is `docstring` where the
    body's first string does.
    """

    query: str
    hint: str
    bodies: str
    macros: str
    comments: tuple[str, ...]
    docs: str


@dataclass(frozen=True, slots=True)
class Grammar:
    """What one language needs to be parsed and searched for definitions.

    `shallow` matches a node's children only, `deep` everything below it; there is no `deep` without a hint.
    `skimmer` is the parser for sources without some of their `bodies` and `macros`.
    """

    language: Language
    parser: Parser
    skimmer: Parser
    shallow: QueryCursor
    deep: QueryCursor | None
    hint: re.Pattern[bytes] | None
    bodies: re.Pattern[bytes] | None
    macros: re.Pattern[bytes] | None
    comments: tuple[bytes, ...]
    has_docstrings: bool


@dataclass(frozen=True, slots=True)
class Parsed:
    """A syntax tree; `cut` when the time was over before the end of the source."""

    tree: Tree
    cut: bool


def has_symbol_rules(language: str) -> bool:
    """True when definitions can be extracted from files of `language`."""
    row = languages().get(language)
    return row is not None and bool(row.symbols)


@cache
def grammar_of(language: str) -> Grammar:
    """The grammar and rules of a language with symbol rules; raises `LookupError` for any other."""
    row = _row(language)
    grammar = load_language(language)
    rules = read_rules(row.symbols)
    # What stands inside a syntax error is searched like what stands beside it.
    text = rules.query + "(ERROR) @body\n"
    shallow = QueryCursor(Query(grammar, text))
    shallow.set_max_start_depth(1)
    return Grammar(
        language=grammar,
        parser=Parser(grammar),
        skimmer=Parser(grammar),
        shallow=shallow,
        deep=QueryCursor(_without_regions(Query(grammar, text), text)) if rules.hint else None,
        hint=re.compile(rules.hint.encode()) if rules.hint else None,
        bodies=re.compile(rules.bodies.encode()) if rules.bodies else None,
        macros=re.compile(rules.macros.encode()) if rules.macros else None,
        comments=tuple(marker.encode() for marker in rules.comments),
        has_docstrings=rules.docs == "docstring",
    )


@cache
def installed_grammars() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The languages with symbol rules whose grammar is installed, and those whose grammar is missing.

    Looks for the libraries without loading them.
    """
    wanted = [row for row in languages().values() if row.symbols]
    available = tuple(row.name for row in wanted if _is_installed(row.grammar))
    return available, tuple(row.name for row in wanted if row.name not in available)


def _is_installed(grammar: str) -> bool:
    # These three come as packages of their own.
    own = {
        "csharp": "tree_sitter_c_sharp",
        "embeddedtemplate": "tree_sitter_embedded_template",
        "yaml": "tree_sitter_yaml",
    }
    name = own.get(grammar, f"tree_sitter_language_pack.bindings.{grammar}")
    return importlib.util.find_spec(name) is not None


def load_language(language: str) -> Language:
    """The packed grammar of a language with symbol rules."""
    return get_language(cast("SupportedLanguage", _row(language).grammar))


def read_rules(name: str) -> SymbolRules:
    """The rules in `queries/<name>.scm`; its own patterns go before those it inherits.

    The file begins with settings, one a line: `; inherits: other`, `; hint: regex`, `; comments: // ///`.
    """
    text = resources.files("sightline_indexer").joinpath("queries", f"{name}.scm").read_text("utf-8")
    head = _settings(text)
    base = read_rules(head["inherits"]) if "inherits" in head else SymbolRules("", "", "", "", ("//",), "")
    return SymbolRules(
        query=text + base.query,
        hint=head.get("hint", base.hint),
        bodies=head.get("bodies", base.bodies),
        macros=head.get("macros", base.macros),
        comments=tuple(head["comments"].split()) if "comments" in head else base.comments,
        docs=head.get("docs", base.docs),
    )


def parse(source: bytes, grammar: Grammar, limits: Limits, left_out: Sequence[tuple[int, int]] = ()) -> Parsed:
    """Parse `source`, giving up at `max_parse_ms` with the tree of what was read until then.

    What is `left_out` is not looked at; the tree has the places of the whole source all the same.
    """
    if not left_out:
        return _parse(grammar.parser, source, limits)
    grammar.skimmer.included_ranges = ranges_around(source, left_out)
    return _parse(grammar.skimmer, source, limits)


def _parse(parser: Parser, source: bytes, limits: Limits) -> Parsed:
    """Parse within the time.

    The binding's progress callback crashes the process (tree-sitter 0.26.0), so time is checked where the parser
    asks for the next chunk. That bounds long files; a parse stuck inside one chunk is ended by killing the worker.
    """
    if len(source) <= limits.parse_unwatched_bytes:
        return Parsed(parser.parse(source), cut=False)
    deadline = time.monotonic() + limits.max_parse_ms / 1000
    chunk = limits.parse_chunk_bytes
    cut = False

    def read(offset: int, _: Point) -> bytes:
        nonlocal cut
        if time.monotonic() > deadline:
            cut = True
            return b""
        return source[offset : offset + chunk]

    tree = parser.parse(read)
    return Parsed(tree, cut)


def _row(language: str) -> LanguageRow:
    row = languages().get(language)
    if row is None or not row.symbols:
        raise LookupError(f"{language} has no symbol rules")
    return row


def _without_regions(query: Query, text: str) -> Query:
    """The query without the patterns that only say where to search next: who searches everything needs none."""
    source = text.encode()
    for index in range(query.pattern_count):
        pattern = source[query.start_byte_for_pattern(index) : query.end_byte_for_pattern(index)]
        if b"@name" not in pattern and b"@scope" not in pattern:
            query.disable_pattern(index)
    return query


def _settings(text: str) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("; "):
            break
        key, colon, value = line[2:].partition(": ")
        if colon and key in _SETTINGS:
            found[key] = value.strip()
    return found
