"""The search itself: reads the query, asks what fits its kind, and gives a page.

**Invariant**: answers from one snapshot; what could not be answered is a note of the result, never a silence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.types import Note, SymbolKind
from sightline_indexer.catalogue import FileEntry
from sightline_indexer.definitions import DefinitionRow
from sightline_indexer.records import FileRecord
from sightline_indexer.store import Snapshot
from sightline_indexer.words import word_parts
from sightline_search.context_lines import with_lines
from sightline_search.cursor import decode_cursor, encode_cursor, question_key
from sightline_search.file_references import find_references
from sightline_search.intent import Reading, read_intent, read_path
from sightline_search.locate import holes_of, suggest_names, symbol_hit
from sightline_search.model import DetailLevel, FileCount, Hit, Intent, SearchMode, SearchOptions, SearchResult
from sightline_search.name_search import find_names
from sightline_search.names import SymbolName, parse_name
from sightline_search.path_search import find_paths, follow_references, suggest_paths
from sightline_search.phrases import PhraseFiles, find_phrases
from sightline_search.query import Query, parse_query
from sightline_search.rank import RankedFile, score_parts
from sightline_search.ranked_search import PlaceFinder, Ranking, explain_parts, rank_for
from sightline_search.scan import search_pattern
from sightline_search.terms import Term, Terms

# The greatest score of a use, so that it stays below every definition.
_USE = 1.0


@dataclass(frozen=True, slots=True)
class _Frame:
    """A line that a stack trace or a compiler names."""

    file: FileRecord
    line: int


_Entry = FileEntry | DefinitionRow | RankedFile | _Frame


@dataclass(frozen=True, slots=True)
class _Answer:
    """Everything found, in order, before it is cut to a page; `terms` point into the ranked files."""

    entries: Sequence[tuple[_Entry, float]]
    terms: Terms
    ranking: Ranking | None = None
    did_you_mean: tuple[str, ...] = ()
    cuts: tuple[Note, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class _Search:
    """What one search works with."""

    snapshot: Snapshot
    root: RepoRoot
    query: Query
    options: SearchOptions
    limits: Limits
    deadline: float


def search(
    snapshot: Snapshot, root: RepoRoot, query: str, options: SearchOptions, limits: Limits, deadline: float
) -> SearchResult:
    """The answer to one query; `deadline` is a reading of `time.monotonic`. Blocking. Raises `invalid_input`."""
    if options.mode in (SearchMode.LITERAL, SearchMode.REGEX):
        regex = options.mode is SearchMode.REGEX
        return search_pattern(snapshot, root, query, regex=regex, options=options, limits=limits, deadline=deadline)
    parsed = parse_query(query, options.filters, limits)
    work = _Search(snapshot, root, parsed, replace(options, filters=parsed.filters), limits, deadline)
    reading = _read(work)
    if reading.intent in (Intent.REGEX, Intent.LITERAL):
        found = _pattern(work, reading.subject, regex=reading.intent is Intent.REGEX)
        return replace(found, why=f"{reading.why}; {found.why}", notes=(*parsed.notes, *found.notes))
    key = question_key(parsed.text, options.mode, parsed.filters)
    offset = decode_cursor(options.cursor, snapshot.generation, key)
    answer = _ANSWERS[reading.intent](work, reading)
    if not answer.entries and options.mode is SearchMode.AUTO and reading.intent in (Intent.SYMBOL, Intent.PATH):
        return _occurrences(work, reading, answer)
    return _page(work, reading, answer, key, offset)


def _read(work: _Search) -> Reading:
    text = work.query.text
    mode = work.options.mode
    if mode is SearchMode.TEXT:
        return Reading(Intent.NATURAL_LANGUAGE, "mode=text")
    if mode is SearchMode.SYMBOL:
        return Reading(Intent.SYMBOL, "mode=symbol", text, parse_name(text))
    if mode is SearchMode.PATH or not text:
        path, line = read_path(text)
        return Reading(Intent.PATH, "mode=path" if text else "only filters were given", path, line=line)

    def is_defined(name: str) -> bool:
        snapshot = work.snapshot
        return bool(
            snapshot.rows_named(name, limit=1)
            or (name.islower() and snapshot.rows_named(name, match_case=False, limit=1))
        )

    return read_intent(text, is_defined)


# -- what each kind of query finds -------------------------------------------------------------


def _symbol(work: _Search, reading: Reading) -> _Answer:
    name = reading.name
    if name is None:
        return _Answer((), work.query.terms)
    filters = work.query.filters
    found = find_names(work.snapshot, name, filters, work.limits, alike=True)
    terms = _name_terms(name)
    if not found:
        return _Answer((), terms, did_you_mean=suggest_names(work.snapshot, name, work.limits))
    entries: list[tuple[_Entry, float]] = list(found)
    if work.options.mode is SearchMode.AUTO and filters.kind is None:
        entries.extend(_uses(work, terms, {row.path for row, _ in found}))
    return _Answer(entries, terms)


def _uses(work: _Search, terms: Terms, shown: set[str]) -> list[tuple[_Entry, float]]:
    """Files that use a name, below all definitions."""
    ranking = rank_for(work.snapshot, work.query, work.limits, terms=terms)
    uses = [item for item in ranking.files if item.file.path not in shown]
    return [(item, _USE * item.score / (item.score + _USE)) for item in uses]


def _path(work: _Search, reading: Reading) -> _Answer:
    text = reading.subject or "**"
    found = find_paths(work.snapshot, text, work.query.filters, work.limits)
    suggestions = () if found else suggest_paths(work.snapshot, text, work.limits)
    return _Answer([(entry, 1.0) for entry in found], work.query.terms, did_you_mean=suggestions)


def _error(work: _Search, reading: Reading) -> _Answer:
    """The files a trace names, innermost first, then what fits its words."""
    references = find_references(work.query.text, work.limits)
    followed = follow_references(work.snapshot, references, work.limits)
    if "most recent call last" in work.query.text:
        followed.reverse()
    phrases = _phrases(work)
    ranking = rank_for(
        work.snapshot, work.query, work.limits, [file for file, _ in followed], within=phrases.required
    )
    if reading.pasted_trace:
        frames: list[tuple[_Entry, float]] = [
            (_Frame(file, line), float(len(followed) - at)) for at, (file, line) in enumerate(followed) if line
        ]
        shown = {file.file_id for file, line in followed if line}
        rest = [
            (item, _USE * item.score / (item.score + _USE))
            for item in ranking.files
            if item.file.file_id not in shown
        ]
        notes = _phrase_notes(phrases)
        return _Answer([*frames, *rest], work.query.terms, ranking, cuts=phrases.cuts, notes=notes)
    return _ranked_answer(work, ranking, phrases)


def _question(work: _Search, reading: Reading) -> _Answer:
    references = find_references(work.query.text, work.limits)
    mentioned = follow_references(work.snapshot, references, work.limits)
    phrases = _phrases(work)
    ranking = rank_for(
        work.snapshot, work.query, work.limits, [file for file, _ in mentioned], within=phrases.required
    )
    return _ranked_answer(work, ranking, phrases)


_ANSWERS: dict[Intent, Callable[[_Search, Reading], _Answer]] = {
    Intent.SYMBOL: _symbol,
    Intent.PATH: _path,
    Intent.ERROR: _error,
    Intent.NATURAL_LANGUAGE: _question,
}


def _ranked_answer(work: _Search, ranking: Ranking, phrases: PhraseFiles) -> _Answer:
    entries: list[tuple[_Entry, float]] = [(item, item.score) for item in ranking.files]
    terms = replace(work.query.terms, terms=ranking.terms)
    return _Answer(entries, terms, ranking, cuts=phrases.cuts, notes=_phrase_notes(phrases))


def _phrases(work: _Search) -> PhraseFiles:
    return find_phrases(work.snapshot, work.root, work.query.phrases, work.limits, work.deadline)


def _phrase_notes(phrases: PhraseFiles) -> tuple[Note, ...]:
    return tuple(
        Note("phrase_not_found", f'No file holds "{phrase}"; its words were searched one by one.')
        for phrase in phrases.missing
    )


def _pattern(work: _Search, pattern: str, *, regex: bool) -> SearchResult:
    return search_pattern(
        work.snapshot,
        work.root,
        pattern,
        regex=regex,
        options=work.options,
        limits=work.limits,
        deadline=work.deadline,
    )


def _occurrences(work: _Search, reading: Reading, answer: _Answer) -> SearchResult:
    """The text as it was written, where nothing is defined or called by it."""
    written = reading.name.name if reading.name is not None else reading.subject or work.query.text
    found = _pattern(work, written, regex=False)
    why = f"{reading.why}, but nothing is called that; exact text occurrences instead"
    return replace(
        found,
        intent=reading.intent,
        why=why,
        did_you_mean=answer.did_you_mean,
        notes=(*work.query.notes, *found.notes),
    )


def _name_terms(name: SymbolName) -> Terms:
    parts = tuple(word_parts(name.name))
    return Terms((Term(name.name.casefold(), 1.0, parts, is_code=True),))


# -- from what was found to a page -------------------------------------------------------------


def _page(work: _Search, reading: Reading, answer: _Answer, key: str, offset: int) -> SearchResult:
    with closing(PlaceFinder(work.snapshot, work.root, work.query, answer.terms.terms, work.limits)) as places:
        hits, following = _hits(work, reading, answer, places, offset)
        counts = _counts(answer, hits, places) if work.options.count_only else ()
    shown: tuple[Hit, ...] = () if work.options.count_only else tuple(hits)
    if work.options.detail is DetailLevel.CONTEXT:
        shown = with_lines(shown, work.root, work.limits)
    generation = work.snapshot.generation
    return SearchResult(
        reading.intent,
        shown,
        why=reading.why,
        did_you_mean=answer.did_you_mean,
        total_candidates=len(answer.entries),
        next_cursor=encode_cursor(generation, key, following) if following < len(answer.entries) else "",
        counts=counts,
        cuts=answer.cuts,
        holes=holes_of(work.snapshot),
        notes=(*work.query.notes, *answer.notes),
    )


def _hits(
    work: _Search, reading: Reading, answer: _Answer, places: PlaceFinder, offset: int
) -> tuple[list[Hit], int]:
    """A page of results from `offset` on, and where the next one begins."""
    explained = _explained(work, answer, offset) if work.options.explain else {}
    page = [entry for entry, _ in answer.entries[offset : offset + work.options.limit]]
    work.snapshot.expect_definitions([entry.file.file_id for entry in page if isinstance(entry, RankedFile)])
    hits: list[Hit] = []
    at = offset
    while at < len(answer.entries) and len(hits) < work.options.limit:
        entry, score = answer.entries[at]
        at += 1
        hit = _hit(work, reading, entry, score, places)
        if hit is None:
            continue
        if isinstance(entry, RankedFile) and entry.file.file_id in explained:
            hit = replace(hit, parts=explained[entry.file.file_id])
        hits.append(hit)
    return hits, at


def _hit(work: _Search, reading: Reading, entry: _Entry, score: float, places: PlaceFinder) -> Hit | None:
    if isinstance(entry, RankedFile):
        hit = places.text_hit(entry) if reading.intent is Intent.SYMBOL else places.hit(entry)
        return hit if hit is None or hit.score == score else replace(hit, score=score)
    if isinstance(entry, DefinitionRow):
        texts = work.options.detail is not DetailLevel.LOCATION
        return symbol_hit(work.snapshot.definitions([entry], texts=texts)[0], score, {"name": score})
    if isinstance(entry, _Frame):
        return places.frame_hit(entry.file, entry.line, score)
    name = entry.path.rsplit("/", 1)[-1]
    line = reading.line or 1
    return Hit(entry.path, line, line, SymbolKind.FILE.value, name, language=entry.language, score=score)


def _explained(work: _Search, answer: _Answer, offset: int) -> dict[int, dict[str, float]]:
    """The score parts of the ranked files of a page."""
    page = answer.entries[offset : offset + work.options.limit]
    ranked = [entry for entry, _ in page if isinstance(entry, RankedFile)]
    ranking = answer.ranking or Ranking((), ())
    fields = explain_parts(work.snapshot, answer.terms, [item.file for item in ranked], work.limits)
    return {
        item.file.file_id: {
            **score_parts(item, ranking.preference, named=item.file.file_id in ranking.mentioned),
            **fields.get(item.file.file_id, {}),
        }
        for item in ranked
    }


def _counts(answer: _Answer, hits: list[Hit], places: PlaceFinder) -> tuple[FileCount, ...]:
    """How often the page's files hold what was asked for."""
    ranked = {entry.file.path: entry.file for entry, _ in answer.entries if isinstance(entry, RankedFile)}
    counts: dict[str, int] = {}
    for hit in hits:
        if hit.path in ranked and hit.path not in counts:
            counts[hit.path] = places.matches(ranked[hit.path])
        elif hit.path not in ranked:
            counts[hit.path] = counts.get(hit.path, 0) + 1
    return tuple(FileCount(path, matches) for path, matches in counts.items())
