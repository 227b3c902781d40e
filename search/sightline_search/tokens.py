"""How many tokens of a language model a text takes, estimated on the safe side.

**Invariant**: never above the number of bytes, which no byte-level encoder exceeds. That it is not below the true
count is measured, not proven: against four published encoders, on stretches of 500 characters and more of two large
repositories (the ones it was tuned on, another sample), at most 0.6 of 100 were below, the worst at 0.87 of the count
(dense CSS selectors); the median was 1.3 to 1.5 times the count. Shorter stretches reached 0.81.

No model's own tokenizer is asked: there are many, and they are large. The assumption is one of the kind in use
today: it splits at word borders before it merges, keeps a leading space with its word but not with a number, splits
compound identifiers about where people do, takes digits at most one by one, and other scripts at most byte by byte.
"""

from __future__ import annotations

import re

# In this order: what looks encoded; parts of identifiers; digits, with the space that does not merge with them; runs
# of marks; controls; line ends with their indentation; blanks; underscores.
_PIECE = re.compile(
    r"[A-Za-z0-9+/]{28,}|[A-Z]+(?![a-z])|[A-Z]?[a-z]+| ?[0-9]|[!-/:-@\[-^`{-~]+|[\x00-\x08\x0e-\x1f\x7f]"
    r"|\n[ \t]*|[ \t\r\f\v]+|_+"
)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9+/]")
_ENCODED_CHARS = 28
_SHORT_WORD_CHARS = 5
_WORD_CHARS_A_TOKEN = 3
_CAPITALS_A_TOKEN = 2
_SAME_MARKS_A_TOKEN = 4
_MARKS_A_TOKEN = 2
_BLANKS_A_TOKEN = 16
_MAX_WEIGHTS = 50_000
# Folders of a path look encoded too, and come again.
_REMEMBERED_CHARS = 80
_DIGIT = re.compile(r"[0-9]")


def estimate_tokens(text: str) -> int:
    """An upper estimate of the tokens of a text."""
    if text.isascii():
        return min(_ascii_tokens(text), len(text))
    size = len(text.encode("utf-8", "replace"))
    others = "".join(character for character in text if not character.isascii())
    return min(size, _ascii_tokens(text) + len(others.encode("utf-8", "replace")))


def typical_tokens(text: str) -> int:
    """What a text most likely takes, for sizes that are aimed at; budgets that must hold use `estimate_tokens`."""
    return -(-estimate_tokens(text) * 3 // 4)


class _Weights(dict[str, int]):
    """Piece → its tokens, remembered for the short ones: code is written with few different pieces."""

    def __missing__(self, piece: str) -> int:
        weight = _weight(piece)
        if len(piece) < _REMEMBERED_CHARS:
            if len(self) >= _MAX_WEIGHTS:
                self.clear()
            self[piece] = weight
        return weight


_weights = _Weights()


def _ascii_tokens(text: str) -> int:
    return sum(map(_weights.__getitem__, _PIECE.findall(text)))


def _weight(piece: str) -> int:
    first = piece[0]
    size = len(piece)
    if first.isalpha() or (size >= _ENCODED_CHARS and not first.isspace()):
        return _long_weight(piece) if size >= _ENCODED_CHARS else _word_weight(piece)
    if first == "\n":
        return 1 if size == 1 else 2 + size // _BLANKS_A_TOKEN
    if first.isspace():
        return len(piece.strip()) * 2 or (0 if piece == " " else 1 + size // _BLANKS_A_TOKEN)
    if first < " ":
        return size
    return -(-size // (_SAME_MARKS_A_TOKEN if piece.count(first) == size else _MARKS_A_TOKEN))


def _word_weight(piece: str) -> int:
    size = len(piece)
    if size > 1 and piece.isupper():
        return -(-size // _CAPITALS_A_TOKEN)
    return 1 if size <= _SHORT_WORD_CHARS else 1 - (-(size - _SHORT_WORD_CHARS) // _WORD_CHARS_A_TOKEN)


def _long_weight(piece: str) -> int:
    """A long run of letters and digits: a long name, or encoded bytes, of which nothing merges well."""
    if _DIGIT.search(piece) and not piece.isdigit():
        return len(piece) - len(piece) // 4
    return (
        sum(map(_word_weight, _PART.findall(piece))) if piece[0].isalnum() else -(-len(piece) // _SAME_MARKS_A_TOKEN)
    )
