"""Results made as small as their level of detail says, and as many as the budget allows.

**Invariant**: the estimate of what is kept never exceeds `max_tokens`, nor its bytes `max_bytes`; results are dropped
whole, from the end, and the cut is told.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from sightline_core.limits import Limits
from sightline_core.types import Note
from sightline_search.model import DetailLevel, Hit, SearchOptions, SearchResult, ShownLine
from sightline_search.snippet import cut_line, line_tokens
from sightline_search.tokens import estimate_tokens, typical_tokens

_slow_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_fast_encode = msgspec.json.Encoder().encode
_QUOTES = 2


def fit_result(found: SearchResult, options: SearchOptions, limits: Limits) -> SearchResult:
    """An answer whose results are within their level, the caller's tokens and the size of an answer."""
    kept, cuts = fit_hits(found.hits, options.detail, options.max_tokens, limits.max_structured_bytes, limits)
    near = () if found.hits else found.did_you_mean
    return replace(found, hits=kept, did_you_mean=near, cuts=(*found.cuts, *cuts))


def fit_hits(
    hits: Sequence[Hit], detail: DetailLevel, max_tokens: int | None, max_bytes: int, limits: Limits
) -> tuple[tuple[Hit, ...], tuple[Note, ...]]:
    """The first results that fit, each shaped to its level, and notes on what was cut."""
    kept: list[Hit] = []
    tokens = size = 0
    for hit in hits:
        shaped, text = _shaped(hit, detail, limits)
        tokens += estimate_tokens(text) if max_tokens is not None else 0
        size += len(text.encode("utf-8", "replace"))
        if max_tokens is not None and tokens > max_tokens:
            return tuple(kept), (_cut(len(kept), len(hits), "max_tokens", f"{max_tokens} tokens"),)
        if size > max_bytes:
            return tuple(kept), (_cut(len(kept), len(hits), "size_limit", f"{max_bytes} bytes"),)
        kept.append(shaped)
    return tuple(kept), ()


def shape_hit(hit: Hit, detail: DetailLevel, limits: Limits) -> Hit:
    """The result with only the fields of its level, long texts shortened to keep it within the level's tokens.

    A path is never shortened, because then it would name nothing; a very long one alone may exceed the level.
    """
    return _shaped(hit, detail, limits)[0]


def _shaped(hit: Hit, detail: DetailLevel, limits: Limits) -> tuple[Hit, str]:
    """The result at its level, and the text that stands in for it."""
    name = _shown_name(hit, limits)
    if detail is DetailLevel.LOCATION:
        shaped = replace(hit, name=name, qualified_name="", signature="", container="", lines=())
        return shaped, wire_text(shaped, detail)
    shaped = hit if name == hit.name and not hit.lines else replace(hit, name=name, lines=())
    text = wire_text(shaped, detail)
    if hit.parts or typical_tokens(text) > limits.signature_tokens:
        spare = limits.signature_tokens - typical_tokens(_bare_text(shaped))
        shaped = replace(shaped, signature=_shorten(hit.signature, hit, spare))
        text = wire_text(shaped, detail)
    if detail is DetailLevel.SIGNATURE:
        return shaped, text
    shaped = replace(shaped, lines=_fit_lines(hit.lines, hit, limits.context_tokens - typical_tokens(text)))
    return shaped, wire_text(shaped, detail)


def _shown_name(hit: Hit, limits: Limits) -> str:
    name = cut_line(hit.name, 1, 1, limits.max_name_chars)
    # No text takes more tokens than it has bytes, and most names are short.
    if name.isascii() and len(name) + _QUOTES <= limits.name_tokens:
        return name
    return _shorten(name, hit, limits.name_tokens)


def _bare_text(hit: Hit) -> str:
    """What a result takes without its signature; the parts of its score are asked for on top of any level."""
    return wire_text(replace(hit, signature="", parts={}), DetailLevel.SIGNATURE)


def wire_text(hit: Hit, detail: DetailLevel) -> str:
    """A stand-in for the result on the wire: the same values under names of the same length."""
    value: dict[str, object] = {
        "path": hit.path,
        "line": hit.line,
        "end_line": hit.end_line,
        "kind": hit.kind,
        "name": hit.name,
        "provenance": hit.provenance,
    }
    if hit.drifted:
        value["drifted"] = True
    if detail is not DetailLevel.LOCATION:
        optional = {
            "column": hit.column,
            "end_column": hit.end_column,
            "qualified_name": hit.qualified_name,
            "signature": hit.signature,
            "language": hit.language,
            "container": hit.container,
            "symbol": hit.symbol,
            "score": round(hit.score, 4),
            "parts": dict(hit.parts),
        }
        value.update({key: item for key, item in optional.items() if item})
    if detail is DetailLevel.CONTEXT and hit.lines:
        value["lines"] = [{"number": line.number, "text": line.text} for line in hit.lines]
    return _encode(value)


def _encode(value: object) -> str:
    try:
        return _fast_encode(value).decode("utf-8")
    except UnicodeEncodeError:
        # Half a surrogate pair, which a caller's own words may hold.
        return _slow_encode(value)


def _shorten(text: str, hit: Hit, budget: int) -> str:
    """The text, halved around the match until it fits."""
    size = len(text)
    column = hit.column or 1
    while text and typical_tokens(_encode(text)) > budget:
        size //= 2
        if size < 2:
            return ""
        text = cut_line(text, min(column, len(text)), min(column, len(text)), size)
    return text


def _fit_lines(lines: tuple[ShownLine, ...], hit: Hit, budget: int) -> tuple[ShownLine, ...]:
    """The lines nearest to the hit that fit."""
    kept: list[ShownLine] = []
    for line in sorted(lines, key=lambda shown: (_distance(shown.number, hit), shown.number)):
        budget -= line_tokens(line)
        if budget < 0:
            break
        kept.append(line)
    return tuple(sorted(kept, key=lambda line: line.number))


def _distance(number: int, hit: Hit) -> int:
    return max(hit.line - number, number - hit.end_line, 0)


def _cut(kept: int, total: int, code: str, bound: str) -> Note:
    return Note(code, f"Showing {kept} of {total} results: more would exceed {bound}.")
