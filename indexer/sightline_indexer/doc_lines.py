"""The first line of a definition's documentation: a docstring, or the comment right above it."""

from __future__ import annotations

import re

from sightline_core.limits import Limits
from sightline_core.text import clean_line

_DOCSTRING = re.compile(rb"[rRuU]?(?P<quote>\"\"\"|'''|\"|')(?P<text>.*?)(?P=quote)", re.DOTALL)
_DOCSTRING_STARTS = frozenset(b"\"'rRuU")
_SPACES = (
    "\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_BEFORE = _SPACES + "/*!#;:=-"
_AFTER = _SPACES + "*/"
_SPECIAL = re.compile(
    r"^(?:@\w+|eslint|tslint|prettier|noqa|type:|pylint|nolint|go:|\+k8s|\+build|region\b|endregion\b)"
)
# What begins none of these is none of them: most lines are told by their first character.
_SPECIAL_STARTS = frozenset("@etpng+r")
# Decorators, annotations, attributes and the like may stand between a comment and what it speaks of.
_SKIPPED = (b"@", b"#[", b"[", b"template")
_SKIPPED_STARTS = frozenset(b"@#[t")
_TAG = re.compile(r"</?\w+[^>]*>")


def docstring(source: bytes, body_start: int, limits: Limits) -> str:
    """The first line of the string that opens a Python body, empty when it opens with something else."""
    if body_start >= len(source) or source[body_start] not in _DOCSTRING_STARTS:
        return ""
    found = _DOCSTRING.match(source, body_start, body_start + limits.max_doc_scan_bytes)
    return _first_line(found["text"].decode("utf-8", "ignore"), limits) if found else ""


def comment_above(source: bytes, line_start: int, markers: tuple[bytes, ...], limits: Limits) -> str:
    """The first line of the comment that ends on the line before `line_start`.

    Lines of decorators, annotations and attributes may stand between the two.
    """
    end = line_start - 1
    floor = max(0, line_start - limits.max_doc_scan_bytes)
    lines: list[bytes] = []
    while end > floor:
        begin = source.rfind(b"\n", floor, end) + 1
        line = source[begin:end].strip()
        if line.startswith(markers) and not line.startswith((b"#[", b"#!")):
            lines.append(line)
        elif lines or not line:
            break
        elif line.endswith(b"*/"):
            opening = source.rfind(b"/*", floor, end)
            # Behind something on its line it speaks of that.
            if opening < 0 or not source[source.rfind(b"\n", floor, opening) + 1 : opening].strip():
                lines = [source[max(opening, floor) : end]]
            break
        elif line[0] not in _SKIPPED_STARTS or not line.startswith(_SKIPPED):
            break
        end = begin - 1
    for line in reversed(lines):
        found = _first_line(line.decode("utf-8", "ignore"), limits)
        if found:
            return found
    return ""


def _first_line(comment: str, limits: Limits) -> str:
    for line in comment.splitlines():
        text = line.lstrip(_BEFORE).rstrip(_AFTER)
        if text and not (text[0] in _SPECIAL_STARTS and _SPECIAL.match(text)):
            if "<" in text:
                text = _TAG.sub("", text)
            if not (text.isascii() and text.isprintable()):
                text = clean_line(text)
            if text:
                return text[: limits.max_doc_chars]
    return ""
