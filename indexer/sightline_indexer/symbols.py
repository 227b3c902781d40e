"""Definitions of a source file: query matches become symbols with names, containers and ranges.

**Invariant**: no recursion, and only definitions that other code can name: what is bound inside a function is left
out unless it is itself a function or a type.

How a query file speaks to this module:

- a capture named like a symbol kind marks a definition, `@name` its name; where two patterns match one name, the
  earlier pattern of the file wins;
- `@body` is a region whose children are searched next; in a definition it is also where its members live;
- `@inner` is a function body and `@hinted` any other region: searched as a whole, but only when the hint of the
  language occurs in its text; `@deep` is searched as a whole always;
- `@container` names the type a definition belongs to when the text does not nest it (receivers, `A::b`);
- `@global` beside the kind: the definition is seen in the whole file, wherever it stands;
- `@value` beside the kind: a function or class bound like a value, so inside a function it is a local;
- `@declaration` beside the kind: it only announces what is written elsewhere;
- `@import` marks a name that is defined elsewhere, so that no later pattern takes it;
- `@scope` marks a region without a name of its own: members belong to `@container`, or are local without one.

Only `@body` regions and hinted function bodies are visited: a tenth of the cost of a query over the whole tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sightline_core.limits import Limits
from sightline_core.types import Range, Symbol, SymbolKind
from tree_sitter import Node

from sightline_indexer.columns import Columns
from sightline_indexer.doc_lines import comment_above, docstring
from sightline_indexer.grammars import Grammar, grammar_of, parse
from sightline_indexer.signatures import begins_its_line, signature_of, without_decorators


@dataclass(frozen=True, slots=True)
class Extraction:
    """The symbols of one file in order of position.

    `broken` when the text has syntax errors (what could be had is there), `truncated` when a cap cut the list.
    """

    symbols: tuple[Symbol, ...]
    broken: bool
    truncated: bool


@dataclass(slots=True)
class _Match:
    """One definition or nameless scope as the query found it, before its surroundings are known."""

    node: Node
    start: int
    end: int
    pattern: int
    kind: SymbolKind | None
    name: Node | None
    body: Node | None
    container: Node | None
    everywhere: bool
    declaration: bool
    is_value: bool


@dataclass(frozen=True, slots=True)
class _Scope:
    """An open region: members start at or after `inside`; `local` when they cannot be named from outside."""

    inside: int
    end: int
    qualified: str
    kind: SymbolKind | None
    local: bool


_KINDS: dict[str, SymbolKind | None] = {"scope": None, "import": None, **{kind.value: kind for kind in SymbolKind}}
_CALLABLE = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR, SymbolKind.OPERATOR})
_VALUES = frozenset({SymbolKind.VARIABLE, SymbolKind.CONSTANT, SymbolKind.FIELD, SymbolKind.PROPERTY})
_NOT_TYPES = frozenset({None, SymbolKind.NAMESPACE, SymbolKind.MODULE, SymbolKind.PACKAGE, *_CALLABLE})
_CONSTRUCTOR_NAMES = frozenset({"constructor", "__init__", "__construct", "initialize"})
_SEPARATORS = re.compile(r"\s*(?:::|->|\\|#|\.)\s*")
_TYPE_NOISE = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)|[*&'\"]|\b(?:mut|const|dyn)\b\s*")


def extract_symbols(source: bytes, language: str, limits: Limits) -> Extraction:
    """The definitions in `source`, which must be UTF-8; raises `LookupError` for a language without rules.

    A symbol's range is its definition without the decorators and annotations that stand before it.
    """
    grammar = grammar_of(language)
    parsed = parse(source, grammar, limits)
    root = parsed.tree.root_node
    matches, full = _collect(root, source, grammar, limits)
    symbols = _Naming(source, grammar, limits).name(matches)
    return Extraction(tuple(symbols), broken=root.has_error, truncated=full or parsed.cut)


def _collect(root: Node, source: bytes, grammar: Grammar, limits: Limits) -> tuple[list[_Match], bool]:
    """Every definition below `root` in order of position, and whether the cap was reached."""
    by_name: dict[int, _Match] = {}
    scopes: list[_Match] = []
    regions: list[tuple[Node, bool]] = [(root, False)]
    # A cursor also tries the region itself, and two patterns may name one region: each is searched once.
    seen = {root.id}
    while regions and len(by_name) <= limits.max_symbols_per_file:
        region, deep = regions.pop()
        for pattern, captures in (grammar.deep if deep else grammar.shallow).matches(region):
            match = _decode(pattern, captures)
            if match is None:
                pass
            elif match.name is None:
                scopes.append(match)
            else:
                known = by_name.get(match.name.start_byte)
                if known is None or pattern < known.pattern:
                    by_name[match.name.start_byte] = match
            if not deep:
                for node, whole in _next_regions(captures, source, grammar.hint):
                    if node.id not in seen:
                        seen.add(node.id)
                        regions.append((node, whole))
    # A function bound to a name matches as that definition and as an anonymous scope; the definition counts.
    bodies = {match.body.start_byte for match in by_name.values() if match.body is not None}
    scopes = [scope for scope in scopes if scope.body is None or scope.body.start_byte not in bodies]
    found = sorted([*by_name.values(), *scopes], key=lambda match: (match.start, -match.end))
    full = len(by_name) > limits.max_symbols_per_file
    return found[: limits.max_symbols_per_file] if full else found, full


def _next_regions(
    captures: dict[str, list[Node]], source: bytes, hint: re.Pattern[bytes] | None
) -> list[tuple[Node, bool]]:
    regions: list[tuple[Node, bool]] = []
    for capture, nodes in captures.items():
        if capture == "body":
            regions += [(node, False) for node in nodes]
        elif capture == "deep":
            regions += [(node, True) for node in nodes]
        elif capture in {"inner", "hinted"} and hint is not None:
            regions += [(node, True) for node in nodes if hint.search(source, node.start_byte, node.end_byte)]
    return regions


def _decode(pattern: int, captures: dict[str, list[Node]]) -> _Match | None:
    for capture, nodes in captures.items():
        if capture in _KINDS:
            kind = _KINDS[capture]
            node = nodes[0]
            name = captures.get("name")
            body = captures.get("body") or captures.get("inner")
            container = captures.get("container")
            return _Match(
                node,
                node.start_byte,
                node.end_byte,
                pattern,
                kind,
                name[0] if name else None,
                body[0] if body else None,
                container[0] if container else None,
                "global" in captures,
                "declaration" in captures,
                "value" in captures or kind in _VALUES,
            )
    return None


class _Naming:
    """Tells each match of one file where it lives, from the regions that are open at its place."""

    __slots__ = ("_columns", "_grammar", "_limits", "_open", "_source")

    def __init__(self, source: bytes, grammar: Grammar, limits: Limits) -> None:
        self._source = source
        self._grammar = grammar
        self._limits = limits
        self._columns = Columns(source)
        self._open = [_Scope(0, len(source) + 1, "", None, local=False)]

    def name(self, matches: list[_Match]) -> list[Symbol]:
        """The symbols of `matches`, which are in order of position."""
        symbols: list[Symbol] = []
        for match in matches:
            around = self._open[0] if match.everywhere else self._around(match.start)
            container = around.qualified
            if match.container is not None:
                container = _join(container, _type_name(self._text(match.container)))
            if match.name is None:
                self._enter(match, container, SymbolKind.CLASS if match.container else None, match.container is None)
                continue
            if match.kind is None:
                continue
            name = self._text(match.name).strip("\"'`")
            if not name or (around.local and match.is_value):
                continue
            kind = _kind_within(around, match.kind, name, attached=match.container is not None)
            qualified = _join(container, _SEPARATORS.sub(".", name) if "\\" in name or ":" in name else name)
            symbols.append(self._symbol(match, kind, name, qualified, container))
            if match.body is not None:
                self._enter(match, qualified, kind, kind in _CALLABLE)
        return symbols

    def _around(self, start: int) -> _Scope:
        scopes = self._open
        while len(scopes) > 1 and scopes[-1].end <= start:
            scopes.pop()
        return next(scope for scope in reversed(scopes) if scope.inside <= start)

    def _enter(self, match: _Match, qualified: str, kind: SymbolKind | None, local: bool) -> None:
        inside = match.body.start_byte if match.body is not None else match.start
        self._open.append(_Scope(inside, match.end, qualified, kind, local))

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _symbol(self, match: _Match, kind: SymbolKind, name: str, qualified: str, container: str) -> Symbol:
        source, limits, node = self._source, self._limits, match.node
        first = without_decorators(node, source[match.start])
        start = first.start_byte
        doc = ""
        if self._grammar.has_docstrings and match.body is not None:
            doc = docstring(source, match.body.start_byte, limits)
        if not doc and begins_its_line(source, match.start):
            doc = comment_above(source, match.start, self._grammar.comments, limits)
        assert match.name is not None
        return Symbol(
            name=name,
            qualified_name=qualified,
            kind=kind,
            container=container,
            signature=signature_of(
                source,
                start,
                match.body.start_byte if match.body is not None else match.end,
                one_line=kind in _VALUES or kind is SymbolKind.ENUM_MEMBER,
                limits=limits,
            ),
            doc=doc,
            range=Range(
                self._columns.position(start, first.start_point),
                self._columns.position(match.end, node.end_point),
            ),
            name_position=self._columns.position(match.name.start_byte, match.name.start_point),
            declaration=match.declaration,
        )


def _kind_within(around: _Scope, kind: SymbolKind, name: str, *, attached: bool) -> SymbolKind:
    """The kind of a definition that stands in `around`; `attached` when it names its own container."""
    in_type = attached or around.kind not in _NOT_TYPES
    if kind is SymbolKind.FUNCTION and in_type:
        kind = SymbolKind.METHOD
    elif kind is SymbolKind.VARIABLE and in_type:
        return SymbolKind.FIELD
    if kind is SymbolKind.METHOD and name in _CONSTRUCTOR_NAMES:
        return SymbolKind.CONSTRUCTOR
    return kind


def _join(container: str, name: str) -> str:
    return f"{container}.{name}" if container and name else container or name


def _type_name(text: str) -> str:
    """`*List[T]`, `&'a Foo<T>`, `a::B` as the dotted name of the type they speak of."""
    previous = ""
    while previous != text:
        previous, text = text, _TYPE_NOISE.sub("", text)
    return _SEPARATORS.sub(".", text.strip()).strip(".")
