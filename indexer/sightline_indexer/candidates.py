"""From a literal text to the files that may hold it, by words.

**Invariant**: never misses a file. What the index knows about a literal is that its inner words are whole words of
the file, and that the word pieces at its ends begin or end a word; each of these narrows, and what cannot narrow is
left out. Files with words too long to be indexed are always candidates.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import tantivy

from sightline_core.limits import Limits
from sightline_indexer import schema
from sightline_indexer.vocabulary import Edge, Vocabulary
from sightline_indexer.words import fold, is_word_character, split_words


@dataclass(frozen=True, slots=True)
class _Piece:
    """A word of a literal, and where its ends may lie inside a longer word of the file."""

    word: str
    open_start: bool
    open_end: bool


@dataclass(frozen=True, slots=True)
class _Narrowed:
    """A query, and a bound on the files it finds."""

    query: tantivy.Query
    files: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """What literals are looked up with; `frequency` tells how many files hold a word."""

    schema: tantivy.Schema
    vocabulary: Vocabulary
    frequency: Callable[[str], int]
    limits: Limits


def candidate_query(all_of: Sequence[Sequence[str]], lookup: Lookup) -> tantivy.Query | None:
    """A query for files that may hold at least one literal of every group; None when nothing narrows.

    What comes after a group that few files can hold is not looked up: reading them costs less.
    """
    narrowing: list[tantivy.Query] = []
    for group in all_of:
        found = _any_query(group, lookup)
        if found is not None:
            narrowing.append(found.query)
            if found.files <= lookup.limits.few_candidate_files:
                break
    if not narrowing:
        return None
    long_words = tantivy.Query.term_query(lookup.schema, schema.MARKS, schema.LONG_WORD)
    return _any([_all(narrowing), long_words])


def _any_query(literals: Sequence[str], lookup: Lookup) -> _Narrowed | None:
    found: list[_Narrowed] = []
    for literal in literals:
        narrowed = _literal_query(literal, lookup)
        if narrowed is None:
            return None
        found.append(narrowed)
    if not found:
        return None
    return _Narrowed(_any([item.query for item in found]), sum(item.files for item in found))


def _literal_query(literal: str, lookup: Lookup) -> _Narrowed | None:
    limits = lookup.limits
    pieces = _pieces(literal)[: limits.max_query_words]
    inner = [piece.word for piece in pieces if not piece.open_start and not piece.open_end]
    if any(len(word.encode()) > limits.max_word_bytes for word in inner):
        # Only a file with words too long for the index can hold it, and those are added to every answer.
        return _Narrowed(tantivy.Query.empty_query(), 0)
    queries = [
        tantivy.Query.term_query(lookup.schema, schema.CONTENT, word, index_option="basic")
        for word in dict.fromkeys(inner)
    ]
    files = min(map(lookup.frequency, inner), default=sys.maxsize)
    # The longest piece is the one that fewest words hold.
    edges = sorted((piece for piece in pieces if piece.open_start or piece.open_end), key=lambda p: -len(p.word))
    for piece in edges:
        if files <= limits.few_candidate_files:
            break
        words = lookup.vocabulary.words_with(piece.word.encode(), _edge(piece), limits.max_word_expansions)
        if words is None:
            continue
        queries.append(_word_set(words, lookup.schema))
        if len(words) <= limits.few_candidate_files:
            files = min(files, sum(lookup.frequency(word.decode()) for word in words))
    return _Narrowed(_all(queries), files) if queries else None


def _word_set(words: list[bytes], text_schema: tantivy.Schema) -> tantivy.Query:
    if not words:
        return tantivy.Query.empty_query()
    return tantivy.Query.term_set_query(text_schema, schema.CONTENT, [word.decode() for word in words])


def _pieces(literal: str) -> list[_Piece]:
    words = [fold(word) for word in split_words(literal)]
    if not words:
        return []
    open_start = is_word_character(literal[0])
    open_end = is_word_character(literal[-1])
    last = len(words) - 1
    return [_Piece(word, open_start and at == 0, open_end and at == last) for at, word in enumerate(words)]


def _edge(piece: _Piece) -> Edge:
    if piece.open_start and piece.open_end:
        return Edge.ANYWHERE
    return Edge.END if piece.open_start else Edge.START


def _all(queries: list[tantivy.Query]) -> tantivy.Query:
    if len(queries) == 1:
        return queries[0]
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])


def _any(queries: list[tantivy.Query]) -> tantivy.Query:
    if len(queries) == 1:
        return queries[0]
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])
