"""Symbols of a source text (placeholder of this branch: module-level Python definitions)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tree_sitter import Node, Parser
from tree_sitter_language_pack import get_parser

from sightline_core.languages import languages
from sightline_core.limits import Limits
from sightline_core.types import Position, Range, Symbol, SymbolKind

_KINDS = {
    "function_definition": SymbolKind.FUNCTION,
    "class_definition": SymbolKind.CLASS,
    "function_declaration": SymbolKind.FUNCTION,
    "method_declaration": SymbolKind.METHOD,
    "type_spec": SymbolKind.STRUCT,
}
_CONTAINERS = {"block", "module", "decorated_definition", "type_declaration", "source_file"}


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found."""

    symbols: tuple[Symbol, ...]
    broken: bool
    truncated: bool


@cache
def _parser(grammar: str) -> Parser:
    return get_parser(grammar)  # pyright: ignore[reportArgumentType]


def extract_symbols(source: bytes, language: str, limits: Limits) -> Extraction:
    """The definitions of a text."""
    tree = _parser(languages()[language].grammar).parse(source)
    found: list[Symbol] = []
    stack: list[tuple[Node, str]] = [(tree.root_node, "")]
    while stack:
        node, container = stack.pop()
        for child in reversed(node.children):
            name = child.child_by_field_name("name")
            if child.type in _KINDS and name is not None:
                symbol = _symbol(child, name, container, source, limits)
                found.append(symbol)
                body = child.child_by_field_name("body")
                if body is not None and child.type == "class_definition":
                    stack.append((body, symbol.qualified_name))
            elif child.type in _CONTAINERS:
                stack.append((child, container))
    found.sort(key=lambda symbol: symbol.range.start)
    kept = tuple(found[: limits.max_symbols_per_file])
    return Extraction(kept, tree.root_node.has_error, len(found) > len(kept))


def _symbol(node: Node, name: Node, container: str, source: bytes, limits: Limits) -> Symbol:
    text = source[name.start_byte : name.end_byte].decode("utf-8", "replace")
    line = source[node.start_byte : node.start_byte + limits.max_signature_chars].split(b"\n", 1)[0]
    return Symbol(
        name=text,
        qualified_name=f"{container}.{text}" if container else text,
        kind=_KINDS[node.type],
        container=container,
        signature=line.decode("utf-8", "replace"),
        doc="",
        range=Range(_position(node.start_point), _position(node.end_point)),
        name_position=_position(name.start_point),
    )


def _position(point: tuple[int, int]) -> Position:
    return Position(point[0] + 1, point[1] + 1)
