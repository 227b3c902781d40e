"""From weighted terms to queries of the text index.

**Invariant**: queries are built from terms, never by a query parser: caller text cannot nest, escape or explode.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import tantivy

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_indexer import schema
from sightline_indexer.store import Snapshot
from sightline_search.model import Filters
from sightline_search.path_globs import glob_expression
from sightline_search.terms import Term, Terms
from sightline_search.word_forms import word_forms


@dataclass(frozen=True, slots=True)
class Weights:
    """How much a term counts by the field it is found in; found by measuring, not by theory."""

    content: float = 1.0
    parts: float = 0.8
    path: float = 1.5
    symbols: float = 1.0
    docs: float = 0.5
    names: float = 0.8
    part_of_term: float = 0.35
    form: float = 0.8
    pair: float = 1.0
    tie: float = 0.5


DEFAULT_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Plan:
    """What to ask the text index; `query` is None when no term is in it. `cut` when terms were left out."""

    query: tantivy.Query | None
    terms: tuple[Term, ...]
    cut: bool = False


class Planner:
    """Builds queries for one snapshot."""

    def __init__(
        self,
        snapshot: Snapshot,
        limits: Limits,
        weights: Weights = DEFAULT_WEIGHTS,
    ) -> None:
        self._frequency = snapshot.frequency
        self._files = snapshot.searcher.num_docs
        self._schema = snapshot.schema
        self._limits = limits
        self._weights = weights
        self._boosts = (
            (schema.CONTENT, weights.content),
            (schema.PARTS, weights.parts),
            (schema.PATH, weights.path),
            (schema.SYMBOLS, weights.symbols),
            (schema.DOCS, weights.docs),
            (schema.NAMES, weights.names),
        )

    def plan(self, terms: Terms, fields: frozenset[str] | None = None) -> Plan:
        """The ranked query of some terms; with `fields` only what these contribute."""
        kept = self._most_telling(terms.terms)
        clauses = [clause for term in kept for clause in self._term(term, fields)]
        clauses.extend(self._pairs(terms.pairs, fields))
        query = any_of(clauses) if clauses else None
        return Plan(query, kept, terms.cut or len(kept) < len(terms.terms))

    def _most_telling(self, terms: tuple[Term, ...]) -> tuple[Term, ...]:
        bound = self._limits.max_ranked_terms
        if len(terms) <= bound:
            return terms
        scored = sorted(terms, key=lambda term: -term.weight * self._rarity(term))
        return tuple(scored[:bound])

    def _rarity(self, term: Term) -> float:
        files = max(self._frequency(schema.CONTENT, term.word), self._frequency(schema.PARTS, term.word))
        if not files and not term.parts:
            return 0.0
        return math.log(1.0 + self._files / (1.0 + files))

    def _term(self, term: Term, fields: frozenset[str] | None) -> list[tantivy.Query]:
        """One clause a word, so that finding a word in one more field never outweighs finding another word."""
        queries = self._word(term.word, term.weight, fields, whole=True)
        if not term.is_code and not term.parts:
            for form in filter(self._is_known, word_forms(term.word)):
                queries.extend(self._word(form, term.weight * self._weights.form, fields, whole=False))
        groups = [queries]
        for part in term.parts:
            groups.append(self._word(part, term.weight * self._weights.part_of_term, fields, whole=False))
        return [best_of(group, self._weights.tie) for group in groups if group]

    def _word(self, word: str, weight: float, fields: frozenset[str] | None, *, whole: bool) -> list[tantivy.Query]:
        # The whole names of definitions are the last field.
        boosts = self._boosts if whole else self._boosts[:-1]
        return [
            self._boosted(field, word, weight * boost)
            for field, boost in boosts
            if boost > 0 and (fields is None or field in fields) and self._frequency(field, word)
        ]

    def _pairs(self, pairs: tuple[tuple[str, str], ...], fields: frozenset[str] | None) -> list[tantivy.Query]:
        """Two words that the code writes as one: `trusted proxies` is TrustedProxies or trusted_proxies."""
        queries: list[tantivy.Query] = []
        for left, right in pairs:
            for joined in (left + right, f"{left}_{right}"):
                queries.extend(self._word(joined, self._weights.pair, fields, whole=True))
        return queries

    def _boosted(self, field: str, word: str, boost: float) -> tantivy.Query:
        # Fields without positions refuse to be read with them.
        option = "freq" if field != schema.NAMES else "basic"
        return tantivy.Query.boost_query(tantivy.Query.term_query(self._schema, field, word, option), boost)

    def _is_known(self, word: str) -> bool:
        return bool(self._frequency(schema.CONTENT, word) or self._frequency(schema.PARTS, word))


def filter_query(
    filters: Filters, text_schema: tantivy.Schema, limits: Limits
) -> list[tuple[tantivy.Occur, tantivy.Query]]:
    """What results must and must not be, as clauses that add nothing to a score."""
    clauses: list[tuple[tantivy.Occur, tantivy.Query]] = []
    if filters.language:
        clauses.append((tantivy.Occur.Must, _silent(term_query(text_schema, schema.LANGUAGE, filters.language))))
    if not filters.include_tests:
        clauses.append((tantivy.Occur.MustNot, term_query(text_schema, schema.MARKS, "test")))
    if filters.paths:
        keys = [_key_query(glob, text_schema, limits) for glob in filters.paths]
        clauses.append((tantivy.Occur.Must, _silent(any_of(keys))))
    clauses.extend((tantivy.Occur.MustNot, _key_query(glob, text_schema, limits)) for glob in filters.exclude)
    return clauses


def _key_query(glob: str, text_schema: tantivy.Schema, limits: Limits) -> tantivy.Query:
    try:
        return tantivy.Query.regex_query(text_schema, schema.KEY, glob_expression(glob, limits))
    except ValueError:
        raise SightlineError(
            ErrorCode.INVALID_INPUT, "The path pattern is too complex.", hint="Use fewer wildcards or alternatives."
        ) from None


def with_filters(query: tantivy.Query, clauses: list[tuple[tantivy.Occur, tantivy.Query]]) -> tantivy.Query:
    """A ranked query that only finds what the filters let through."""
    if not clauses:
        return query
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), *clauses])


def best_of(queries: list[tantivy.Query], tie: float) -> tantivy.Query:
    """What at least one query finds: the best score, and a share of the others."""
    return queries[0] if len(queries) == 1 else tantivy.Query.disjunction_max_query(queries, tie)


def any_of(queries: list[tantivy.Query]) -> tantivy.Query:
    """What at least one query finds, scores added."""
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def term_query(text_schema: tantivy.Schema, field: str, word: str) -> tantivy.Query:
    """Files with one term in a field."""
    return tantivy.Query.term_query(text_schema, field, word, "basic")


def _silent(query: tantivy.Query) -> tantivy.Query:
    return tantivy.Query.const_score_query(query, 0.0)
