"""From a question to weighted terms: which of its words say what is looked for, and how much.

**Invariant**: looks at the text alone, never at an index, and in one pass; words and parts are split by the
indexer's rules, so both sides agree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from sightline_core.limits import Limits
from sightline_indexer.words import fold, word_parts

# Words of grammar: they say how things relate, not which things.
_STOP = frozenset(
    (  # noqa: SIM905
        "a about above after again against all also although am an and any anyway are aren as at be because "
        "been before being below between both but by can cannot could couldn d did didn do does doesn doing "
        "don done down during each either else etc even ever every few for from further get gets getting give "
        "given go goes going gone got had hadn has hasn have haven having he hello her here hers hi him his "
        "how however i if in instead into is isn it its itself just let like ll made make makes making many "
        "may maybe me might more most much must my need needed needs never no nor not now of off ok on once "
        "one only onto or other our out over own per please put rather re really s said same say see seem "
        "seems shall should shouldn since so some something still such sure t take than thank thanks that the "
        "their them then there therefore these they thing things this those though through thus to too "
        "towards try trying two under until up upon us use used uses using ve very via want wants was wasn "
        "way we well were weren what whatever when whenever where whether which while who whole whose why "
        "will with within without won would wouldn yes yet you your "
    ).split()
)
# Words about the request rather than about the code.
_REQUEST = frozenset(
    (  # noqa: SIM905
        "add added adding adds allow allowed allows apply behave behavior behaviour better break breaks "
        "broken bug bugs change changed changes cleanup consider correct correctly currently deprecate enable "
        "ensure example expect expected expects explicit fail failed failing fails feature fix fixed fixes "
        "fixing following happen happens implement implemented improve improved improvement incorrect "
        "incorrectly introduce introduced issue issues less minor missing move new possible prevent problem "
        "properly refactor refactored remove removed removes rename replace reproduce request respect return "
        "returned returning returns revert run running simplify stop support supported supports tweak unable "
        "unexpected unexpectedly unnecessary update updated updates work working works wrong wrongly "
    ).split()
)
_TOKEN = re.compile(r"[\w$]+(?:[-.:#/\\>]+[\w$]+)*\(?")
_WORD = re.compile(r"\w+")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_URL = re.compile(r"\b(?:https?|ftp|git|ssh)://[^\s)>\]\"']+")
_SPAN = re.compile(r"`+([^`\n]+)`+")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s|[*_]{2}[^*_]+[*_]{2}:?\s*$)")
_CHECKBOX = re.compile(r"^\s*[-*+]\s*\[[ xX]\]")
_HEX = re.compile(r"(?:0x)?[0-9a-f]{7,}")
_TICKET = re.compile(r"#\d+|\bGH-\d+\b")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]")

_TITLE = 3.0
_PROSE = 1.0
_CODE_BLOCK = 0.4
_HEADER_LINE = 0.25
_CHECKBOX_LINE = 0.05
_IDENTIFIER = 1.5
_REQUEST_WORD = 0.5
_NUMBER = 0.3


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question in the form of the index.

    `parts` are those of a compound word; `is_code` when it was written like an identifier.
    """

    word: str
    weight: float
    parts: tuple[str, ...] = ()
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a question, heaviest first, and the pairs of words that stand next to each other in its title."""

    terms: tuple[Term, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    cut: bool = False


class _Tally:
    """What was seen of one word."""

    __slots__ = ("count", "first", "is_code", "parts", "weight")

    def __init__(self, first: int, parts: tuple[str, ...]) -> None:
        self.first = first
        self.parts = parts
        self.weight = 0.0
        self.count = 0
        self.is_code = False


def weigh_terms(text: str, limits: Limits) -> Terms:
    """The terms of a question or of a whole issue; the first line counts as its title."""
    tallies: dict[str, _Tally] = {}
    seen = 0
    lines = list(_lines(_COMMENT.sub(" ", text)))
    for line, base in lines:
        for word, is_code in _words(line):
            seen += 1
            key = fold(word)
            tally = tallies.get(key)
            if tally is None:
                if len(tallies) >= limits.max_weighed_words:
                    continue
                tally = tallies[key] = _Tally(seen, tuple(word_parts(word)))
            tally.count += 1
            tally.weight = max(tally.weight, base * (_IDENTIFIER if is_code else 1.0))
            tally.is_code = tally.is_code or is_code
    return _ranked(tallies, lines[0][0] if lines else "", limits)


def _ranked(tallies: dict[str, _Tally], title: str, limits: Limits) -> Terms:
    telling = {word: tally for word, tally in tallies.items() if word not in _STOP and _is_telling(word)}
    if not telling:
        telling = tallies
    terms = [
        Term(word, _weight(word, tally), tally.parts, tally.is_code)
        for word, tally in sorted(telling.items(), key=lambda item: item[1].first)
    ]
    terms.sort(key=lambda term: -term.weight)
    bound = limits.max_query_terms
    return Terms(tuple(terms[:bound]), tuple(_pairs(title, limits)), len(terms) > bound)


def _weight(word: str, tally: _Tally) -> float:
    weight = tally.weight * (1.0 + 0.5 * math.log(tally.count))
    if word in _REQUEST and not tally.is_code:
        weight *= _REQUEST_WORD
    if word[0].isdigit():
        weight *= _NUMBER
    return weight


def _is_telling(word: str) -> bool:
    return (len(word) > 1 or not word.isascii()) and not _HEX.fullmatch(word)


def _pairs(title: str, limits: Limits) -> Iterator[tuple[str, str]]:
    words = [fold(word) for word, _ in _words(title)][: limits.max_query_terms]
    for left, right in pairwise(words):
        if left not in _STOP and right not in _STOP and left.isalpha() and right.isalpha():
            yield left, right


def _lines(text: str) -> Iterator[tuple[str, float]]:
    """The lines with their weight."""
    fenced = False
    all_lines = [line for line in text.splitlines() if line.strip()]
    for number, line in enumerate(all_lines):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if number == 0:
            yield line, _TITLE if len(all_lines) > 1 else _PROSE
        elif fenced:
            yield line, _CODE_BLOCK
        elif _CHECKBOX.match(line):
            yield line, _CHECKBOX_LINE
        elif _HEADING.match(line):
            yield line, _HEADER_LINE
        else:
            yield line, _PROSE


def _words(line: str) -> Iterator[tuple[str, bool]]:
    line = _TICKET.sub(" ", _URL.sub(" ", line))
    spans = [match.span(1) for match in _SPAN.finditer(line)]
    for match in _TOKEN.finditer(line):
        token = match.group()
        in_span = any(start <= match.start() < end for start, end in spans)
        called = token.endswith("(")
        for word in _WORD.findall(token):
            yield word, in_span or called or looks_like_code(word)


def looks_like_code(word: str) -> bool:
    """Whether a word is written as prose never is: `snake_case`, `camelCase`, `HTTPServer`."""
    return ("_" in word.strip("_") and len(word) > 2) or _CAMEL.search(word) is not None
