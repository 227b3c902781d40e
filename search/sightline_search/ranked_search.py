"""Ranked search: files by what the text index says of a question, each pointing at its best place.

**Invariant**: one result a file, so that no file floods a page; the order is made from the index alone and files are
read only for the page that is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import tantivy

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.text import clean_line
from sightline_indexer import schema
from sightline_indexer.definitions import DefinitionRow
from sightline_indexer.manifest import FileFacts
from sightline_indexer.records import FileRecord, stored_kind
from sightline_indexer.store import Snapshot
from sightline_indexer.words import fold, word_parts
from sightline_search.best_place import find_best_place, search_words
from sightline_search.locate import symbol_hit
from sightline_search.model import Hit
from sightline_search.plan import Planner, filter_query, with_filters
from sightline_search.query import Query
from sightline_search.rank import Preference, RankedFile, rank_files
from sightline_search.terms import Term, Terms
from sightline_search.tree_reader import FileText, TreeReader

_FIELDS = (schema.CONTENT, schema.PARTS, schema.PATH, schema.SYMBOLS, schema.DOCS, schema.NAMES)
# From which share of a question's weight on the name of a definition is a better answer than a line.
_NAME_SHARE = 0.3
_NAME_BASE = 0.7


@dataclass(frozen=True, slots=True)
class Ranking:
    """The files for a question, best first, and what they were found by."""

    files: tuple[RankedFile, ...]
    terms: tuple[Term, ...]
    preference: Preference = field(default_factory=Preference)
    mentioned: frozenset[int] = frozenset()


def rank_for(
    snapshot: Snapshot,
    query: Query,
    limits: Limits,
    mentioned: Sequence[FileRecord] = (),
    terms: Terms | None = None,
    within: Sequence[Sequence[str]] = (),
) -> Ranking:
    """The files for a question that are in each `within`; those that it mentions count more."""
    planner = Planner(snapshot, limits)
    plan = planner.plan(terms or query.terms)
    if plan.query is None:
        return Ranking((), plan.terms)
    clauses = filter_query(query.filters, snapshot.schema, limits)
    for paths in within:
        keys = tantivy.Query.term_set_query(snapshot.schema, schema.KEY, list(paths))
        clauses.append((tantivy.Occur.Must, tantivy.Query.const_score_query(keys, 0.0)))
    hits = snapshot.searcher.search(with_filters(plan.query, clauses), limits.max_ranked_files, count=False).hits
    file_ids = snapshot.file_ids([address for _, address in hits])
    facts = snapshot.file_facts(file_ids)
    found = [(float(hit[0]), facts[file_id]) for hit, file_id in zip(hits, file_ids, strict=True) if file_id in facts]
    preference = Preference(tests=query.about_tests, any_kind=bool(query.filters.paths))
    named = frozenset(file.file_id for file in mentioned)
    return Ranking(tuple(rank_files(found, preference, named)), plan.terms, preference, named)


def explain_parts(
    snapshot: Snapshot, terms: Terms, files: Sequence[FileFacts], limits: Limits
) -> dict[int, dict[str, float]]:
    """For each file what each field of the index alone would give it."""
    if not files:
        return {}
    planner = Planner(snapshot, limits)
    keys = tantivy.Query.term_set_query(snapshot.schema, schema.KEY, [file.path for file in files])
    only = (tantivy.Occur.Must, tantivy.Query.const_score_query(keys, 0.0))
    parts: dict[int, dict[str, float]] = {file.file_id: {} for file in files}
    for name in _FIELDS:
        query = planner.plan(terms, frozenset({name})).query
        if query is None:
            continue
        hits = snapshot.searcher.search(with_filters(query, [only]), len(files), count=False).hits
        file_ids = snapshot.file_ids([address for _, address in hits])
        for hit, file_id in zip(hits, file_ids, strict=True):
            if file_id in parts:
                parts[file_id][f"field_{name}"] = round(float(hit[0]), 4)
    return parts


class PlaceFinder:
    """Turns ranked files into results that point into them. Not thread-safe; close it."""

    def __init__(
        self, snapshot: Snapshot, root: RepoRoot, query: Query, terms: Sequence[Term], limits: Limits
    ) -> None:
        self._snapshot = snapshot
        self._limits = limits
        self._kind = query.filters.kind
        self._reader = TreeReader(root, limits)
        self._words = search_words(terms)
        self._weights = {word.decode(): weight for word, weight in self._words}
        # The heaviest words are enough to find names by.
        heaviest = sorted(self._weights, key=lambda word: -self._weights[word])
        self._pieces = tuple(heaviest[: limits.max_name_pieces])
        self._total = sum(term.weight for term in terms) or 1.0

    def close(self) -> None:
        """Let go of the directories."""
        self._reader.close()

    def hit(self, ranked: RankedFile) -> Hit | None:
        """The result for a file; None when it has no definition of the kind that is asked for."""
        row = self._best_symbol(ranked.file)
        if row is not None:
            return symbol_hit(self._snapshot.definitions([row])[0], ranked.score)
        return self.text_hit(ranked) if self._kind is None else None

    def matches(self, file: FileFacts) -> int:
        """How often the words of the question stand in a file, counted up to a bound a word."""
        text = self._reader.read(file.path)
        place = find_best_place(text.data, self._words, self._limits) if text is not None else None
        return place.matches if place is not None else 0

    def _best_symbol(self, file: FileFacts) -> DefinitionRow | None:
        best: int | None = None
        best_score = 0.0 if self._kind is not None else self._total * _NAME_SHARE
        pieces = () if self._kind is not None else self._pieces
        for ordinal, name, kind in self._snapshot.names_holding(file.file_id, pieces):
            if self._kind is not None and stored_kind(kind) is not self._kind:
                continue
            score = self._name_score(name)
            if score > best_score or (best is None and self._kind is not None):
                best, best_score = ordinal, score
        return None if best is None else self._snapshot.row_at(file, best)

    def _name_score(self, name: str) -> float:
        whole, parts = _split_name(name)
        known = self._weights.get(whole)
        if known is not None:
            return known
        weights = self._weights
        held = [part for part in parts if part in weights]
        if not held:
            return 0.0
        # A name that says more than was asked for is a little less what was asked for.
        share = _NAME_BASE + (1.0 - _NAME_BASE) * len(held) / (len(parts) or 1)
        return sum([weights[part] for part in set(held)]) * share

    def text_hit(self, ranked: RankedFile) -> Hit:
        """The best line of a file."""
        text = self._reader.read(ranked.file.path)
        place = find_best_place(text.data, self._words, self._limits) if text is not None else None
        line, shown = (place.line, place.text) if place is not None else (1, b"")
        return self._line_hit(ranked.file.file_id, line, shown, text, ranked.score)

    def frame_hit(self, file: FileRecord, line: int, score: float) -> Hit:
        """A line that a text refers to."""
        text = self._reader.read(file.path)
        lines = text.data.split(b"\n") if text is not None else []
        shown = lines[line - 1] if line <= len(lines) else b""
        return self._line_hit(file.file_id, line, shown, text, score)

    def _line_hit(self, file_id: int, line: int, shown: bytes, text: FileText | None, score: float) -> Hit:
        file = self._snapshot.files_by_id([file_id])[file_id]
        around = self._snapshot.symbol_around(file_id, line)
        return Hit(
            path=file.path,
            line=line,
            end_line=line,
            kind="text",
            name=file.path.rsplit("/", 1)[-1],
            signature=clean_line(shown[: self._limits.max_line_chars].decode("utf-8", "replace")),
            language=file.language,
            symbol=around.qualified_name if around is not None else "",
            score=score,
            drifted=text is None or (text.size, text.mtime_ns, text.inode) != (file.size, file.mtime_ns, file.inode),
        )


@lru_cache(maxsize=65_536)
def _split_name(name: str) -> tuple[str, tuple[str, ...]]:
    return fold(name), tuple(word_parts(name))
