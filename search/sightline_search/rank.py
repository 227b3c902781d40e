"""The order of files: what the text index says of them, weighed by what kind of file they are.

**Invariant**: the same snapshot and question give the same order; ties are broken by path. The parts of a score are
kept apart: their product is the score.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sightline_core.languages import languages
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.records import FileRecord

# How much a file of that kind counts against plain source code.
_TEST = 0.3
_GENERATED = 0.3
_VENDORED = 0.3
_MINIFIED = 0.2
_ASIDE = 0.5
_PROSE = 0.2
_OTHER_TEXT = 0.6
# A longer file answers more questions; the text index already takes its length against it, and too much so.
_SIZE = 0.5
_SIZE_UNIT = 1000
_SIZE_CAP = 200_000

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


@dataclass(frozen=True, slots=True)
class Preference:
    """What the question asks for by itself, so that it is not held against a file."""

    tests: bool = False
    any_kind: bool = False


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A file with its score and the parts the score is the product of."""

    file: FileRecord
    score: float
    parts: Mapping[str, float]


def rank_files(found: Iterable[tuple[float, FileRecord]], preference: Preference) -> list[RankedFile]:
    """Files by their score, best first."""
    ranked = [_ranked(score, file, preference) for score, file in found]
    ranked.sort(key=lambda item: (-item.score, item.file.path))
    return ranked


def file_weights(file: FileRecord, preference: Preference) -> dict[str, float]:
    """How much a file counts by what it is; what counts in full is left out."""
    weights = {"size": 1.0 + _SIZE * math.log1p(min(file.size, _SIZE_CAP) / _SIZE_UNIT)}
    if FileTrait.TEST in file.traits and not preference.tests:
        weights["test"] = _TEST
    if preference.any_kind:
        return weights
    for trait, name, weight in (
        (FileTrait.GENERATED, "generated", _GENERATED),
        (FileTrait.VENDORED, "vendored", _VENDORED),
        (FileTrait.MINIFIED, "minified", _MINIFIED),
    ):
        if trait in file.traits:
            weights[name] = weight
    if (kind := _text_weight(file)) < 1.0:
        weights["not_source"] = kind
    if not _ASIDE_FOLDERS.isdisjoint(file.path.lower().split("/")[:-1]):
        weights["aside"] = _ASIDE
    return weights


def _ranked(score: float, file: FileRecord, preference: Preference) -> RankedFile:
    parts = {"text": score, **file_weights(file, preference)}
    return RankedFile(file, math.prod(parts.values()), parts)


def _text_weight(file: FileRecord) -> float:
    row = languages().get(file.language)
    if row is not None and row.symbols:
        return 1.0
    extension = file.path.rsplit(".", 1)[-1].lower()
    if file.language in _PROSE_LANGUAGES or (row is None and extension in _PROSE_EXTENSIONS):
        return _PROSE
    return _OTHER_TEXT
