"""Definitions of a source file: query matches become symbols with names, containers and ranges.

**Invariant**: no recursion, and only definitions that other code can name: what is bound inside a function is left
out unless it is itself a function or a type.

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

import re
from dataclasses import dataclass

from tree_sitter import Node

from sightline_core.limits import Limits
from sightline_core.types import Symbol, SymbolKind
from sightline_indexer.columns import Columns
from sightline_indexer.doc_lines import comment_above, docstring
from sightline_indexer.grammars import Grammar, grammar_of, parse
from sightline_indexer.records import SymbolEntry, stored_number, to_symbol
from sightline_indexer.signatures import DECORATOR_BYTES, begins_its_line, signature_of, without_decorators


@dataclass(frozen=True, slots=True)
class Extraction:
    """The symbols of one file in order of position, as they are stored, with the signature and doc line of each.

    `broken` when the text has syntax errors (what could be had is there), `truncated` when a cap cut the list.
    """

    entries: tuple[SymbolEntry, ...]
    texts: tuple[tuple[str, str], ...]
    broken: bool
    truncated: bool

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols as everybody but the index wants them."""
        return tuple(to_symbol(entry, *texts) for entry, texts in zip(self.entries, self.texts, strict=True))


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
    containers: list[Node]
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


_WHOLE = frozenset({"inner", "deep"})
_KINDS: dict[str, SymbolKind | None] = {"scope": None, "import": None, **{kind.value: kind for kind in SymbolKind}}
_CALLABLE = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR, SymbolKind.OPERATOR})
_VALUES = frozenset({SymbolKind.VARIABLE, SymbolKind.CONSTANT, SymbolKind.FIELD, SymbolKind.PROPERTY})
_TYPES = frozenset({SymbolKind.CLASS, SymbolKind.STRUCT, SymbolKind.INTERFACE, SymbolKind.ENUM})
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
    naming = _Naming(source, grammar, limits)
    entries = naming.name(matches)
    return Extraction(tuple(entries), tuple(naming.texts), broken=root.has_error, truncated=full or parsed.cut)


def definition_names(root: Node, source: bytes, grammar: Grammar, limits: Limits) -> frozenset[int]:
    """The byte offsets below `root` where something is given its name."""
    matches, _ = _collect(root, source, grammar, limits)
    return frozenset(match.name.start_byte for match in matches if match.name is not None and match.kind is not None)


def _collect(root: Node, source: bytes, grammar: Grammar, limits: Limits) -> tuple[list[_Match], bool]:
    """Every definition below `root` in order of position, and whether the cap was reached."""
    found = _Found({}, [])
    whole: list[Node] = []
    regions = [root]
    # A cursor also tries the region itself, and two patterns may name one region: each is searched once.
    seen = {root.id}
    while regions and len(found.by_name) <= limits.max_symbols_per_file:
        for pattern, captures in grammar.shallow.matches(regions.pop()):
            found.add(pattern, captures)
            for capture, nodes in captures.items():
                if capture == "body":
                    for node in nodes:
                        if node.id not in seen:
                            seen.add(node.id)
                            regions.append(node)
                elif capture in _WHOLE:
                    whole += nodes
    covered = -1
    for node in sorted(whole, key=_by_place) if grammar.hint is not None else ():
        start, end = node.start_byte, node.end_byte
        if start < covered or len(found.by_name) > limits.max_symbols_per_file:
            continue
        if grammar.hint is not None and grammar.hint.search(source, start, end):
            covered = end
            for pattern, captures in grammar.deep.matches(node):
                found.add(pattern, captures)
    return found.in_order(limits.max_symbols_per_file)


def _by_place(node: Node) -> tuple[int, int]:
    return node.start_byte, -node.end_byte


@dataclass(slots=True)
class _Found:
    """What the query found so far: the best match of each name, and the nameless scopes."""

    by_name: dict[int, _Match]
    scopes: list[_Match]

    def add(self, pattern: int, captures: dict[str, list[Node]]) -> None:
        """Keep a match unless an earlier pattern has its name."""
        match = _decode(pattern, captures)
        if match is None:
            return
        if match.name is None:
            self.scopes.append(match)
            return
        at = match.name.start_byte
        known = self.by_name.get(at)
        if known is None or pattern < known.pattern:
            self.by_name[at] = match

    def in_order(self, cap: int) -> tuple[list[_Match], bool]:
        """The matches by position, at most `cap`, and whether that cut any."""
        # A function bound to a name matches as that definition and as an anonymous scope; the definition counts.
        bodies = {match.body.start_byte for match in self.by_name.values() if match.body is not None}
        scopes = [scope for scope in self.scopes if scope.body is None or scope.body.start_byte not in bodies]
        matches = sorted([*self.by_name.values(), *scopes], key=lambda match: (match.start, -match.end))
        return matches[:cap], len(self.by_name) > cap


def _decode(pattern: int, captures: dict[str, list[Node]]) -> _Match | None:
    for capture, nodes in captures.items():
        if capture in _KINDS:
            kind = _KINDS[capture]
            node = nodes[0]
            name = captures.get("name")
            body = captures.get("body") or captures.get("inner")
            return _Match(
                node,
                node.start_byte,
                node.end_byte,
                pattern,
                kind,
                name[0] if name else None,
                body[0] if body else None,
                captures.get("container", []),
                "global" in captures,
                "declaration" in captures,
                "value" in captures or kind in _VALUES,
            )
    return None


