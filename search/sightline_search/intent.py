"""What a query is: a name, a path, an error, a pattern, a quotation or a question; and why.

**Invariant**: decided from the text alone but for one question to the index, whether a plain word is a name in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sightline_core.languages import language_of
from sightline_search.model import Intent
from sightline_search.names import SymbolName, parse_name
from sightline_search.terms import looks_like_code

_TRACE = re.compile(
    r"Traceback \(most recent call last\)|^\s*at \S.*[(:]\S+:\d+|^\s+File \"|^goroutine \d+ \[|^\s*stack backtrace:"
    r"|panicked at |^Exception in thread|^Caused by: |--> \S+:\d+:\d+|^\s*#\d+ +0x[0-9a-f]+ |^Unhandled exception",
    re.MULTILINE,
)
_ERROR = re.compile(
    r"(?:^|[\s\[(.])(?:[A-Z]\w*(?:Error|Exception|Warning|Panic|Fault)|panic|fatal error|error(?:\[E\d+\])?"
    r"|segmentation fault|undefined reference|E[A-Z]{4,})\s*(?::|$)",
)
_FRAME = re.compile(r"^\s+(?:File \"|at )|^\S+\(.*\)$|^\s+\S+:\d+|:\d+(?::\d+)?\)?$|--> ")
_QUOTED = re.compile(r'"([^"\n]+)"|\'([^\'\n]{2,})\'')
_PATH_LINE = re.compile(r"(?P<path>\S*?[\w\]})*])(?::(?P<line>\d{1,7})(?::\d+)?|#L(?P<link>\d{1,7}))")
_REGEX = re.compile(r"\\[wWdDsSbB.()\[\]{}]|\.[*+?]|\[\^?[\w-]+\][*+?{]|\([?]|^\^|\$$|\w\|\w|\{\d+,?\d*\}|\)[*+?]")
_GLOB = re.compile(r"[*?]|\{[^}]*,[^}]*\}|\[[^\]]+\]")
_SYMBOL_FORM = re.compile(r"::|->|\w#\w|\w\.\w|\(\)$|\(.*\)$")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a query was taken for. `subject` is its path or quotation, `name` its name, `line` the line it asks for.

    `pasted_trace` when a stack trace is most of it, rather than a part of a longer text.
    """

    intent: Intent
    why: str
    subject: str = ""
    name: SymbolName | None = None
    line: int = 0
    pasted_trace: bool = False


def read_intent(text: str, is_defined: Callable[[str], bool]) -> Reading:
    """What a query is; `is_defined` tells whether the index knows a definition of that name."""
    stripped = text.strip()
    if "\n" in stripped:
        return _read_lines(stripped)
    quoted = _QUOTED.fullmatch(stripped)
    if quoted:
        return Reading(Intent.LITERAL, "the whole query is quoted", quoted.group(1) or quoted.group(2))
    if any(character.isspace() for character in stripped):
        return _read_sentence(stripped)
    return _read_word(stripped, is_defined)


def read_path(text: str) -> tuple[str, int]:
    """A path and the line that was written behind it, 0 when there is none."""
    match = _PATH_LINE.fullmatch(text.strip())
    if match is None:
        return text.strip(), 0
    return match["path"], int(match["line"] or match["link"])


def _read_lines(text: str) -> Reading:
    if _TRACE.search(text):
        lines = text.splitlines()
        frames = sum(_FRAME.search(line) is not None for line in lines)
        return Reading(Intent.ERROR, "it holds a stack trace", pasted_trace=frames * 3 >= len(lines))
    return Reading(Intent.NATURAL_LANGUAGE, "it is a text of several lines")


def _read_sentence(text: str) -> Reading:
    if _TRACE.search(text):
        return Reading(Intent.ERROR, "it holds a stack frame", pasted_trace=True)
    if _ERROR.search(text):
        return Reading(Intent.ERROR, "it reads like an error message", pasted_trace=True)
    name = parse_name(text) if text.endswith(")") and text.count("(") == 1 and " " not in text.split("(")[0] else None
    if name is not None:
        return Reading(Intent.SYMBOL, "it is written like a call", name=name)
    if _is_pattern(text):
        return Reading(Intent.REGEX, "it holds signs of a regular expression", text)
    return Reading(Intent.NATURAL_LANGUAGE, "it is several words")


def _read_word(text: str, is_defined: Callable[[str], bool]) -> Reading:
    path, line = read_path(text)
    if _is_path(path, line):
        return Reading(Intent.PATH, "it is written like a path", path, line=line)
    name = parse_name(text)
    if name is not None:
        if is_defined(name.name):
            return Reading(Intent.SYMBOL, "a definition has that name", name=name)
        if _SYMBOL_FORM.search(text) or looks_like_code(name.name) or name.name[:1].isupper():
            return Reading(Intent.SYMBOL, "it is written like a name", name=name)
        return Reading(Intent.NATURAL_LANGUAGE, "it is a word that no definition has as its name")
    if _is_pattern(text):
        return Reading(Intent.REGEX, "it holds signs of a regular expression", text)
    if _GLOB.search(text):
        return Reading(Intent.PATH, "it holds wildcards", text)
    if not re.search(r"\w", text):
        return Reading(Intent.LITERAL, "it has no word in it", text)
    return Reading(Intent.NATURAL_LANGUAGE, "it is none of the special forms")


def _is_path(text: str, line: int) -> bool:
    name = text.rsplit("/", 1)[-1]
    if not re.fullmatch(r"[\w@.+\-/\\~*?\[\]{},!]+", text):
        return False
    if _GLOB.search(text):
        return ("/" in text or language_of(name.replace("*", "x")) != "") and not re.search(r"\.[*+]|\\", text)
    known = language_of(name) != "" and not text.endswith(".")
    if line and known:
        return True
    if "/" in text:
        # `pkg/mod.Name` is a name, `pkg/mod.py` a path, `pkg/mod` a path.
        return known or "." not in name
    return known and "." in name


def _is_pattern(text: str) -> bool:
    return _REGEX.search(text) is not None
