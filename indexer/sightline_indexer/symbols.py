"""The definitions of a source file: what can hold them is parsed, searched and named.

**Invariant**: what is left out of parsing changes nothing about the definitions; in doubt it is parsed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import merge

from tree_sitter import Node

from sightline_core.limits import Limits
from sightline_core.types import Symbol
from sightline_indexer.bodies import plain_bodies
from sightline_indexer.grammars import Grammar, grammar_of, parse
from sightline_indexer.macros import Macro, plain_macros, stretches
from sightline_indexer.matches import CALLABLE, Match, collect
from sightline_indexer.naming import Naming
from sightline_indexer.records import SymbolEntry, to_symbol


@dataclass(frozen=True, slots=True)
class Extraction:
    """The symbols of one file in order of position, as they are stored, with the signature and doc line of each.

    `broken` when what was parsed has syntax errors (what could be had is there), `truncated` when a cap cut the list.
    """

    entries: tuple[SymbolEntry, ...]
    texts: tuple[tuple[str, str], ...]
    broken: bool
    truncated: bool

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols as everybody but the index wants them."""
        return tuple(to_symbol(entry, *texts) for entry, texts in zip(self.entries, self.texts, strict=True))


def extract_symbols(source: bytes, language: str, limits: Limits) -> Extraction:
    """The definitions in `source`, which must be UTF-8; raises `LookupError` for a language without rules.

    A symbol's range is its definition without the decorators and annotations that stand before it.
    """
    grammar = grammar_of(language)
    macros = plain_macros(source, grammar.macros, limits.min_plain_macros)
    bodies = plain_bodies(source, grammar.bodies, grammar.hint, limits.min_unparsed_body_bytes)
    lines = stretches(macros)
    parsed = parse(source, grammar, limits, sorted([*bodies, *lines]))
    matches, full = collect(parsed.tree.root_node, source, grammar, limits)
    if bodies and not parsed.cut and not _are_bodies(bodies, matches, source):
        parsed = parse(source, grammar, limits, list(lines))
        matches, full = collect(parsed.tree.root_node, source, grammar, limits)
    # A directive right before lines that were left out ends behind them for the parser.
    moved = {end: (begin, row) for (begin, end), row in lines.items()}
    naming = Naming(source, grammar, limits, moved)
    entries, texts = naming.name(merge(matches, macros, key=_start_of))
    cap = limits.max_symbols_per_file
    return Extraction(
        tuple(entries[:cap]),
        tuple(texts[:cap]),
        broken=parsed.tree.root_node.has_error,
        truncated=full or parsed.cut or len(entries) > cap,
    )


def _start_of(found: Match | Macro) -> int:
    return found.start


def _are_bodies(left_out: Sequence[tuple[int, int]], matches: list[Match], source: bytes) -> bool:
    """Whether the parser took each stretch that was left out for a body of a function, or for a part of one.

    Errors elsewhere are those of the source. In some grammars an empty pair of braces can be something else.
    """
    ends = dict(left_out)
    starts: list[int] = []
    stops: list[int] = []
    for match in matches:
        body = match.body
        if body is None or match.kind not in CALLABLE or body.has_error:
            continue
        start, stop = body.start_byte, body.end_byte
        end = ends.get(start + 1)
        if end is None:
            starts.append(start)
            stops.append(stop)
        elif end < stop and not source[end : stop - 1].strip():
            del ends[start + 1]
    for start, end in ends.items():
        around = bisect_right(starts, start) - 1
        if around < 0 or stops[around] <= end:
            return False
    return True


def definition_names(root: Node, source: bytes, grammar: Grammar, limits: Limits) -> frozenset[int]:
    """The byte offsets below `root` where something is given its name."""
    matches, _ = collect(root, source, grammar, limits)
    return frozenset(match.name.start_byte for match in matches if match.name is not None and match.kind is not None)
