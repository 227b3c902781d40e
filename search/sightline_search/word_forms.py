"""Other forms of an English word, so that `decoding` finds `decode` and `headers` finds `header`.

**Invariant**: only forms are proposed; whether the index holds them is for the caller to ask.
"""

from __future__ import annotations

from functools import lru_cache

_MIN_STEM = 3
_ENDINGS = ("", "s", "es", "ed", "ing", "er", "or", "ion", "e", "able")


@lru_cache(maxsize=16_384)
def word_forms(word: str) -> tuple[str, ...]:
    """Likely forms of a folded word, without itself; empty for what is no plain word."""
    if len(word) <= _MIN_STEM or not word.isalpha() or not word.isascii():
        return ()
    found: dict[str, None] = {}
    for stem in _stems(word):
        for ending in _ENDINGS:
            found[stem + ending] = None
        if stem.endswith("e"):
            for ending in ("d", "r", "s"):
                found[stem + ending] = None
        if stem.endswith("y"):
            found[stem[:-1] + "ies"] = None
            found[stem[:-1] + "ied"] = None
    found.pop(word, None)
    return tuple(found)


def _stems(word: str) -> list[str]:
    stems = [word]
    for ending, back in (
        ("ies", "y"),
        ("ied", "y"),
        ("ization", "ize"),
        ("ation", "ate"),
        ("ing", ""),
        ("ing", "e"),
        ("ions", ""),
        ("ion", ""),
        ("ion", "e"),
        ("ers", ""),
        ("er", ""),
        ("er", "e"),
        ("ors", ""),
        ("or", ""),
        ("ed", ""),
        ("ed", "e"),
        ("es", ""),
        ("es", "e"),
        ("s", ""),
        ("able", ""),
        ("able", "e"),
        ("e", ""),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            stem = word[: len(word) - len(ending)] + back
            stems.append(stem)
            # `running` doubles the last letter of `run`.
            if not back and len(stem) > _MIN_STEM and stem[-1] == stem[-2] and ending in ("ing", "ed", "er"):
                stems.append(stem[:-1])
    return [stem for stem in dict.fromkeys(stems) if len(stem) >= _MIN_STEM]
