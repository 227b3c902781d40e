"""One line of an ignore file, translated into the cheapest matcher that decides like git.

**Invariant**: a pattern comes from the searched repository and is hostile. Translating never raises, and matching is
linear in the path: what the standard `re` could only do with nested backtracking is left to RE2. Everything is bytes,
because git's `?` and `[...]` take one byte, not one character.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, cast

import re2

from sightline_core.limits import Limits

_SLASH = ord("/")
_BACKSLASH = ord("\\")
_STAR = ord("*")


class PatternKind(Enum):
    """How a pattern is matched; the first three look at the last component alone."""

    NAME = auto()
    NAME_SUFFIX = auto()
    NAME_GLOB = auto()
    PATH = auto()
    PATH_GLOB = auto()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled line: `literal` serves the kinds without wildcards, `matches` the globs.

    A path is matched relative to the directory of its ignore file. `parent` is the part of a path glob before its
    first wildcard, up to the last slash: no path outside of it can match. `depth` is the number of slashes in any
    path that it can match, None when it may run over slashes.
    """

    kind: PatternKind
    negated: bool
    directory_only: bool
    literal: bytes = b""
    regex: bytes = b""
    backtracks: bool = False
    matches: Callable[[bytes], object] | None = None
    parent: bytes = b""
    depth: int | None = None

    def can_match_in(self, directory: bytes) -> bool:
        """False when no entry of `directory` (empty, or with a trailing slash) can match this path glob."""
        return directory.startswith(self.parent) and (self.depth is None or directory.count(b"/") == self.depth)


class _Wild(Enum):
    ANY_BYTE = auto()
    STAR = auto()
    ANY_DIRECTORIES = auto()  # a leading or inner **/, which may also stand for nothing
    ANYTHING = auto()  # a trailing **


_Token = int | _Wild | frozenset[int]
_CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, range(32))) + "\x7f",
    "digit": string.digits,
    "graph": "".join(map(chr, range(33, 127))),
    "lower": string.ascii_lowercase,
    "print": "".join(map(chr, range(32, 127))),
    "punct": string.punctuation,
    "space": " \t\n\r",  # git's own ctype knows neither vertical tab nor form feed
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}
_CLASS_BYTES = {name.encode(): frozenset(chars.encode()) for name, chars in _CLASSES.items()}


def parse_pattern(line: bytes, limits: Limits) -> Pattern | None:
    """The pattern of one line without its line break; None for a blank, a comment, or what can never match."""
    text = _trim_trailing_spaces(line)
    if not text or text.startswith(b"#") or len(text) > limits.max_ignore_pattern_bytes:
        return None
    negated = text.startswith(b"!")
    text = text[1:] if negated else text
    directory_only = text.endswith(b"/")
    text = text[:-1] if directory_only else text
    by_path = b"/" in text
    tokens = _tokenize(text[1:] if text.startswith(b"/") else text, by_path=by_path)
    if not tokens:
        return None
    if tokens[0] is _Wild.ANY_DIRECTORIES and _SLASH not in tokens[1:] and not _crosses(tokens[1:]):
        tokens, by_path = tokens[1:], False
        if not tokens:
            return None
    return _compile(tokens, negated=negated, directory_only=directory_only, by_path=by_path)


def compile_regex(regex: bytes, *, backtracks: bool) -> Callable[[bytes], object] | None:
    """A whole-match function; None when the engine refuses the size of the expression."""
    if not backtracks:
        return re.compile(regex, re.DOTALL).fullmatch
    module = cast(Any, re2)
    options = module.Options()
    options.encoding = module.Options.Encoding.LATIN1
    options.dot_nl = True
    options.log_errors = False
    try:
        return cast("Callable[[bytes], object]", module.compile(regex, options).fullmatch)
    except module.error:
        return None


def _trim_trailing_spaces(line: bytes) -> bytes:
    text = line.split(b"\0", 1)[0]
    end = len(text.rstrip(b" "))
    if end == len(text):
        return text
    backslashes = end - len(text[:end].rstrip(b"\\"))
    # An odd backslash before the spaces keeps the first of them.
    return text[: end + 1] if backslashes % 2 else text[:end]


def _tokenize(text: bytes, *, by_path: bool) -> list[_Token] | None:
    """The tokens of a pattern, or None when it is malformed and so never matches."""
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        byte = text[at]
        if byte == _BACKSLASH:
            if at + 1 == len(text):
                return None
            tokens.append(text[at + 1])
            at += 2
        elif byte == ord("?"):
            tokens.append(_Wild.ANY_BYTE)
            at += 1
        elif byte == _STAR:
            token, at = _read_stars(text, at, by_path=by_path)
            tokens.append(token)
        elif byte == ord("["):
            found = _read_set(text, at + 1)
            if found is None:
                return None
            members, at = found
            tokens.append(members)
        else:
            tokens.append(byte)
            at += 1
    return tokens


def _read_stars(text: bytes, at: int, *, by_path: bool) -> tuple[_Token, int]:
    end = at
    while end < len(text) and text[end] == _STAR:
        end += 1
    bounded = at == 0 or text[at - 1] == _SLASH
    if end - at == 1 or not by_path or not bounded:
        return _Wild.STAR, end
    if end == len(text) or text[end : end + 2] == b"\\/":
        return _Wild.ANYTHING, end
    if text[end] == _SLASH:
        return _Wild.ANY_DIRECTORIES, end + 1
    return _Wild.STAR, end


