"""Which of a pattern's required texts to look up, so that finding the candidates costs less than reading them.

**Invariant**: what is left out only widens the answer; a file that holds a match is always among the candidates.
"""

from __future__ import annotations

from sightline_core.limits import Limits
from sightline_indexer import schema
from sightline_indexer.store import Candidates, Snapshot
from sightline_search.pattern import Pattern


def candidate_files(snapshot: Snapshot, pattern: Pattern, limits: Limits) -> Candidates | None:
    """Files that may hold a match; None when the index cannot tell."""
    if not pattern.required:
        return None
    rarest = min(((_files_at_most(snapshot, group), group) for group in pattern.required), key=lambda pair: pair[0])
    if rarest[0] <= limits.few_candidate_files:
        # Whole words alone lead to a handful of files: pieces of words would cost more than they save.
        return snapshot.candidate_files([_whole_words(text) for text in rarest[1]])
    best, *others = pattern.required
    chosen = [best]
    for group in others:
        long_enough = min(len(text.strip()) for text in group) >= limits.min_lookup_chars
        if long_enough and sum(map(len, chosen)) + len(group) <= limits.max_lookup_texts:
            chosen.append(group)
    return snapshot.candidate_files(*chosen)


def _files_at_most(snapshot: Snapshot, group: tuple[str, ...]) -> int:
    """A bound on the files that hold one of the texts, by its whole words; all files when it has none."""
    every = snapshot.searcher.num_docs
    total = 0
    for text in group:
        words = _whole_words(text).split()
        total += min((snapshot.frequency(schema.CONTENT, word) for word in words), default=every)
        if total >= every:
            return every
    return total


def _whole_words(text: str) -> str:
    """The part of a normalised text between its first and its last space, both included."""
    first, last = text.find(" "), text.rfind(" ")
    return text[first : last + 1] if first < last else ""
