"""One-line signatures, cut out of the source without its body, decorators and annotations."""

from __future__ import annotations

import re

from sightline_core.limits import Limits
from sightline_core.text import clean_line
from tree_sitter import Node

_DECORATORS = frozenset({"decorator", "annotation", "marker_annotation", "attribute_list", "attribute_item", "attribute"})
_MODIFIER_LISTS = frozenset({"modifiers"})
_DECORATOR_BYTES = frozenset(b"@[#")
# `export const`, `pub(crate) type`, `public static`: words before a definition on its line that belong to it.
_LEADING_WORDS = re.compile(rb"[ \t]*([a-z][a-z() \t]*)\Z")
_TAIL = " \t{:=>;,("


def without_decorators(node: Node, first_byte: int) -> Node:
    """The first part of a definition that is not a decorator or annotation: the node itself when it has none."""
    if first_byte not in _DECORATOR_BYTES:
        return node
    pending = list(reversed(node.children))
    while pending:
        child = pending.pop()
        if child.type in _MODIFIER_LISTS:
            pending.extend(reversed(child.children))
        elif child.type not in _DECORATORS and not child.is_extra:
            return child
    return node


def begins_its_line(source: bytes, start: int) -> bool:
    """True when nothing but words that belong to the definition stands before it on its line."""
    line_start = source.rfind(b"\n", 0, start) + 1
    before = source[line_start:start]
    return not before or before.isspace() or _LEADING_WORDS.match(before) is not None


def signature_of(source: bytes, start: int, end: int, *, one_line: bool, limits: Limits) -> str:
    """The text from `start` to `end` on one line, whitespace folded, at most `max_signature_chars` long.

    With `one_line` only the first line counts, which keeps long initialisers out. Words such as `export const`
    before `start` on the same line are part of the signature.
    """
    line_start = source.rfind(b"\n", 0, start) + 1
    if line_start < start:
        leading = _LEADING_WORDS.match(source[line_start:start])
        if leading is not None:
            start = line_start + leading.start(1)
    if one_line:
        newline = source.find(b"\n", start, end)
        end = newline if newline >= 0 else end
    # A code point has at most four bytes; folding can only shorten.
    head = source[start : min(end, start + 4 * limits.max_signature_chars)].decode("utf-8", "ignore")
    text = clean_line(" ".join(head.split()))
    text = text.rstrip(_TAIL) if text.count("(") == text.count(")") or one_line else text.rstrip(_TAIL[:-1])
    if len(text) > limits.max_signature_chars:
        text = text[: limits.max_signature_chars - 1].rstrip() + "…"
    return text
