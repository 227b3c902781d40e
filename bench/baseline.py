"""The simple ranking that the product is compared with: BM25 with identifier parts, path and symbol fields.

Written apart from the product's ranking, over source files only, test files counting half.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from sightline_core.languages import languages
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.store import Snapshot

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_K1, _B = 1.2, 0.75
_TEST_WEIGHT = 0.5


def split(text: str) -> list[str]:
    """The words of a text and the parts of compound ones, in lower case."""
    found: list[str] = []
    for word in _WORD.findall(text):
        found.append(word.lower())
        parts = _PART.findall(word)
        if len(parts) > 1:
            found.extend(part.lower() for part in parts)
    return found


class Baseline:
    """BM25 over the source files of one tree."""

    def __init__(self, root: str, snapshot: Snapshot) -> None:
        code = {name for name, row in languages().items() if row.symbols}
        self.files = [file for file in snapshot.files() if file.language in code]
        self.fields: list[list[Counter[str]]] = [[], [], []]
        for file in self.files:
            with open(f"{root}/{file.path}", encoding="utf-8", errors="replace") as source:
                self.fields[0].append(Counter(split(source.read())))
            self.fields[1].append(Counter(split(file.path)))
            self.fields[2].append(Counter(split(" ".join(r.symbol.name for r in snapshot.symbols_in(file)))))
        self.frequencies = [Counter(word for words in field for word in words) for field in self.fields]
        self.lengths = [[sum(words.values()) for words in field] for field in self.fields]

    def rank(self, text: str) -> list[str]:
        """The paths of the files that hold a word of the text, best first."""
        scores = [0.0] * len(self.files)
        for field, frequency, lengths in zip(self.fields, self.frequencies, self.lengths, strict=True):
            self._add(scores, field, frequency, lengths, set(split(text)))
        ranked = sorted(
            (-score * (_TEST_WEIGHT if FileTrait.TEST in file.traits else 1.0), file.path)
            for score, file in zip(scores, self.files, strict=True)
            if score
        )
        return [path for _, path in ranked]

    def _add(
        self,
        scores: list[float],
        field: list[Counter[str]],
        frequency: Counter[str],
        lengths: list[int],
        words: Iterable[str],
    ) -> None:
        average = sum(lengths) / max(1, len(lengths)) or 1.0
        for word in words:
            files = frequency[word]
            if not files:
                continue
            rarity = math.log(1 + (len(field) - files + 0.5) / (files + 0.5))
            for at, counts in enumerate(field):
                count = counts[word]
                if count:
                    scores[at] += rarity * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * lengths[at] / average))
