"""From a regular expression to texts that every match must hold, so that the index can narrow a search.

**Invariant**: never claims too much. Whatever the expression matches holds one text of every group, in the sense of
the index: case is folded, and one space stands for any run of characters that are no part of a word, and for the
ends of a line. What this module does not understand requires nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import product

from sightline_core.limits import Limits
from sightline_indexer.words import fold, is_word_character
from sightline_search.regex_syntax import (
    Alternation,
    CharSet,
    Concatenation,
    Empty,
    LineEdge,
    Node,
    Repetition,
    Unknown,
    parse_pattern,
)

Texts = frozenset[str]
_EMPTY: Texts = frozenset({""})


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of the texts that a part of an expression matches.

    `exact` are all of them, None when they are too many to list; otherwise each begins with one of `starts`, ends
    with one of `ends`, and holds one of every group of `groups`.
    """

    exact: Texts | None
    starts: Texts
    ends: Texts
    groups: frozenset[Texts] = frozenset()


_ANYTHING = _Facts(None, _EMPTY, _EMPTY)


def required_literals(pattern: str, limits: Limits) -> tuple[tuple[str, ...], ...]:
    """Groups of texts of which every match holds at least one each; empty when nothing is required."""
    tree = parse_pattern(pattern, limits.max_regex_depth)
    if tree is None:
        return ()
    facts = _Analysis(limits).facts(tree)
    groups = set(facts.groups)
    for texts in (facts.exact,) if facts.exact is not None else (facts.starts, facts.ends):
        if _is_useful(texts):
            groups.add(texts)
    telling = {group for group in groups if _selectivity(group)[0] >= limits.min_regex_text_chars}
    ranked = sorted(_without_weaker(telling), key=lambda group: (_selectivity(group), sorted(group)), reverse=True)
    return tuple(tuple(sorted(group)) for group in ranked[: limits.max_regex_groups])


def normalise(text: str) -> str:
    """A text as the index sees it: folded, with one space for every run of other characters."""
    shown = "".join(fold(character) if is_word_character(character) else " " for character in text)
    return _collapse(shown)


class _Analysis:
    """Computes facts bottom-up, keeping every set small."""

    def __init__(self, limits: Limits) -> None:
        self._max_texts = limits.max_regex_texts
        self._max_chars = limits.max_regex_text_chars
        self._max_groups = limits.max_regex_groups

    def facts(self, node: Node) -> _Facts:
        """The facts of a node."""
        match node:
            case Empty():
                return _exactly(_EMPTY)
            case LineEdge():
                # Beyond the edge lies a line break or nothing, and both end a word.
                return _exactly(frozenset({" "}))
            case CharSet():
                return self._characters(node)
            case Concatenation():
                return reduce(self._join, map(self.facts, node.parts), _exactly(_EMPTY))
            case Alternation():
                return reduce(self._either, map(self.facts, node.options))
            case Repetition():
                return self._repeated(node)
            case Unknown():
                return _ANYTHING

    def _characters(self, node: CharSet) -> _Facts:
        if node.characters is None:
            return _ANYTHING
        texts = frozenset(map(normalise, node.characters))
        return _exactly(texts) if len(texts) <= self._max_texts else _ANYTHING

    def _join(self, left: _Facts, right: _Facts) -> _Facts:
        if left.exact is not None and right.exact is not None:
            exact = self._cross(left.exact, right.exact)
            if exact is not None:
                return _exactly(exact)
        groups = {*left.groups, *right.groups}
        border = self._cross(left.ends, right.starts)
        for texts in (left.ends, right.starts) if border is None else (border,):
            if _is_useful(texts):
                groups.add(texts)
        starts = left.starts if left.exact is None else self._cross(left.exact, right.starts) or left.starts
        ends = right.ends if right.exact is None else self._cross(left.ends, right.exact) or right.ends
        return _Facts(None, starts, ends, self._best(groups))

    def _either(self, left: _Facts, right: _Facts) -> _Facts:
        if left.exact is not None and right.exact is not None:
            exact = left.exact | right.exact
            if len(exact) <= self._max_texts:
                return _exactly(exact)
        pairs = product(_all_groups(left), _all_groups(right))
        groups = {one | other for one, other in pairs if len(one | other) <= self._max_texts}
        return _Facts(
            None, self._union(left.starts, right.starts), self._union(left.ends, right.ends), self._best(groups)
        )

    def _repeated(self, node: Repetition) -> _Facts:
        inner = self.facts(node.part)
        if inner.exact is not None and inner.exact <= {" ", ""}:
            # A run of separators looks like one of them.
            return _exactly(inner.exact if node.least > 0 else inner.exact | _EMPTY)
        if node.most == 0:
            return _exactly(_EMPTY)
        if node.least == 0:
            if node.most == 1 and inner.exact is not None:
                return self._either(_exactly(_EMPTY), inner)
            return _ANYTHING
        copies = min(node.least, self._max_texts)
        several = reduce(self._join, [inner] * copies)
        if node.least == node.most == copies:
            return several
        starts, ends = several.starts, several.ends
        return _Facts(None, starts, ends, self._best({*_all_groups(several)}))

    def _cross(self, left: Texts, right: Texts) -> Texts | None:
        if len(left) * len(right) > self._max_texts:
            return None
        texts = frozenset(_collapse(one + other) for one, other in product(left, right))
        return texts if all(len(text) <= self._max_chars for text in texts) else None

    def _union(self, left: Texts, right: Texts) -> Texts:
        texts = left | right
        return texts if len(texts) <= self._max_texts and "" not in texts else _EMPTY

    def _best(self, groups: Iterable[Texts]) -> frozenset[Texts]:
        useful = [group for group in groups if _is_useful(group)]
        useful.sort(key=lambda group: (_selectivity(group), sorted(group)), reverse=True)
        return frozenset(useful[: self._max_groups])


def _exactly(texts: Texts) -> _Facts:
    return _Facts(texts, texts, texts)


def _all_groups(facts: _Facts) -> list[Texts]:
    if facts.exact is not None:
        return [facts.exact] if _is_useful(facts.exact) else []
    return [group for group in (*facts.groups, facts.starts, facts.ends) if _is_useful(group)]


def _is_useful(texts: Texts) -> bool:
    return bool(texts) and all(text.strip() for text in texts)


def _selectivity(texts: Texts) -> tuple[int, int]:
    """Groups whose shortest text is long narrow most; among those, the ones with fewest texts."""
    return min(len(text.strip()) for text in texts), -len(texts)


def _without_weaker(groups: set[Texts]) -> list[Texts]:
    """Drop groups that follow from another one: each text of the stronger holds a text of the weaker."""

    def follows(weak: Texts, strong: Texts) -> bool:
        return weak != strong and all(any(part in text for part in weak) for text in strong)

    kept: list[Texts] = []
    for group in sorted(groups, key=lambda texts: (_selectivity(texts), sorted(texts)), reverse=True):
        if not any(follows(group, other) for other in kept):
            kept.append(group)
    return kept


def _collapse(text: str) -> str:
    while "  " in text:
        text = text.replace("  ", " ")
    return text
