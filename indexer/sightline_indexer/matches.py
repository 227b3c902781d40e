"""Definitions of a source file as its query finds them, before their surroundings are known.

**Invariant**: no recursion, and of the matches of one name the one whose pattern stands first in the query file.

How a query file speaks to this module:

- a capture named like a symbol kind marks a definition, `@name` its name; where two patterns match one name, the
  earlier pattern of the file wins;
- `@body` is a region whose children are searched next; in a definition it is also where its members live;
- `@inner` is a function body and `@deep` any other region that is searched as a whole, but only when the hint of
  the language occurs in its text;
- `@container` names the type a definition belongs to when the text does not nest it (receivers, `A::b`);
- `@global` beside the kind: the definition is seen in the whole file, wherever it stands;
- `@value` beside the kind: a function or class bound like a value, so inside a function it is a local;
- `@declaration` beside the kind: it only announces what is written elsewhere;
- `@import` marks a name that is defined elsewhere, so that no later pattern takes it;
- `@scope` marks a region without a name of its own: members belong to `@container`, or are local without one.

Only `@body` regions and hinted bodies are visited. That saves most where function bodies hold no definitions (Go),
and little where they nearly all may (JavaScript).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from sightline_core.limits import Limits
from sightline_core.types import SymbolKind
from sightline_indexer.grammars import Grammar

CALLABLE = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR, SymbolKind.OPERATOR})
_WHOLE = frozenset({"inner", "deep"})
_NO_NODES: Sequence[Node] = ()
_KINDS: dict[str, SymbolKind | None] = {"scope": None, "import": None, **{kind.value: kind for kind in SymbolKind}}
_VALUES = frozenset({SymbolKind.VARIABLE, SymbolKind.CONSTANT, SymbolKind.FIELD, SymbolKind.PROPERTY})


@dataclass(slots=True)
class Match:
    """One definition or nameless scope as the query found it, before its surroundings are known."""

    node: Node
    start: int
    end: int
    pattern: int
    kind: SymbolKind | None
    name: Node | None
    body: Node | None
    containers: Sequence[Node]
    everywhere: bool
    declaration: bool
    is_value: bool


def collect(root: Node, source: bytes, grammar: Grammar, limits: Limits) -> tuple[list[Match], bool]:
    """Every definition below `root` in order of position, and whether the cap was reached."""
    found = _Found({}, [])
    whole: list[Node] = []
    regions = [root]
    # A cursor also tries the region itself, and two patterns may name one region: each is searched once.
    seen = {root.id}
    while regions and len(found.by_name) <= limits.max_symbols_per_file:
        for pattern, captures in grammar.shallow.matches(regions.pop()):
            shape = found.add(pattern, captures)
            if "body" in captures:
                for node in captures["body"]:
                    if node.id not in seen:
                        seen.add(node.id)
                        regions.append(node)
            for capture in shape.whole:
                whole += captures[capture]
    if grammar.hint is not None and grammar.deep is not None:
        covered = -1
        for node in sorted(whole, key=_by_place):
            start, end = node.start_byte, node.end_byte
            if start < covered or len(found.by_name) > limits.max_symbols_per_file:
                continue
            if node.named_child_count and grammar.hint.search(source, start, end):
                covered = end
                for pattern, captures in grammar.deep.matches(node):
                    found.add(pattern, captures)
    return found.in_order(limits.max_symbols_per_file)


def _by_place(node: Node) -> tuple[int, int]:
    return node.start_byte, -node.end_byte


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the names of a match's captures say by themselves; `marker` names the definition and is empty for none."""

    marker: str
    kind: SymbolKind | None
    body: str
    whole: tuple[str, ...]
    everywhere: bool
    declaration: bool
    is_value: bool


class _Shapes(dict[tuple[str, ...], _Shape]):
    """Names of captures → their shape, worked out once: a query file has a few dozen."""

    def __missing__(self, names: tuple[str, ...]) -> _Shape:
        marker = next((name for name in names if name in _KINDS), "")
        kind = _KINDS.get(marker)
        shape = self[names] = _Shape(
            marker,
            kind,
            next((name for name in ("body", "inner") if name in names), ""),
            tuple(name for name in names if name in _WHOLE),
            everywhere="global" in names,
            declaration="declaration" in names,
            is_value="value" in names or kind in _VALUES,
        )
        return shape


_SHAPES = _Shapes()


@dataclass(slots=True)
class _Found:
    """What the query found so far: the best match of each name, and the nameless scopes."""

    by_name: dict[int, Match]
    scopes: list[Match]

    def add(self, pattern: int, captures: dict[str, list[Node]]) -> _Shape:
        """Keep a match unless an earlier pattern has its name."""
        shape = _SHAPES[tuple(captures)]
        if not shape.marker:
            return shape
        if "name" not in captures:
            self.scopes.append(_decode(pattern, shape, captures, None))
            return shape
        name = captures["name"][0]
        at = name.start_byte
        known = self.by_name.get(at)
        if known is None or pattern < known.pattern:
            self.by_name[at] = _decode(pattern, shape, captures, name)
        return shape

    def in_order(self, cap: int) -> tuple[list[Match], bool]:
        """The matches by position, at most `cap`, and whether that cut any."""
        # A function bound to a name matches as that definition and as an anonymous scope; the definition counts.
        scopes = self.scopes
        if scopes:
            bodies = {match.body.start_byte for match in self.by_name.values() if match.body is not None}
            scopes = [scope for scope in scopes if scope.body is None or scope.body.start_byte not in bodies]
        matches = sorted([*self.by_name.values(), *scopes], key=_place_of)
        return matches[:cap], len(self.by_name) > cap


def _place_of(match: Match) -> tuple[int, int]:
    return match.start, -match.end


def _decode(pattern: int, shape: _Shape, captures: dict[str, list[Node]], name: Node | None) -> Match:
    node = captures[shape.marker][0]
    return Match(
        node,
        node.start_byte,
        node.end_byte,
        pattern,
        shape.kind,
        name,
        captures[shape.body][0] if shape.body else None,
        captures.get("container", _NO_NODES),
        shape.everywhere,
        shape.declaration,
        shape.is_value,
    )
