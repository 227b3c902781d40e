"""One-line signatures, cut out of the source without its body, decorators and annotations."""

from __future__ import annotations

import re

from tree_sitter import Node

from sightline_core.limits import Limits
from sightline_core.text import clean_line

_DECORATORS = frozenset(
    {"decorator", "annotation", "marker_annotation", "attribute_list", "attribute_item", "attribute"}
)
_MODIFIER_LISTS = frozenset({"modifiers"})
# What a decorator, annotation or attribute can begin with; anything else needs no look at the children.
DECORATOR_BYTES = frozenset(b"@[#")
# `export const`, `pub(crate) type`, `public static`: words before a definition on its line that belong to it.
_LEADING_WORDS = re.compile(rb"[ \t]*((?:[a-z]+(?:\([a-z]+\))?[ \t]+)+)\Z")
_TAIL = " {:;,=("


def without_decorators(node: Node) -> Node:
    """The first part of a definition that is not a decorator or annotation: the node itself when it has none."""
    pending = list(reversed(node.children))
    while pending:
        child = pending.pop()
        if child.type in _MODIFIER_LISTS:
            pending.extend(reversed(child.children))
        elif child.type not in _DECORATORS and not child.is_extra:
            return child
    return node


def begins_its_line(source: bytes, line_start: int, start: int) -> bool:
    """True when nothing but words that belong to the definition stands before it on its line."""
    if line_start == start:
        return True
    before = source[line_start:start]
    return before.isspace() or _LEADING_WORDS.match(before) is not None


def signature_of(source: bytes, line_start: int, start: int, end: int, one_line: bool, limits: Limits) -> str:
    """The text from `start` to `end` on one line, whitespace folded, at most `max_signature_chars` long.

    With `one_line` only the first line counts, which keeps long initialisers out. Words such as `export const`
    before `start` on the same line are part of the signature.
    """
    if line_start < start:
        before = source[line_start:start]
        if not before.isspace():
            leading = _LEADING_WORDS.match(before)
            if leading is not None:
                start = line_start + leading.start(1)
    if one_line:
        newline = source.find(b"\n", start, end)
        if newline >= 0:
            end = newline
    # A code point has at most four bytes; folding can only shorten.
    limit = limits.max_signature_chars
    if end > start + 4 * limit:
        end = start + 4 * limit
    text = " ".join(source[start:end].decode("utf-8", "ignore").split())
    if not (text.isascii() and text.isprintable()):
        text = clean_line(text)
    text = text.rstrip(_TAIL)
    if text.endswith("=>"):
        text = text[:-2].rstrip(_TAIL)
    if len(text) > limit:
        text = text[: limit - 1].rstrip() + "…"
    return text
