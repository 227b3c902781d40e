"""From what a person typed to a query: inline filters, quoted phrases and the text that is left.

**Invariant**: any input is safe and none is an error: NULs and lone surrogates are replaced, length is bounded, and a
filter that means nothing stays a word of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sightline_core.languages import language_of, languages
from sightline_core.limits import Limits
from sightline_core.types import Note, SymbolKind
from sightline_search.model import Filters
from sightline_search.terms import Terms, weigh_terms

_INLINE = re.compile(r'(?<!\S)(-?)(language|lang|path|file|kind|test|tests):("[^"]*"|[^\s"]+)(?!\S)', re.IGNORECASE)
_PHRASE = re.compile(r'(?<!\w)"([^"\n]*\w[^"\n]*)"(?!\w)')
_KIND_ALIASES = {
    "func": SymbolKind.FUNCTION,
    "fn": SymbolKind.FUNCTION,
    "def": SymbolKind.FUNCTION,
    "const": SymbolKind.CONSTANT,
    "var": SymbolKind.VARIABLE,
    "enum_member": SymbolKind.ENUM_MEMBER,
    "type": SymbolKind.CLASS,
    "trait": SymbolKind.INTERFACE,
    "ctor": SymbolKind.CONSTRUCTOR,
}
_LANGUAGE_ALIASES = {
    "golang": "go",
    "c++": "cpp",
    "c#": "csharp",
    "js": "javascript",
    "ts": "typescript",
    "shell": "bash",
}
_TEST_WORDS = frozenset(
    {
        "test",
        "tests",
        "testing",
        "tested",
        "unittest",
        "unittests",
        "pytest",
        "spec",
        "specs",
        "testcase",
        "fixture",
        "fixtures",
        "mock",
        "mocks",
    }
)


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: `text` is what is left when filters are taken out, `phrases` must be found as they are."""

    text: str
    filters: Filters
    phrases: tuple[str, ...]
    terms: Terms
    about_tests: bool
    notes: tuple[Note, ...] = ()


def parse_query(raw: str, filters: Filters, limits: Limits) -> Query:
    """The query of a raw text; its inline filters are added to those of the arguments."""
    text, notes = _bounded(raw, limits)
    # A text of several lines was pasted, not typed: what looks like a filter in it is part of a message.
    typed = "\n" not in text.strip()
    if typed:
        text, filters = _take_filters(text, filters)
    phrases = tuple(match.group(1).strip() for match in _PHRASE.finditer(text)) if typed else ()
    terms = weigh_terms(text, limits)
    if terms.cut:
        notes.append(Note("query_shortened", f"Only the {limits.max_query_terms} weightiest words were used."))
    about_tests = any(term.word in _TEST_WORDS for term in terms.terms) or points_at_tests(filters)
    return Query(text.strip(), filters, phrases, terms, about_tests, tuple(notes))


def clean_text(raw: str) -> str:
    """Caller text without what no index or file can hold."""
    return raw.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def find_kind(text: str) -> SymbolKind | None:
    """The kind that a text names."""
    word = text.strip().lower()
    if word in _KIND_ALIASES:
        return _KIND_ALIASES[word]
    try:
        return SymbolKind(word.replace("_", ""))
    except ValueError:
        return None


def find_language(text: str) -> str:
    """The language that a text names, by its name or an extension; empty when it is none."""
    word = text.strip().lower().lstrip(".")
    word = _LANGUAGE_ALIASES.get(word, word)
    return word if word in languages() else language_of(f"x.{word}")


def points_at_tests(filters: Filters) -> bool:
    """Whether a path filter asks for test files by name."""
    return any("test" in glob.lower() or "spec" in glob.lower() for glob in filters.paths)


def _bounded(raw: str, limits: Limits) -> tuple[str, list[Note]]:
    text = clean_text(raw[: limits.max_query_chars])
    if len(raw) <= limits.max_query_chars:
        return text, []
    note = Note("query_shortened", f"Only the first {limits.max_query_chars} characters were used.")
    return text, [note]


def _take_filters(text: str, filters: Filters) -> tuple[str, Filters]:
    kept: list[str] = []
    at = 0
    for match in _INLINE.finditer(text):
        changed = _apply(filters, match.group(1) == "-", match.group(2).lower(), match.group(3).strip('"'))
        if changed is None:
            continue
        filters = changed
        kept.append(text[at : match.start()])
        at = match.end()
    kept.append(text[at:])
    return "".join(kept), filters


def _apply(filters: Filters, negated: bool, key: str, value: str) -> Filters | None:
    """The filters with one more; None when it is not understood."""
    if not value or value.startswith("//"):
        return None
    if key in ("path", "file"):
        if negated:
            return replace(filters, exclude=(*filters.exclude, value))
        return replace(filters, paths=(*filters.paths, value))
    if key in ("test", "tests"):
        if value.lower() not in ("no", "false", "yes", "true"):
            return None
        return replace(filters, include_tests=(value.lower() in ("yes", "true")) != negated)
    if negated:
        return None
    if key == "kind":
        kind = find_kind(value)
        return replace(filters, kind=kind) if kind is not None else None
    language = find_language(value)
    return replace(filters, language=language) if language else None
