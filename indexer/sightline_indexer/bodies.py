"""Function bodies that hold no definition, found by their lines, so that no parser has to read them.

**Invariant**: in doubt a body is parsed. One that is left out stands between a line that opens a function and the
next line that is indented no deeper, which begins with the closing brace; its braces nest, those in quotes and
comments left aside, of which none reaches across its end; and the hint of its language does not occur in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from tree_sitter import Range

_LAST_BYTE = 2**32 - 1
_LAST_POINT = (_LAST_BYTE, _LAST_BYTE)
# Where a brace is none, in all languages that have such rules.
_QUOTED = re.compile(
    rb'"""(?s:.)*?"""|"(?:[^"\\\n]|\\.)*+"|\'(?:[^\'\\\n]|\\.)*+\'|`[^`]*+`|//[^\n]*+|/\*(?s:.)*?\*/'
)
_NO_BRACES = bytes(byte for byte in range(256) if byte not in b"{}")
# Taking pairs away layer by layer takes a while for thousands of layers, which nobody writes.
_MAX_DEPTH = 64


def plain_bodies(
    source: bytes, opening: re.Pattern[bytes] | None, hint: re.Pattern[bytes] | None, min_bytes: int
) -> list[tuple[int, int]]:
    """Where bodies of at least `min_bytes` begin and end, in order: from behind the brace to the closing line.

    `opening` matches to the brace at the end of a line that opens a function; its group, if it has one, is the
    indentation of that line. Without it there are none.
    """
    bodies: list[tuple[int, int]] = []
    if opening is None:
        return bodies
    at = 0
    for found in opening.finditer(source):
        start = found.end()
        if start < at:
            continue
        indent = found[1] if opening.groups else b""
        closing = _outer_line(indent).search(source, start)
        if closing is None:
            break
        end = closing.start() + 1
        is_closed = source[end + len(indent) : end + len(indent) + 1] == b"}"
        if end - start >= min_bytes and is_closed and _is_whole(source[start:end]):
            at = end
            if hint is None or hint.search(source, start, end) is None:
                bodies.append((start, end))
    return bodies


def ranges_around(source: bytes, bodies: Sequence[tuple[int, int]]) -> list[Range]:
    """What is left of a source without these bodies, as a parser wants to be told."""
    ranges: list[Range] = []
    begin, begin_point, row = 0, (0, 0), 0
    for start, end in bodies:
        row += source.count(b"\n", begin, start)
        column = start - (source.rfind(b"\n", 0, start) + 1)
        ranges.append(Range(begin_point, (row, column), begin, start))
        row += source.count(b"\n", start, end)
        begin, begin_point = end, (row, 0)
    ranges.append(Range(begin_point, _LAST_POINT, begin, _LAST_BYTE))
    return ranges


def _is_whole(body: bytes) -> bool:
    if body.rfind(b"/*") > body.rfind(b"*/"):
        return False
    code = _QUOTED.sub(b"", body)
    # A quote that is left was not closed.
    return b'"' not in code and b"`" not in code and _nests(code.translate(None, _NO_BRACES))


def _nests(braces: bytes) -> bool:
    for _ in range(_MAX_DEPTH):
        if not braces:
            return True
        braces = braces.replace(b"{}", b"")
    return False


@lru_cache(maxsize=64)
def _outer_line(indent: bytes) -> re.Pattern[bytes]:
    """The next line that is indented no deeper; empty lines, labels and directives of a preprocessor do not count."""
    if not indent:
        return re.compile(rb"\n(?![ \t\r\n#]|\w+:(?!:))")
    return re.compile(rb"\n(?![ \t\r]*\n|#|" + re.escape(indent) + rb"(?:[ \t#]|\w+:(?!:)))")
