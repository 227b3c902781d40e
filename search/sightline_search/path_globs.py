"""Path filters: globs as people write them, matched in linear time.

**Invariant**: the patterns come from callers, so they run on an engine without backtracking, and the expression for
the text index is the same one.

A pattern without a slash inside matches a name at any depth (`vendor`, `*.go`), one with a slash is anchored at the
root; either matches the file itself and everything below a directory of that name. `*` stays within a name, `**`
crosses names, `?`, `[a-z]` and `{a,b}` work as in a shell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Protocol, cast

import re2

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits

_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$#&\-~]")


class _Pattern(Protocol):
    def fullmatch(self, text: str) -> object: ...


def glob_expression(glob: str, limits: Limits) -> str:
    """The regular expression of a glob, to be matched against whole paths; raises `invalid_input`."""
    pattern = glob.strip()
    while pattern.startswith("./"):
        pattern = pattern[2:]
    if len(pattern) > limits.max_glob_chars or "\0" in pattern:
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            f"A path pattern must not be longer than {limits.max_glob_chars} characters or hold a NUL.",
            hint="Shorten the pattern, or give several.",
        )
    only_below = pattern.endswith("/")
    body = pattern.strip("/")
    if not body:
        return ".*"
    anchored = "/" in body or pattern.startswith("/")
    head = "" if anchored or body.startswith("**") else "(.*/)?"
    return head + _translate(body) + ("/.*" if only_below else "(/.*)?")


def path_matcher(globs: Sequence[str], limits: Limits) -> Callable[[str], bool]:
    """Whether a path matches at least one of the globs; raises `invalid_input` for a pattern that cannot be used."""
    compiled = [_compile(glob_expression(glob, limits)) for glob in globs]
    return lambda path: any(pattern.fullmatch(path) is not None for pattern in compiled)


@lru_cache(maxsize=256)
def _compile(expression: str) -> _Pattern:
    try:
        options = re2.Options()
        options.log_errors = False
        return cast("_Pattern", re2.compile(expression, options))  # pyright: ignore[reportUnknownMemberType]
    except re2.error:  # pyright: ignore[reportUnknownMemberType]
        raise SightlineError(
            ErrorCode.INVALID_INPUT, "The path pattern is too complex.", hint="Use fewer wildcards or alternatives."
        ) from None


def _translate(body: str) -> str:
    out: list[str] = []
    open_braces = 0
    at = 0
    while at < len(body):
        character = body[at]
        if body.startswith("**/", at):
            out.append("(.*/)?")
            at += 3
            continue
        if body.startswith("**", at):
            out.append(".*")
            at += 2
            continue
        if character == "*":
            out.append("[^/]*")
        elif character == "?":
            out.append("[^/]")
        elif character == "[" and (end := body.find("]", at + 2)) > 0:
            out.append(_class(body[at + 1 : end]))
            at = end
        elif character == "{" and "}" in body[at:]:
            out.append("(")
            open_braces += 1
        elif character == "}" and open_braces:
            out.append(")")
            open_braces -= 1
        elif character == "," and open_braces:
            out.append("|")
        else:
            out.append(_escape(character))
        at += 1
    return "".join(out) + ")" * open_braces


def _class(inside: str) -> str:
    negated = inside[:1] in ("!", "^")
    members = inside[1:] if negated else inside
    safe = re.sub(r"([\\\[\]^&~])", r"\\\1", members)
    return f"[^/{safe}]" if negated else f"[{safe}]"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
