"""Occurrences of an identifier in a source file, each with the role it plays there.

**Invariant**: comments and the text of strings never count. This is syntax, not resolution: equal names of
different things are all found, so callers label what they make of it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources

from tree_sitter import Node

from sightline_core.limits import Limits
from sightline_core.types import Position
from sightline_indexer.columns import Columns
from sightline_indexer.grammars import grammar_of, parse
from sightline_indexer.symbols import definition_names


class OccurrenceRole(StrEnum):
    """What a name does at one place."""

    DEFINITION = "definition"
    CALL = "call"
    IMPORT = "import"
    INHERITANCE = "inheritance"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place of the name; `end_column` is exclusive and on the same line."""

    position: Position
    end_column: int
    role: OccurrenceRole


@dataclass(frozen=True, slots=True)
class _Rules:
    """One list of `occurrences.toml`, by the form of its entries."""

    types: frozenset[str]
    with_parent: frozenset[tuple[str, str]]
    fields: frozenset[tuple[str, str]]

    def hold(self, node: Node, parent: Node) -> bool:
        """True when `parent` stands in the list and `node`, its child, is in the right place."""
        kind = parent.type
        if kind in self.types:
            return True
        if any(of == kind and _is_field(parent, field, node) for of, field in self.fields):
            return True
        above = parent.parent
        return above is not None and (above.type, kind) in self.with_parent


@dataclass(frozen=True, slots=True)
class _Roles:
    transparent: _Rules
    call: _Rules
    imports: _Rules
    inheritance: _Rules
    opaque: _Rules


_WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
# Node types that hold text rather than names; a macro's replacement is text to the grammar but code to its reader.
_TEXT = ("comment", "string", "char", "heredoc", "regex", "text", "content")
_CODE_AS_TEXT = frozenset({"preproc_arg"})


def find_occurrences(source: bytes, language: str, name: str, limits: Limits) -> tuple[Occurrence, ...]:
    """Where `name` is used in `source` (UTF-8), in order, at most `max_occurrences_per_file`.

    Raises `LookupError` for a language without symbol rules.
    """
    grammar = grammar_of(language)
    wanted = name.encode()
    if not wanted or wanted not in source:
        return ()
    root = parse(source, grammar, limits).tree.root_node
    definitions = definition_names(root, source, grammar, limits)
    columns = Columns(source)
    found: list[Occurrence] = []
    for start in _word_offsets(source, wanted):
        leaf = root.named_descendant_for_byte_range(start, start + len(wanted))
        if leaf is None or not _is_name(leaf, start, start + len(wanted)):
            continue
        role = OccurrenceRole.DEFINITION if start in definitions else _role(leaf, limits.occurrence_climb_levels)
        row, column = leaf.start_point
        if leaf.start_byte != start:
            row += source.count(b"\n", leaf.start_byte, start)
            column = start - (source.rfind(b"\n", 0, start) + 1)
        position = columns.position(start, (row, column))
        found.append(Occurrence(position, position.column + len(name), role))
        if len(found) >= limits.max_occurrences_per_file:
            break
    return tuple(found)


def _word_offsets(source: bytes, wanted: bytes) -> Iterator[int]:
    size = len(source)
    at = source.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        before = at == 0 or not _continues_word(source[at - 1])
        after = end == size or not _continues_word(source[end])
        if before and after:
            yield at
        at = source.find(wanted, end)


def _continues_word(byte: int) -> bool:
    return byte in _WORD_BYTES or byte >= 0x80


def _is_name(leaf: Node, start: int, end: int) -> bool:
    kind = leaf.type
    if kind in _CODE_AS_TEXT:
        return True
    return leaf.start_byte == start and leaf.end_byte == end and not any(text in kind for text in _TEXT)


def _role(leaf: Node, levels: int) -> OccurrenceRole:
    roles = _roles()
    node = leaf
    parent = node.parent
    while parent is not None and roles.transparent.hold(node, parent) and not roles.call.hold(node, parent):
        node, parent = parent, parent.parent
    if parent is not None and roles.call.hold(node, parent) and _is_callee(node, parent):
        return OccurrenceRole.CALL
    if parent is not None and _embeds(parent):
        return OccurrenceRole.INHERITANCE
    for _ in range(levels):
        if parent is None:
            break
        if roles.imports.hold(node, parent):
            return OccurrenceRole.IMPORT
        if roles.inheritance.hold(node, parent):
            return OccurrenceRole.INHERITANCE
        if roles.opaque.hold(node, parent):
            break
        node, parent = parent, parent.parent
    return OccurrenceRole.OTHER


def _is_callee(node: Node, call: Node) -> bool:
    """Grammars without a field for the callee put it first; what follows are arguments."""
    return any(_is_field(call, field, node) for field in _CALLEE_FIELDS) or call.named_child(0) == node


_CALLEE_FIELDS = ("function", "method", "constructor", "name", "macro", "type")


def _embeds(field: Node) -> bool:
    """A field of Go that has a type and no name of its own takes over that type's methods."""
    return field.type == "field_declaration" and not any(
        field.child_by_field_name(part) for part in ("name", "declarator")
    )


def _is_field(parent: Node, field: str, node: Node) -> bool:
    child = parent.child_by_field_name(field)
    return child is not None and child.id == node.id


@cache
def _roles() -> _Roles:
    text = resources.files("sightline_indexer").joinpath("occurrences.toml").read_text("utf-8")
    table: dict[str, list[str]] = tomllib.loads(text)
    return _Roles(
        transparent=_rules(table["transparent"]),
        call=_rules(table["call"]),
        imports=_rules(table["import"]),
        inheritance=_rules(table["inheritance"]),
        opaque=_rules(table["opaque"]),
    )


def _rules(entries: list[str]) -> _Rules:
    pairs = [entry.partition("/") for entry in entries if "/" in entry]
    fields = [entry.partition(":") for entry in entries if ":" in entry]
    return _Rules(
        types=frozenset(entry for entry in entries if "/" not in entry and ":" not in entry),
        with_parent=frozenset((parent, kind) for parent, _, kind in pairs),
        fields=frozenset((kind, field) for kind, _, field in fields),
    )
