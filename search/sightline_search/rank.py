"""The order of files: what the text index says of them, weighed by what kind of file they are.

**Invariant**: the same snapshot and question give the same order; ties are broken by path. The parts of a score are
known: their product is the score.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from sightline_core.languages import languages
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.manifest import FileFacts

# How much a file of that kind counts against plain source code.
_TEST = 0.3
_GENERATED = 0.3
_VENDORED = 0.3
_MINIFIED = 0.2
_ASIDE = 0.5
_PROSE = 0.2
_OTHER_TEXT = 0.6
# A longer file answers more questions; the text index already takes its length against it, and too much so.
_SIZE = 0.6
_SIZE_UNIT = 1000
_SIZE_CAP = 200_000
# A file that the question itself names.
_MENTIONED = 2.0
# The share of a test's score that goes to the file it tests.
_TOLD_BY_TEST = 0.2
_TEST_TRAIT = int(FileTrait.TEST)
_TEST_AFFIX = re.compile(r"^tests?_|(?:[_.-]tests?|[_.-]spec|Tests?|Spec)$")

_PROSE_LANGUAGES = frozenset(
    {"markdown", "restructuredtext", "text", "json", "yaml", "toml", "xml", "html", "css", "scss"}
)
_PROSE_EXTENSIONS = frozenset({"md", "txt", "rst", "adoc", "svg", "lock", "csv", "log", "po", "ini", "cfg", "snap"})
_ASIDE_FOLDERS = frozenset(
    {
        "docs",
        "doc",
        "documentation",
        "examples",
        "example",
        "samples",
        "sample",
        "benches",
        "bench",
        "benchmarks",
        "benchmark",
        "dist",
        "scripts",
        "demo",
        "demos",
        "tools",
        ".github",
        "ci",
    }
)


class Preference(NamedTuple):
    """What the question asks for by itself, so that it is not held against a file."""

    tests: bool = False
    any_kind: bool = False


class RankedFile(NamedTuple):
    """A file with its score; see `score_parts` for what the score is the product of."""

    file: FileFacts
    score: float
    text_score: float
    test_score: float = 0.0


def rank_files(
    found: Iterable[tuple[float, FileFacts]], preference: Preference, mentioned: frozenset[int] = frozenset()
) -> list[RankedFile]:
    """Files by their score, best first; `mentioned` ones are named by the question itself."""
    files = list(found)
    told = {} if preference.tests else _told_by_tests(files)
    ranked: list[RankedFile] = []
    for score, file in files:
        help_of_test = 0.0
        if told and not file.traits & _TEST_TRAIT:
            help_of_test = told.get(_stem(file.path).lower(), 0.0)
        weight = _full_weight(file.path, file.language, file.traits, file.size, preference)
        if file.file_id in mentioned:
            weight *= _MENTIONED
        ranked.append(RankedFile(file, (score + help_of_test) * weight, score, help_of_test))
    ranked.sort(key=lambda item: (-item.score, item.file.path))
    return ranked


def score_parts(item: RankedFile, preference: Preference, *, named: bool) -> dict[str, float]:
    """The factors of a file's score, rounded; a factor of one is left out, and `text` holds what its test adds."""
    file = item.file
    parts = {"text": item.text_score + item.test_score, **_weights(file.path, file.language, file.traits, preference)}
    parts["size"] = _size_weight(file.size)
    if named:
        parts["mentioned"] = _MENTIONED
    return {name: round(value, 4) for name, value in parts.items()}


def _told_by_tests(files: list[tuple[float, FileFacts]]) -> dict[str, float]:
    """The stem of a file → what its test adds to it: a test speaks of its subject in the words people use."""
    told: dict[str, float] = {}
    for score, file in files:
        if file.traits & _TEST_TRAIT:
            subject = _subject(file.path)
            told[subject] = max(told.get(subject, 0.0), score * _TOLD_BY_TEST)
    return told


@lru_cache(maxsize=65_536)
def _subject(path: str) -> str:
    return _TEST_AFFIX.sub("", _stem(path)).lower()


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].rsplit(".", 1)[0]


# By what it depends on: after each save a file is another one, and a day of saves would fill this.
@lru_cache(maxsize=32_768)
def _full_weight(path: str, language: str, traits: int, size: int, preference: Preference) -> float:
    return math.prod(_weights(path, language, traits, preference).values()) * _size_weight(size)


def _size_weight(size: int) -> float:
    return 1.0 + _SIZE * math.log1p(min(size, _SIZE_CAP) / _SIZE_UNIT)


def _weights(path: str, language: str, traits: int, preference: Preference) -> dict[str, float]:
    weights: dict[str, float] = {}
    if traits & FileTrait.TEST and not preference.tests:
        weights["test"] = _TEST
    if preference.any_kind:
        return weights
    for trait, name, weight in (
        (FileTrait.GENERATED, "generated", _GENERATED),
        (FileTrait.VENDORED, "vendored", _VENDORED),
        (FileTrait.MINIFIED, "minified", _MINIFIED),
    ):
        if traits & trait:
            weights[name] = weight
    if (kind := _text_weight(path, language)) < 1.0:
        weights["not_source"] = kind
    if not _ASIDE_FOLDERS.isdisjoint(path.lower().split("/")[:-1]):
        weights["aside"] = _ASIDE
    return weights


def _text_weight(path: str, language: str) -> float:
    row = languages().get(language)
    if row is not None and row.symbols:
        return 1.0
    extension = path.rsplit(".", 1)[-1].lower()
    if language in _PROSE_LANGUAGES or (row is None and extension in _PROSE_EXTENSIONS):
        return _PROSE
    return _OTHER_TEXT
