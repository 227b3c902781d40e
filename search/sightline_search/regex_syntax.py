"""A reader of RE2's syntax, for analysis alone: what runs is compiled by RE2 itself.

**Invariant**: gives up (None) on what it does not know; never raises. Case and greediness are left out, because
those who read the tree do not care.
"""

from __future__ import annotations

from dataclasses import dataclass

_MAX_SET = 64
_CONTROLS = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_SPACES = frozenset("\t\n\f\r ")
_DIGITS = frozenset("0123456789")
_OCTAL = frozenset("01234567")
_HEX = frozenset("0123456789abcdefABCDEF")
_POSIX_SPACES = {"space": _SPACES | {"\v"}, "blank": frozenset(" \t"), "digit": _DIGITS}
_MAX_CODE_POINT = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Empty:
    """Matches the empty text, at some or all places."""


@dataclass(frozen=True, slots=True)
class LineEdge:
    """The begin or end of a line or of the text."""


@dataclass(frozen=True, slots=True)
class CharSet:
    """One character out of a set; None when the set is large or negated."""

    characters: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything at all."""


@dataclass(frozen=True, slots=True)
class Concatenation:
    """Parts one after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """One of several."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """A part several times; `most` is None without an upper bound."""

    part: Node
    least: int
    most: int | None


Node = Empty | LineEdge | CharSet | Unknown | Concatenation | Alternation | Repetition


class _GiveUpError(Exception):
    """Something that this reader does not know."""


def parse_pattern(pattern: str, max_depth: int) -> Node | None:
    """The tree of an expression that RE2 accepted; None when it is not understood."""
    try:
        return _Reader(pattern, max_depth).read()
    except _GiveUpError:
        return None


def may_span_lines(pattern: str) -> bool:
    """Whether the expression asks for matches over several lines: by a line break, or by the flag `s`."""
    reader = _Reader(pattern, max_depth=len(pattern) + 1)
    try:
        reader.read()
    except (_GiveUpError, RecursionError):
        return "\n" in pattern or "\\n" in pattern
    return reader.met_newline or reader.met_dot_all


class _Reader:
    """Reads one expression from left to right."""

    def __init__(self, pattern: str, max_depth: int) -> None:
        self._text = pattern
        self._at = 0
        self._depth = 0
        self._max_depth = max_depth
        self.met_newline = False
        self.met_dot_all = False

    def read(self) -> Node:
        node = self._alternation()
        if self._at < len(self._text):
            raise _GiveUpError
        return node

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise _GiveUpError
        self._at += 1
        return character

    def _accept(self, text: str) -> bool:
        if self._text.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def _until(self, end: str) -> str:
        stop = self._text.find(end, self._at)
        if stop < 0:
            raise _GiveUpError
        found = self._text[self._at : stop]
        self._at = stop + len(end)
        return found

    def _alternation(self) -> Node:
        options = [self._concatenation()]
        while self._accept("|"):
            options.append(self._concatenation())
        return options[0] if len(options) == 1 else Alternation(tuple(options))

    def _concatenation(self) -> Node:
        parts: list[Node] = []
        while (character := self._peek()) and character not in "|)":
            if self._accept("\\Q"):
                parts.extend(self._quoted())
                continue
            part = self._atom()
            while (bounds := self._bounds()) is not None:
                part = Repetition(part, *bounds)
            parts.append(part)
        return parts[0] if len(parts) == 1 else Concatenation(tuple(parts))

    def _quoted(self) -> list[Node]:
        stop = self._text.find("\\E", self._at)
        quoted = self._text[self._at :] if stop < 0 else self._text[self._at : stop]
        self._at = len(self._text) if stop < 0 else stop + 2
        parts: list[Node] = [self._literal(character) for character in quoted]
        # A repetition after the quotation belongs to its last character.
        while parts and (bounds := self._bounds()) is not None:
            parts[-1] = Repetition(parts[-1], *bounds)
        return parts

    def _literal(self, character: str) -> CharSet:
        if character == "\n":
            self.met_newline = True
        return CharSet(frozenset({character}))

    def _bounds(self) -> tuple[int, int | None] | None:
        character = self._peek()
        if character and character in "*+?":
            self._at += 1
            self._accept("?")
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[character]
        return self._braces() if character == "{" else None

    def _braces(self) -> tuple[int, int | None] | None:
        stop = self._text.find("}", self._at)
        least, comma, most = self._text[self._at + 1 : stop].partition(",") if stop >= 0 else ("", "", "")
        if not _is_number(least) or (most and not _is_number(most)):
            return None  # RE2 takes such a brace for itself
        self._at = stop + 1
        self._accept("?")
        if not comma:
            return int(least), int(least)
        return int(least), int(most) if most else None

    def _atom(self) -> Node:
        character = self._take()
        if character == "(":
            return self._group()
        if character == "[":
            return CharSet(self._set())
        if character == "\\":
            return self._escape()
        if character in "^$":
            return LineEdge()
        return CharSet(None) if character == "." else self._literal(character)

    def _group(self) -> Node:
        if self._accept("?"):
            if self._accept("P<") or self._accept("<"):
                self._until(">")
            elif self._flags():
                return Empty()
        self._depth += 1
        if self._depth > self._max_depth:
            raise _GiveUpError
        node = self._alternation()
        self._depth -= 1
        if not self._accept(")"):
            raise _GiveUpError
        return node

    def _flags(self) -> bool:
        """Read `(?flags)` or `(?flags:`; True for the first."""
        switched_on = True
        while True:
            character = self._take()
            if character == ")":
                return True
            if character == ":":
                return False
            if character == "-":
                switched_on = False
            elif character == "s":
                self.met_dot_all = self.met_dot_all or switched_on
            elif character not in "imU":
                raise _GiveUpError

    def _escape(self) -> Node:
        character = self._peek()
        if character and character in "Az":
            self._at += 1
            return LineEdge()
        if character and character in "bB":
            # RE2's words are ASCII, those of the index are not: nothing can be said about the neighbour.
            self._at += 1
            return Empty()
        if character == "C":
            self._at += 1
            return Unknown()
        return CharSet(self._escaped())

    def _escaped(self) -> frozenset[str] | None:
        """The characters of an escape that may also stand in a set."""
        character = self._take()
        if character in _CONTROLS:
            self.met_newline = self.met_newline or character == "n"
            return frozenset({_CONTROLS[character]})
        if character == "s":
            return _SPACES
        if character == "d":
            return _DIGITS
        if character in "wWSD":
            return None
        if character in "pP":
            return self._property()
        if character == "x":
            return frozenset({self._hexadecimal()})
        if character in _OCTAL:
            return frozenset({self._octal(character)})
        if character.isascii() and character.isalnum():
            raise _GiveUpError
        return frozenset({character})

    def _property(self) -> None:
        if self._accept("{"):
            self._until("}")
        else:
            self._take()

    def _hexadecimal(self) -> str:
        digits = self._until("}") if self._accept("{") else self._take() + self._take()
        if not digits or not set(digits) <= _HEX or int(digits, 16) > _MAX_CODE_POINT:
            raise _GiveUpError
        return self._code_point(int(digits, 16))

    def _octal(self, first: str) -> str:
        digits = first
        while len(digits) < 3 and self._peek() in _OCTAL:
            digits += self._take()
        return self._code_point(int(digits, 8))

    def _code_point(self, value: int) -> str:
        self.met_newline = self.met_newline or value == ord("\n")
        return chr(value)

    def _set(self) -> frozenset[str] | None:
        negated = self._accept("^")
        members: set[str] | None = set()
        first = True
        while first or self._peek() != "]":
            first = False
            found = self._member()
            members = None if found is None or members is None else members | found
        self._at += 1
        if negated or members is None or len(members) > _MAX_SET:
            return None
        return frozenset(members)

    def _member(self) -> frozenset[str] | None:
        if self._text.startswith("[:", self._at) and ":]" in self._text[self._at + 2 :]:
            self._at += 2
            return _POSIX_SPACES.get(self._until(":]"))
        low = self._set_character()
        if self._peek() != "-" or self._text[self._at + 1 : self._at + 2] in ("]", ""):
            return low
        self._at += 1
        high = self._set_character()
        if low is None or high is None or len(low) != 1 or len(high) != 1:
            raise _GiveUpError
        start, stop = ord(min(low)), ord(min(high))
        return frozenset(map(chr, range(start, stop + 1))) if stop - start < _MAX_SET else None

    def _set_character(self) -> frozenset[str] | None:
        character = self._take()
        if character == "\\":
            return self._escaped()
        return self._literal(character).characters


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
