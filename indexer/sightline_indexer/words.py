"""Words of a text and the parts of compound words.

**Invariant**: splitting and folding look at one character at a time, never at its neighbours. Therefore the words of
a substring are the words of the text, but for the two at its ends, and a search for them can miss nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_WORD_BYTES = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
# Bytes above 127 belong to characters that were looked at before.
_SEPARATE = bytes(byte if byte in _WORD_BYTES or byte > 127 else 32 for byte in range(256))

# The combining iota is no letter, but a search without case takes it for one.
_IOTA_BELOW = "\u0345"
_WORD = re.compile(rf"[\w{_IOTA_BELOW}]+")
_NO_WORD = re.compile(rf"[^\w{_IOTA_BELOW}]")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
_AFTER_DIGITS = ord("9") + 1
# An acronym ends before the capital that begins the next part: HTTPRequest is HTTP and Request.
_ASCII_PART = re.compile(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one text, ready for the index.

    `whole` holds every word in order, folded; `parts` those of compound words, at each use;
    `has_long` tells that words were left out because they are too long.
    """

    whole: str
    parts: str
    has_long: bool


class WordSplitter:
    """Splits texts; remembers the parts of words it has met, and which words are new since last asked.

    Not thread-safe: one belongs to one worker.
    """

    def __init__(self, max_word_bytes: int, max_cached_words: int) -> None:
        self._memory = _PartsMemory(max_word_bytes)
        self._runs = _Runs()
        self._max_word_bytes = max_word_bytes
        self._max_cached_words = max_cached_words

    def split(self, text: str | bytes) -> Words:
        """The words of a text; bytes must be ASCII."""
        if len(self._memory) > self._max_cached_words:
            self._memory.clear()
            self._runs.clear()
        memory = self._memory
        memory.met_long = False
        data = text.encode() if isinstance(text, str) else text
        if not data.isascii():
            data = _BEYOND_ASCII.sub(self._runs.clean, data)
        words = data.translate(_SEPARATE).split()
        parts = b" ".join(filter(None, map(memory.__getitem__, words)))
        if memory.met_long:
            words = [word for word in words if len(word) <= self._max_word_bytes]
        # Joining drops the indentation, a quarter of most sources, from all that follows.
        whole = b" ".join(words)
        whole = whole.lower() if whole.isascii() else _BEYOND_ASCII.sub(self._runs.fold, whole.lower())
        return Words(whole.decode(), parts.decode(), memory.met_long)

    def split_short(self, texts: Iterable[str]) -> str:
        """The words of short texts and the parts of compound ones, folded, in one string; long words are left out."""
        words = self.split("\n".join(texts))
        return f"{words.whole} {words.parts}" if words.parts else words.whole

    def take_new_words(self) -> list[bytes]:
        """The folded words met for the first time since the last call."""
        new = self._memory.new_words
        self._memory.new_words = []
        return new


class _PartsMemory(dict[bytes, bytes]):
    """Word → its parts, folded and joined by spaces; empty for a word that is not compound."""

    def __init__(self, max_word_bytes: int) -> None:
        super().__init__()
        self.max_word_bytes = max_word_bytes
        self.met_long = False
        self.new_words: list[bytes] = []

    def __missing__(self, word: bytes) -> bytes:
        if len(word) > self.max_word_bytes:
            # Not remembered, so that every meeting is noticed.
            self.met_long = True
            return b""
        if word[0] < _AFTER_DIGITS:
            # A number in any base has no parts worth finding. Most different words are numbers.
            parts, folded = b"", word if word.isdigit() else _fold_bytes(word)
        elif word.islower() and word.isalpha():
            # Most other words are plain: no parts, nothing to fold.
            parts, folded = b"", word
        elif word.isascii():
            folded = word.lower()
            parts = _ascii_parts(word)
        else:
            parts, folded = b" ".join(_unicode_parts(word.decode())), _fold_bytes(word)
        self[word] = parts
        self.new_words.append(folded)
        return parts


class _Runs:
    """What becomes of runs of characters beyond ASCII, remembered: a text has few different ones."""

    def __init__(self) -> None:
        self._clean: dict[bytes, bytes] = {}
        self._folded: dict[bytes, bytes] = {}

    def clear(self) -> None:
        """Forget all."""
        self._clean.clear()
        self._folded.clear()

    def clean(self, found: re.Match[bytes]) -> bytes:
        """A run with spaces in place of what belongs to no word."""
        run = found[0]
        known = self._clean.get(run)
        if known is None:
            known = self._clean[run] = _NO_WORD.sub(" ", run.decode()).encode()
        return known

    def fold(self, found: re.Match[bytes]) -> bytes:
        """A run without differences of case."""
        run = found[0]
        known = self._folded.get(run)
        if known is None:
            known = self._folded[run] = fold(run.decode()).encode()
        return known


def split_words(text: str) -> list[str]:
    """The words of a text as they are written, in order."""
    return _WORD.findall(text)


def word_parts(word: str) -> list[str]:
    """The folded parts of a compound word, empty for any other: `parseHTTPRequest2` is parse http request 2."""
    if word.isascii():
        return _ascii_parts(word.encode()).decode().split()
    return [part.decode() for part in _unicode_parts(word)]


def is_word_character(character: str) -> bool:
    """Whether a character belongs to a word."""
    return character.isalnum() or character in ("_", _IOTA_BELOW)


def fold(text: str) -> str:
    """A text with differences of case removed, one character for one character.

    Two characters that a case-insensitive search takes for one are folded to the same.
    """
    if text.isascii():
        return text.lower()
    return "".join(map(_fold_character, text))


def _fold_bytes(word: bytes) -> bytes:
    if word.isascii():
        return word.lower()
    return fold(word.decode()).encode()


# Pairs that are one letter to a search without case although each folds to several other characters.
_TWINS = {"\u1fd3": "\u0390", "\u1fe3": "\u03b0", "\ufb05": "\ufb06"}


def _fold_character(character: str) -> str:
    character = _TWINS.get(character, character)
    folded = character.casefold()
    if len(folded) == 1:
        return folded
    # Full folding would make two characters of one (ß); the lower case is the nearest single one, where there is one.
    lower = character.lower()
    return lower if len(lower) == 1 else character


def _ascii_parts(word: bytes) -> bytes:
    # A number in any base has no parts worth finding.
    if word[:1].isdigit():
        return b""
    parts: list[bytes] = _ASCII_PART.findall(word)
    return b" ".join(parts).lower() if len(parts) > 1 else b""


def _unicode_parts(word: str) -> list[bytes]:
    parts: list[str] = []
    previous = "_"
    for at, character in enumerate(word):
        following = word[at + 1 : at + 2]
        if character == "_":
            previous = character
            continue
        if _begins_part(previous, character, following):
            parts.append(character)
        else:
            parts[-1] += character
        previous = character
    return [fold(part).encode() for part in parts] if len(parts) > 1 and not word[0].isdigit() else []


def _begins_part(previous: str, character: str, following: str) -> bool:
    if previous == "_" or previous.isdigit() != character.isdigit():
        return True
    if not character.isupper():
        return False
    return not previous.isupper() or following.islower()
