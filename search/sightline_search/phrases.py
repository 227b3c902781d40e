"""Quoted phrases of a question: which files hold their words one after the other.

**Invariant**: the words narrow, the text on disk decides; what was not looked at is said, so a phrase is only called
missing when no file can hold it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.types import Note
from sightline_indexer.store import Snapshot
from sightline_indexer.words import fold, split_words
from sightline_search.pattern import Pattern, compile_pattern
from sightline_search.tree_reader import TreeReader

# As words are split: letters, digits and the underscore belong to one. A phrase may go on in the next line.
_BETWEEN = r"(?:[^\pL\pN_]|\n)+"
_BEFORE, _AFTER = r"(?:^|[^\pL\pN_])", r"(?:$|[^\pL\pN_])"


@dataclass(frozen=True, slots=True)
class PhraseFiles:
    """`required` holds the paths of the files with a phrase, one set for each that was found."""

    required: tuple[tuple[str, ...], ...] = ()
    missing: tuple[str, ...] = ()
    cuts: tuple[Note, ...] = ()


def find_phrases(
    snapshot: Snapshot, root: RepoRoot, phrases: Sequence[str], limits: Limits, deadline: float
) -> PhraseFiles:
    """The files that hold each phrase; `deadline` is a reading of `time.monotonic`."""
    required: list[tuple[str, ...]] = []
    missing: list[str] = []
    cuts: list[Note] = []
    for phrase in phrases:
        words = [fold(word) for word in split_words(phrase)][: limits.max_query_words]
        if not words:
            continue
        candidates = _files_with(snapshot, words)
        found, looked_at = _that_hold(root, candidates, words, limits, deadline)
        if found:
            required.append(found)
        if looked_at < len(candidates):
            cuts.append(_cut(phrase, len(candidates), looked_at))
        elif not found:
            missing.append(phrase)
    return PhraseFiles(tuple(required), tuple(missing), tuple(cuts))


def _files_with(snapshot: Snapshot, words: Sequence[str]) -> list[str]:
    """The files that hold all words, in the order of a scan."""
    catalogue = snapshot.catalogue()
    places = catalogue.places_of(snapshot.files_with_words(words).file_ids)
    return [catalogue.entries[place].path for place in places]


def _that_hold(
    root: RepoRoot, candidates: Sequence[str], words: Sequence[str], limits: Limits, deadline: float
) -> tuple[tuple[str, ...], int]:
    """Those of the candidates that hold the words in their order, and how many were looked at."""
    if len(words) == 1:
        return tuple(candidates), len(candidates)
    pattern = _pattern_of(words, limits)
    found: list[str] = []
    with TreeReader(root, limits) as reader:
        for number, path in enumerate(candidates):
            if number >= limits.max_phrase_files or time.monotonic() >= deadline:
                return tuple(found), number
            text = reader.read(path)
            if text is not None and pattern.regex.search(text.data, 0, len(text.data)):
                found.append(path)
    return tuple(found), len(candidates)


def _pattern_of(words: Sequence[str], limits: Limits) -> Pattern:
    text = _BEFORE + _BETWEEN.join(map(re.escape, words)) + _AFTER
    return compile_pattern(text, regex=True, case_sensitive=False, limits=limits)


def _cut(phrase: str, candidates: int, looked_at: int) -> Note:
    message = f'{candidates} files hold the words of "{phrase}"; {looked_at} of them were looked at for the phrase.'
    return Note("phrase_cut", message)
