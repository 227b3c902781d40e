"""Names, kinds and texts of the definitions of one file, from where they stand in each other.

**Invariant**: only definitions that other code can name: what is bound inside a function is left out unless it is
itself a function or a type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node

from sightline_core.limits import Limits
from sightline_core.types import SymbolKind
from sightline_indexer.columns import Columns
from sightline_indexer.doc_lines import comment_above, docstring
from sightline_indexer.grammars import Grammar
from sightline_indexer.macros import Macro
from sightline_indexer.matches import CALLABLE, Match
from sightline_indexer.records import SymbolEntry, stored_number
from sightline_indexer.signatures import DECORATOR_BYTES, begins_its_line, signature_of, without_decorators

_TYPES = frozenset({SymbolKind.CLASS, SymbolKind.STRUCT, SymbolKind.INTERFACE, SymbolKind.ENUM})
_NOT_TYPES = frozenset({None, SymbolKind.NAMESPACE, SymbolKind.MODULE, SymbolKind.PACKAGE, *CALLABLE})
_MACRO = stored_number(SymbolKind.CONSTANT, False)
_MACRO_WITH_PARAMETERS = stored_number(SymbolKind.FUNCTION, False)
_CONSTRUCTOR_NAMES = frozenset({"constructor", "__init__", "__construct", "initialize"})
_SEPARATORS = re.compile(r"\s*(?:::|->|\\|#|\.)\s*")
_TYPE_NOISE = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)|[*&'\"]|\b(?:mut|const|dyn)\b\s*")


@dataclass(slots=True)  # never changed; a frozen one takes three times as long to make
class _Scope:
    """An open region: members start at or after `inside`; `local` when they cannot be named from outside."""

    inside: int
    end: int
    qualified: str
    kind: SymbolKind | None
    local: bool


class Naming:
    """Tells each match of one file where it lives, from the regions that are open at its place.

    `moved_ends` leads from the end that the parser gives a directive to where it ends, a byte and its row.
    """

    __slots__ = ("_columns", "_grammar", "_limits", "_macro_end", "_moved_ends", "_open", "_source", "_texts")

    def __init__(
        self, source: bytes, grammar: Grammar, limits: Limits, moved_ends: Mapping[int, tuple[int, int]]
    ) -> None:
        self._source = source
        self._grammar = grammar
        self._limits = limits
        self._columns = Columns(source)
        self._texts: list[tuple[str, str]] = []
        self._moved_ends = moved_ends
        self._macro_end = -1
        self._open = [_Scope(0, len(source) + 1, "", None, local=False)]

    def name(self, found: Iterable[Match | Macro]) -> tuple[list[SymbolEntry], list[tuple[str, str]]]:
        """The symbols of what was found, in order of position, and the signature and doc line of each."""
        symbols: list[SymbolEntry] = []
        for match in found:
            if isinstance(match, Macro):
                symbols.append(self._macro(match))
                continue
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
                self._enter(match, qualified, kind, kind in CALLABLE)
        return symbols, self._texts

    def _around(self, start: int) -> _Scope:
        scopes = self._open
        while len(scopes) > 1 and scopes[-1].end <= start:
            scopes.pop()
        at = len(scopes) - 1
        # A parameter stands in its function's definition but before what the function holds.
        while scopes[at].inside > start:
            at -= 1
        return scopes[at]

    def _enter(self, match: Match, qualified: str, kind: SymbolKind | None, local: bool) -> None:
        inside = match.body.start_byte if match.body is not None else match.end
        # What follows the name of a type belongs to it: the fields of a record stand before its body.
        if match.name is None:
            inside = match.start
        elif kind not in CALLABLE:
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

    def _symbol(self, match: Match, kind: SymbolKind, name: str, qualified: str, container: str) -> SymbolEntry:
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
        last, last_point = match.end, node.end_point
        if match.everywhere and last in self._moved_ends:
            last, row = self._moved_ends[last]
            last_point = (row, 0)
        end = last if body is None else body.start_byte
        signature = signature_of(source, line_start, first, end, one_line, limits)
        name_start = name_node.start_byte
        if name_start >= end:
            # `typedef struct { … } name`
            signature = f"{signature} {name}"
        self._texts.append((signature, doc))
        # `_make` takes half the time of the constructor.
        return SymbolEntry._make(
            (
                *(name, qualified, container, stored_number(kind, match.declaration)),
                *self._columns.places(first, begin, last, last_point, name_start, name_node.start_point),
            )
        )

    def _macro(self, macro: Macro) -> SymbolEntry:
        start, end, row, end_row, name_start, name_end, has_parameters = macro
        source, limits = self._source, self._limits
        if start == self._macro_end:
            # Right below another macro there is no comment.
            column, doc = 1, ""
        else:
            column = start - source.rfind(b"\n", 0, start)
            doc = comment_above(source, start - column + 1, self._grammar.comments, limits)
        self._macro_end = end
        self._texts.append((signature_of(source, start, start, end, True, limits), doc))
        kind = _MACRO_WITH_PARAMETERS if has_parameters else _MACRO
        # Before the name there is only ASCII.
        name_column = column + name_start - start
        name = source[name_start:name_end].decode("ascii")
        return SymbolEntry._make((name, "", "", kind, row + 1, column, end_row + 1, 1, row + 1, name_column))


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
