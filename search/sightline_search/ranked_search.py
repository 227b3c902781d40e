"""Ranked search: files by what the text index says of a question, each pointing at its best place.

**Invariant**: one result a file, so that no file floods a page; the order is made from the index alone and files are
read only for the page that is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import tantivy

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.text import clean_line
from sightline_indexer import schema
from sightline_indexer.records import FileRecord, SymbolRecord
from sightline_indexer.store import Snapshot
from sightline_indexer.words import fold, word_parts
from sightline_search.best_place import find_best_place, search_words
from sightline_search.locate import symbol_hit
from sightline_search.model import Hit
from sightline_search.plan import Plan, Planner, filter_query, phrase_query, with_filters
from sightline_search.query import Query
from sightline_search.rank import Preference, RankedFile, rank_files
from sightline_search.terms import Term, Terms
from sightline_search.tree_reader import FileText, TreeReader

_FIELDS = (schema.CONTENT, schema.PARTS, schema.PATH, schema.SYMBOLS, schema.DOCS, schema.NAMES)
# What a file counts more when the question itself names it.
_MENTIONED = 2.0
# From which share of a question's weight on the name of a definition is a better answer than a line.
_NAME_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Ranking:
    """The files for a question, best first, and what they were found by."""

    files: tuple[RankedFile, ...]
    terms: tuple[Term, ...]
    plan: Plan | None = None
    missing_phrases: tuple[str, ...] = ()


def rank_for(
    snapshot: Snapshot, query: Query, limits: Limits, mentioned: Sequence[FileRecord] = (), terms: Terms | None = None
) -> Ranking:
    """The files for a question; those that it mentions count more."""
    planner = Planner(snapshot.searcher, snapshot.schema, limits)
    plan = planner.plan(terms or query.terms)
    if plan.query is None:
        return Ranking((), plan.terms, plan)
    clauses = filter_query(query.filters, snapshot.schema, limits)
    phrases, missing = _phrases(snapshot, query, limits)
    clauses.extend((tantivy.Occur.Must, phrase) for phrase in phrases)
    hits = snapshot.searcher.search(with_filters(plan.query, clauses), limits.max_ranked_files, count=False).hits
    file_ids = snapshot.file_ids([address for _, address in hits])
    files = snapshot.files_by_id(file_ids)
    found = [(float(hit[0]), files[file_id]) for hit, file_id in zip(hits, file_ids, strict=True) if file_id in files]
    ranked = rank_files(found, Preference(tests=query.about_tests, any_kind=bool(query.filters.paths)))
    return Ranking(tuple(_with_mentions(ranked, mentioned)), plan.terms, plan, missing)


def explain_parts(
    snapshot: Snapshot, terms: Terms, files: Sequence[FileRecord], limits: Limits
) -> dict[int, dict[str, float]]:
    """For each file what each field of the index alone would give it."""
    if not files:
        return {}
    planner = Planner(snapshot.searcher, snapshot.schema, limits)
    keys = tantivy.Query.term_set_query(snapshot.schema, schema.KEY, [file.path for file in files])
    only = (tantivy.Occur.Must, tantivy.Query.const_score_query(keys, 0.0))
    parts: dict[int, dict[str, float]] = {file.file_id: {} for file in files}
    for field in _FIELDS:
        query = planner.plan(terms, frozenset({field})).query
        if query is None:
            continue
        hits = snapshot.searcher.search(with_filters(query, [only]), len(files), count=False).hits
        file_ids = snapshot.file_ids([address for _, address in hits])
        for hit, file_id in zip(hits, file_ids, strict=True):
            if file_id in parts:
                parts[file_id][f"field_{field}"] = round(float(hit[0]), 4)
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
        self._total = sum(term.weight for term in terms) or 1.0

    def close(self) -> None:
        """Let go of the directories."""
        self._reader.close()

    def hit(self, ranked: RankedFile) -> Hit | None:
        """The result for a file; None when it has no definition of the kind that is asked for."""
        file = ranked.file
        symbol = self._best_symbol(file) if file.symbol_count else None
        if symbol is not None:
            record = self._snapshot.with_texts([symbol])[0]
            return symbol_hit(record, ranked.score, dict(ranked.parts))
        if self._kind is not None:
            return None
        return self.text_hit(ranked)

    def matches(self, file: FileRecord) -> int:
        """How often the words of the question stand in a file, counted up to a bound a word."""
        text = self._reader.read(file.path)
        place = find_best_place(text.data, self._words, self._limits) if text is not None else None
        return place.matches if place is not None else 0

    def _best_symbol(self, file: FileRecord) -> SymbolRecord | None:
        best: SymbolRecord | None = None
        best_score = 0.0 if self._kind is not None else self._total * _NAME_SHARE
        for record in self._snapshot.symbols_in(file, texts=False):
            if self._kind is not None and record.symbol.kind is not self._kind:
                continue
            score = self._name_score(record.symbol.name)
            if score > best_score or (best is None and self._kind is not None):
                best, best_score = record, score
        return best

    def _name_score(self, name: str) -> float:
        whole = self._weights.get(fold(name))
        if whole is not None:
            return whole
        parts = word_parts(name)
        if not parts:
            return 0.0
        held = sum(self._weights.get(part, 0.0) for part in set(parts))
        # A name that says more than was asked for is a little less what was asked for.
        return held * (0.7 + 0.3 * sum(part in self._weights for part in parts) / len(parts))

    def text_hit(self, ranked: RankedFile) -> Hit:
        """The best line of a file."""
        text = self._reader.read(ranked.file.path)
        place = find_best_place(text.data, self._words, self._limits) if text is not None else None
        line, shown = (place.line, place.text) if place is not None else (1, b"")
        hit = self._line_hit(ranked.file, line, shown, text)
        return replace(hit, score=ranked.score, parts=dict(ranked.parts))

    def frame_hit(self, file: FileRecord, line: int, score: float) -> Hit:
        """A line that a text refers to."""
        text = self._reader.read(file.path)
        lines = text.data.split(b"\n") if text is not None else []
        shown = lines[line - 1] if line <= len(lines) else b""
        return replace(self._line_hit(file, line, shown, text), score=score, parts={"reference": score})

    def _line_hit(self, file: FileRecord, line: int, shown: bytes, text: FileText | None) -> Hit:
        around = self._snapshot.symbol_around(file.file_id, line)
        return Hit(
            path=file.path,
            line=line,
            end_line=line,
            kind="text",
            name=file.path.rsplit("/", 1)[-1],
            signature=clean_line(shown[: self._limits.max_line_chars].decode("utf-8", "replace")),
            language=file.language,
            symbol=around.qualified_name if around is not None else "",
            drifted=text is None or (text.size, text.mtime_ns, text.inode) != (file.size, file.mtime_ns, file.inode),
        )


def _phrases(snapshot: Snapshot, query: Query, limits: Limits) -> tuple[list[tantivy.Query], tuple[str, ...]]:
    """Queries for the phrases that some file holds, and the phrases that none does."""
    required: list[tantivy.Query] = []
    missing: list[str] = []
    for phrase in query.phrases:
        wanted = phrase_query(phrase, snapshot.schema, limits)
        if wanted is None:
            continue
        if snapshot.searcher.search(wanted, 1, count=False).hits:
            required.append(tantivy.Query.const_score_query(wanted, 0.0))
        else:
            missing.append(phrase)
    return required, tuple(missing)


def _with_mentions(ranked: list[RankedFile], mentioned: Sequence[FileRecord]) -> list[RankedFile]:
    if not mentioned or not ranked:
        return ranked
    named = {file.file_id: file for file in mentioned}
    boosted = [
        replace(item, score=item.score * _MENTIONED, parts={**item.parts, "mentioned": _MENTIONED})
        if item.file.file_id in named
        else item
        for item in ranked
    ]
    boosted.sort(key=lambda item: (-item.score, item.file.path))
    return boosted
