"""A caller's literal or regular expression made ready to run, or refused with the reason.

**Invariant**: caller patterns run on RE2 alone, within a bound on program size and memory. Matches stay within a line
unless the pattern itself asks for more: by a line break in it, or by the flag `(?s)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

import re2

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_search.regex_literals import normalise, required_literals
from sightline_search.regex_syntax import may_span_lines

_TEXT_ENDS = re.compile(r"\\[AzC]|\(\?[a-zA-Z]*-")

# The binding comes without types; this is the part of it that is used.
_re2_compile = cast("Callable[[bytes, re2.Options], Regex]", re2.compile)  # pyright: ignore[reportUnknownMemberType]
_Re2Error = cast("type[Exception]", re2.error)  # pyright: ignore[reportUnknownMemberType]


class Match(Protocol):
    """Where a pattern matched, in bytes."""

    def span(self) -> tuple[int, int]: ...


class Regex(Protocol):
    """The part of a compiled RE2 expression that is used."""

    @property
    def programsize(self) -> int: ...
    def search(self, text: bytes, pos: int, endpos: int) -> Match | None: ...


@dataclass(frozen=True, slots=True)
class Pattern:
    """What to look for. Every match holds a text of each group of `required`, as the index sees texts.

    `line_by_line` when a line alone decides whether it matches, wherever in a text it stands.
    """

    regex: Regex
    spans_lines: bool
    line_by_line: bool
    required: tuple[tuple[str, ...], ...]


def compile_pattern(text: str, *, regex: bool, case_sensitive: bool, limits: Limits) -> Pattern:
    """Make a pattern; raises `invalid_input` naming what is wrong with it."""
    if not text or len(text) > limits.max_pattern_chars:
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            f"A pattern must have between 1 and {limits.max_pattern_chars} characters.",
            hint="Search for a shorter text.",
        )
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise SightlineError(
            ErrorCode.INVALID_INPUT, "The pattern is not valid Unicode text.", hint="Check how it was encoded."
        ) from None
    spans_lines = may_span_lines(text) if regex else "\n" in text
    options = _options(limits, literal=not regex, case_sensitive=case_sensitive, spans_lines=spans_lines)
    compiled = _compile(b"(?m)" + data if regex else data, options)
    if compiled.programsize > limits.max_regex_program:
        raise _too_large()
    required = required_literals(text, limits) if regex else _literal_group(text)
    # Only these know about the begin and the end of a text; to be on the safe side wherever they stand.
    line_by_line = not spans_lines and not (regex and _TEXT_ENDS.search(text))
    return Pattern(compiled, spans_lines, line_by_line, required)


def _literal_group(text: str) -> tuple[tuple[str, ...], ...]:
    shown = normalise(text)
    return ((shown,),) if shown.strip() else ()


def _options(limits: Limits, *, literal: bool, case_sensitive: bool, spans_lines: bool) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.never_nl = not spans_lines
    options.literal = literal
    options.case_sensitive = case_sensitive
    options.max_mem = limits.max_regex_memory_bytes
    return options


def _compile(data: bytes, options: re2.Options) -> Regex:
    try:
        compiled = _re2_compile(data, options)
        # The binding keeps what it compiled, each with the automaton it grew: a stream of hostile patterns would
        # fill the memory. Compiling again costs less than a tenth of a millisecond.
        re2.purge()
        return compiled
    except _Re2Error as error:
        reason: object = error.args[0] if error.args else ""
        raise _refusal(reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)) from None


def _refusal(reason: str) -> SightlineError:
    if "too large" in reason or "repetition size" in reason:
        return _too_large()
    operator = reason.rpartition(": ")[2]
    if operator in ("(?=", "(?!", "(?<=", "(?<!"):
        message = f"Lookaround '{operator}' is not supported: the engine does not backtrack."
        hint = "Match the text around it too, or search for the inner part and filter the results."
    elif operator in {f"\\{digit}" for digit in range(1, 10)}:
        message = f"The backreference '{operator}' is not supported: the engine does not backtrack."
        hint = "Spell out the alternatives instead."
    else:
        message = f"The regular expression is not valid: {reason}."
        hint = "Use RE2 syntax, or mode=literal to search for the text as it is."
    return SightlineError(ErrorCode.INVALID_INPUT, message, hint=hint)


def _too_large() -> SightlineError:
    return SightlineError(
        ErrorCode.INVALID_INPUT,
        "The regular expression is too large: its repetitions or classes multiply.",
        hint="Use smaller repetition counts, or + and * instead.",
    )
