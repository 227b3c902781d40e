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
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node

from sightline_core.limits import Limits
from sightline_core.types import Symbol, SymbolKind
from sightline_indexer.bodies import plain_bodies
from sightline_indexer.columns import Columns
from sightline_indexer.doc_lines import comment_above, docstring
from sightline_indexer.grammars import Grammar, grammar_of, parse
from sightline_indexer.records import SymbolEntry, stored_number, to_symbol
from sightline_indexer.signatures import DECORATOR_BYTES, begins_its_line, signature_of, without_decorators


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
    containers: Sequence[Node]
    everywhere: bool
    declaration: bool
    is_value: bool


@dataclass(slots=True)  # never changed; a frozen one takes three times as long to make
class _Scope:
    """An open region: members start at or after `inside`; `local` when they cannot be named from outside."""

    inside: int
    end: int
    qualified: str
    kind: SymbolKind | None
    local: bool


_WHOLE = frozenset({"inner", "deep"})
_NO_NODES: Sequence[Node] = ()
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
    bodies = plain_bodies(source, grammar.bodies, grammar.hint, limits.min_unparsed_body_bytes)
    parsed = parse(source, grammar, limits, bodies)
    matches, full = _collect(parsed.tree.root_node, source, grammar, limits)
    if bodies and not parsed.cut and not _are_bodies(bodies, matches, source):
        parsed = parse(source, grammar, limits)
        matches, full = _collect(parsed.tree.root_node, source, grammar, limits)
    naming = _Naming(source, grammar, limits)
    entries = naming.name(matches)
    return Extraction(
        tuple(entries), tuple(naming.texts), broken=parsed.tree.root_node.has_error, truncated=full or parsed.cut
    )


def _are_bodies(left_out: Sequence[tuple[int, int]], matches: list[_Match], source: bytes) -> bool:
    """Whether the parser took each stretch that was left out for a body of a function, or for a part of one.

    Errors elsewhere are those of the source. In some grammars an empty pair of braces can be something else.
    """
    ends = dict(left_out)
    starts: list[int] = []
    stops: list[int] = []
    for match in matches:
        body = match.body
        if body is None or match.kind not in _CALLABLE or body.has_error:
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

    by_name: dict[int, _Match]
    scopes: list[_Match]

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

    def in_order(self, cap: int) -> tuple[list[_Match], bool]:
        """The matches by position, at most `cap`, and whether that cut any."""
        # A function bound to a name matches as that definition and as an anonymous scope; the definition counts.
        scopes = self.scopes
        if scopes:
            bodies = {match.body.start_byte for match in self.by_name.values() if match.body is not None}
            scopes = [scope for scope in scopes if scope.body is None or scope.body.start_byte not in bodies]
        matches = sorted([*self.by_name.values(), *scopes], key=_place_of)
        return matches[:cap], len(self.by_name) > cap


def _place_of(match: _Match) -> tuple[int, int]:
    return match.start, -match.end


def _decode(pattern: int, shape: _Shape, captures: dict[str, list[Node]], name: Node | None) -> _Match:
    node = captures[shape.marker][0]
    return _Match(
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
            kind = match.kind
            if kind is None:
                continue
            name = self._name_of(match.name)
            if not name or name == "_":
                continue
            if match.containers or around.kind not in _NOT_TYPES:
                kind = _kind_within(around, kind, name, container if match.containers else "")
            joined = f"{container}.{name}" if container else name
            qualified = _join(container, _SEPARATORS.sub(".", name)) if "\\" in name or ":" in name else joined
            symbols.append(self._symbol(match, kind, name, "" if qualified == joined else qualified, container))
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
        text = self._source[node.start_byte : node.end_byte].decode("utf-8", "replace").strip("\"'`:")
        if "\n" in text:
            text = " ".join(text.split())
        # The grammar of C++ counts the parameter list into the name of a conversion operator.
        return text.partition("(")[0] if text.startswith("operator ") else text

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _symbol(self, match: _Match, kind: SymbolKind, name: str, qualified: str, container: str) -> SymbolEntry:
        """`qualified` as an entry has it: empty when it is the container and the name."""
        source, limits = self._source, self._limits
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
        name_start = name_node.start_byte
        if name_start >= end:
            # `typedef struct { … } name`
            signature = f"{signature} {name}"
        self.texts.append((signature, doc))
        # `_make` takes half the time of the constructor.
        return SymbolEntry._make(
            (
                *(name, qualified, container, stored_number(kind, match.declaration)),
                *self._columns.places(first, begin, match.end, node.end_point, name_start, name_node.start_point),
            )
        )


def _kind_within(around: _Scope, kind: SymbolKind, name: str, attached: str) -> SymbolKind:
    """The kind of a definition that belongs to a type: to `attached`, which it names itself, or to `around`."""
    if kind is SymbolKind.VARIABLE:
        return SymbolKind.FIELD
    if kind is SymbolKind.FUNCTION or kind is SymbolKind.METHOD:
        own_type = (attached or around.qualified).rpartition(".")[2]
        constructs = name in _CONSTRUCTOR_NAMES or name == own_type
        return SymbolKind.CONSTRUCTOR if constructs else SymbolKind.METHOD
    return kind


def _join(container: str, name: str) -> str:
    return f"{container}.{name}" if container and name else container or name


# A type with methods is named once for each of them.
@lru_cache(maxsize=1024)
def _type_name(text: str) -> str:
    """`*List[T]`, `&'a Foo<T>`, `a::B` as the dotted name of the type they speak of."""
    previous = ""
    while previous != text:
        previous, text = text, _TYPE_NOISE.sub("", text)
    return _SEPARATORS.sub(".", text.strip()).strip(".")
