"""From a literal text to the files that may hold it, by words.

**Invariant**: never misses a file. What the index knows about a literal is that its inner words are whole words of
the file, and that the word pieces at its ends begin or end a word; each of these narrows, and what cannot narrow is
left out. Files with words too long to be indexed are always candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def candidate_query(
    all_of: Sequence[Sequence[str]], text_schema: tantivy.Schema, vocabulary: Vocabulary, limits: Limits
) -> tantivy.Query | None:
    """A query for files that may hold at least one literal of every group; None when nothing narrows."""
    groups = [_any_query(group, text_schema, vocabulary, limits) for group in all_of]
    narrowing = [query for query in groups if query is not None]
    if not narrowing:
        return None
    long_words = tantivy.Query.term_query(text_schema, schema.MARKS, schema.LONG_WORD)
    return _any([_all(narrowing), long_words])


def _any_query(
    literals: Sequence[str], text_schema: tantivy.Schema, vocabulary: Vocabulary, limits: Limits
) -> tantivy.Query | None:
    queries: list[tantivy.Query] = []
    for literal in literals:
        query = _literal_query(literal, text_schema, vocabulary, limits)
        if query is None:
            return None
        queries.append(query)
    return _any(queries) if queries else None


def _literal_query(
    literal: str, text_schema: tantivy.Schema, vocabulary: Vocabulary, limits: Limits
) -> tantivy.Query | None:
    pieces = _pieces(literal)[: limits.max_query_words]
    queries: list[tantivy.Query] = []
    inner = [piece.word for piece in pieces if not piece.open_start and not piece.open_end]
    if any(len(word.encode()) > limits.max_word_bytes for word in inner):
        # Only a file with words too long for the index can hold it, and those are added to every answer.
        return tantivy.Query.empty_query()
    if len(inner) > 1:
        queries.append(tantivy.Query.phrase_query(text_schema, schema.CONTENT, list(inner)))
    elif inner:
        queries.append(tantivy.Query.term_query(text_schema, schema.CONTENT, inner[0]))
    for piece in pieces:
        if piece.open_start or piece.open_end:
            words = vocabulary.words_with(piece.word.encode(), _edge(piece), limits.max_word_expansions)
            if words is not None:
                queries.append(_word_set(words, text_schema))
    return _all(queries) if queries else None


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