def _read_set(text: bytes, at: int) -> tuple[frozenset[int], int] | None:
    """The bytes that a bracket expression takes and where it ends; `at` is behind the opening bracket."""
    negated = text[at : at + 1] in (b"!", b"^")
    at += negated
    members: set[int] = set()
    previous: int | None = None
    first = True
    while first or text[at : at + 1] != b"]":
        first = False
        if at >= len(text):
            return None
        byte = text[at]
        if byte == ord("-") and previous is not None and text[at + 1 : at + 2] not in (b"", b"]"):
            at += 1 + (text[at + 1] == _BACKSLASH)
            if at >= len(text):
                return None
            members.update(range(previous, text[at] + 1))
            previous = None
        elif byte == ord("[") and text[at + 1 : at + 2] == b":" and _class_end(text, at) != at:
            end = _class_end(text, at)
            named = _CLASS_BYTES.get(text[at + 2 : end - 1]) if end > 0 else None
            if named is None:
                return None
            members |= named
            previous, at = None, end
        else:
            at += byte == _BACKSLASH
            if at >= len(text):
                return None
            members.add(text[at])
            previous = text[at]
        at += 1
    chosen = (set(range(1, 256)) - members) if negated else members
    return frozenset(chosen - {_SLASH}), at + 1


def _class_end(text: bytes, at: int) -> int:
    """Where `[:name:]` at `at` closes; `at` itself when it is no class, -1 when the set never ends."""
    end = text.find(b"]", at + 2)
    if end < 0:
        return -1
    return end if end > at + 2 and text[end - 1] == ord(":") and end - 1 >= at + 2 else at


def _crosses(tokens: list[_Token]) -> bool:
    return any(token in (_Wild.ANY_DIRECTORIES, _Wild.ANYTHING) for token in tokens)


def _compile(tokens: list[_Token], *, negated: bool, directory_only: bool, by_path: bool) -> Pattern | None:
    if frozenset() in tokens:
        return None
    literal = _literal(tokens)
    if literal is not None:
        kind = PatternKind.PATH if by_path else PatternKind.NAME
        return Pattern(kind, negated, directory_only, literal=literal)
    if not by_path and tokens[0] is _Wild.STAR:
        suffix = _literal(tokens[1:])
        if suffix:
            return Pattern(PatternKind.NAME_SUFFIX, negated, directory_only, literal=suffix)
    regex = b"".join(map(_token_regex, tokens))
    backtracks = _may_backtrack(tokens)
    matches = compile_regex(regex, backtracks=backtracks)
    if matches is None:
        return None
    if backtracks:
        matches = _guarded(matches, _longest_literal(tokens))
    kind = PatternKind.PATH_GLOB if by_path else PatternKind.NAME_GLOB
    return Pattern(
        kind,
        negated,
        directory_only,
        regex=regex,
        backtracks=backtracks,
        matches=matches,
        parent=_literal_parent(tokens) if by_path else b"",
        depth=None if _crosses(tokens) else tokens.count(_SLASH),
    )


def _literal(tokens: list[_Token]) -> bytes | None:
    plain = [token for token in tokens if isinstance(token, int)]
    return bytes(plain) if len(plain) == len(tokens) else None


def _longest_literal(tokens: list[_Token]) -> bytes:
    """The longest text that every match holds."""
    runs, run = [b""], bytearray()
    for token in tokens:
        if isinstance(token, int):
            run.append(token)
        else:
            runs.append(bytes(run))
            run.clear()
    return max(*runs, bytes(run), key=len)


def _guarded(matches: Callable[[bytes], object], needed: bytes) -> Callable[[bytes], object]:
    """The same decision, by a mere look for `needed` where that is absent: the safe engine costs ten times more."""
    return lambda text: needed in text and matches(text)


def _literal_parent(tokens: list[_Token]) -> bytes:
    head: list[int] = []
    for token in tokens:
        if not isinstance(token, int):
            break
        head.append(token)
    return bytes(head[: len(head) - head[::-1].index(_SLASH)]) if _SLASH in head else b""


def _token_regex(token: _Token) -> bytes:
    if token is _Wild.ANY_BYTE:
        return b"[^/]"
    if token is _Wild.STAR:
        return b"[^/]*"
    if token is _Wild.ANY_DIRECTORIES:
        return b"(?:.*/)?"
    if token is _Wild.ANYTHING:
        return b".*"
    if isinstance(token, frozenset):
        return b"[" + b"".join(b"\\x%02x" % byte for byte in sorted(token)) + b"]"
    assert isinstance(token, int)
    return b"\\x%02x" % token


def _may_backtrack(tokens: list[_Token]) -> bool:
    """True unless each component has at most one star and only the end runs over slashes."""
    if _Wild.ANY_DIRECTORIES in tokens or _Wild.ANYTHING in tokens[:-1]:
        return True
    stars = 0
    for token in tokens:
        if token == _SLASH:
            stars = 0
        elif token is _Wild.STAR or token is _Wild.ANYTHING:
            stars += 1
            if stars > 1:
                return True
    return False