class _Naming:
    """Tells each match of one file where it lives, from the regions that are open at its place."""

    __slots__ = ("_columns", "_grammar", "_limits", "_open", "_source", "texts")

    def __init__(self, source: bytes, grammar: Grammar, limits: Limits) -> None:
        self._source = source
        self._grammar = grammar
        self._limits = limits
        self._columns = Columns(source)
        self.texts: list[tuple[str, str]] = []
        self._open = [_Scope(0, len(source) + 1, "", None, local=False)]

    def name(self, matches: list[_Match]) -> list[SymbolEntry]:
        """The symbols of `matches`, which are in order of position; their signatures and doc lines go to `texts`."""
        symbols: list[SymbolEntry] = []
        for match in matches:
            around = self._open[0] if match.everywhere else self._around(match.start)
            if match.is_value and around.local:
                continue
            container = around.qualified
            for node in match.containers:
                container = _join(container, _type_name(self._text(node)))
            if match.name is None:
                self._enter(match, container, SymbolKind.CLASS if match.containers else None, not match.containers)
                continue
            if match.kind is None:
                continue
            name = self._name_of(match.name)
            if not name or name == "_":
                continue
            kind = _kind_within(around, match.kind, name, container if match.containers else "")
            qualified = _join(container, _SEPARATORS.sub(".", name) if "\\" in name or ":" in name else name)
            symbols.append(self._symbol(match, kind, name, qualified, container))
            if match.body is not None or kind in _TYPES:
                self._enter(match, qualified, kind, kind in _CALLABLE)
        return symbols

    def _around(self, start: int) -> _Scope:
        scopes = self._open
        while len(scopes) > 1 and scopes[-1].end <= start:
            scopes.pop()
        at = len(scopes) - 1
        # A parameter stands in its function's definition but before what the function holds.
        while scopes[at].inside > start:
            at -= 1
        return scopes[at]

    def _enter(self, match: _Match, qualified: str, kind: SymbolKind | None, local: bool) -> None:
        inside = match.body.start_byte if match.body is not None else match.end
        # What follows the name of a type belongs to it: the fields of a record stand before its body.
        if match.name is None:
            inside = match.start
        elif kind not in _CALLABLE:
            inside = min(inside, match.name.end_byte)
        self._open.append(_Scope(inside, match.end, qualified, kind, local))

    def _name_of(self, node: Node) -> str:
        text = self._text(node).strip("\"'`:")
        # The grammar of C++ counts the parameter list into the name of a conversion operator.
        return text.partition("(")[0] if text.startswith("operator ") else text

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _symbol(self, match: _Match, kind: SymbolKind, name: str, qualified: str, container: str) -> SymbolEntry:
        source, limits, place = self._source, self._limits, self._columns.place
        node, name_node, body = match.node, match.name, match.body
        assert name_node is not None
        begin = node.start_point
        first = match.start
        line_start = first - begin[1]
        doc = ""
        if body is not None and self._grammar.has_docstrings:
            doc = docstring(source, body.start_byte, limits)
        if not doc and begins_its_line(source, line_start, first):
            doc = comment_above(source, line_start, self._grammar.comments, limits)
        if source[first] in DECORATOR_BYTES:
            start = without_decorators(node)
            begin = start.start_point
            first = start.start_byte
            line_start = first - begin[1]
        one_line = match.is_value or match.everywhere or kind is SymbolKind.ENUM_MEMBER
        end = match.end if body is None else body.start_byte
        signature = signature_of(source, line_start, first, end, one_line, limits)
        if name_node.start_byte >= end:
            # `typedef struct { … } name`
            signature = f"{signature} {name}"
        self.texts.append((signature, doc))
        joined = f"{container}.{name}" if container else name
        return SymbolEntry(
            name,
            "" if qualified == joined else qualified,
            container,
            stored_number(kind, match.declaration),
            *place(first, begin),
            *place(match.end, node.end_point),
            *place(name_node.start_byte, name_node.start_point),
        )


def _kind_within(around: _Scope, kind: SymbolKind, name: str, attached: str) -> SymbolKind:
    """The kind of a definition that stands in `around`; `attached` is the container it names itself, if any."""
    in_type = bool(attached) or around.kind not in _NOT_TYPES
    if not in_type:
        return kind
    if kind is SymbolKind.VARIABLE:
        return SymbolKind.FIELD
    if kind is SymbolKind.FUNCTION or kind is SymbolKind.METHOD:
        own_type = (attached or around.qualified).rpartition(".")[2]
        constructs = name in _CONSTRUCTOR_NAMES or name == own_type
        return SymbolKind.CONSTRUCTOR if constructs else SymbolKind.METHOD
    return kind


def _join(container: str, name: str) -> str:
    return f"{container}.{name}" if container and name else container or name


def _type_name(text: str) -> str:
    """`*List[T]`, `&'a Foo<T>`, `a::B` as the dotted name of the type they speak of."""
    previous = ""
    while previous != text:
        previous, text = text, _TYPE_NOISE.sub("", text)
    return _SEPARATORS.sub(".", text.strip()).strip(".")
