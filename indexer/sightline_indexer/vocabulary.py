"""Every word of an index once or a few times, so that a part of a word can be turned into the words that hold it.

**Invariant**: the file holds at least all words of every committed generation: words are appended and synced before
the commit that needs them. It may hold more (words of removed files, of commits that never happened, repetitions),
which costs a little time and no answer.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from enum import Enum

from sightline_indexer.byte_search import MappedBytes

VOCABULARY_NAME = "vocabulary"
_SHARES = 256


class Edge(Enum):
    """Where in a word a piece of text stands."""

    START = "start"
    END = "end"
    ANYWHERE = "anywhere"


class VocabularyWriter:
    """Appends words; used by one thread, under the write lock."""

    def __init__(self, folder: str, max_remembered: int, settled_bytes: int) -> None:
        """Words beyond `settled_bytes` come from commits that may have failed; they are not written again."""
        self._file = open(os.path.join(folder, VOCABULARY_NAME), "a+b")  # noqa: SIM115
        self._file.seek(settled_bytes)
        self._max_remembered = max_remembered
        self._forget()
        # The last one may be torn and is not counted on.
        self.unseen(self._file.read().split(b"\n")[:-1])
        self._is_torn = True
        self._has_unsafe = False

    @property
    def size(self) -> int:
        """How many bytes the words take on disk."""
        return os.fstat(self._file.fileno()).st_size

    def unseen(self, words: Iterable[bytes]) -> list[bytes]:
        """The words that were not given to this writer before, as far as it remembers."""
        if self._remembered > self._max_remembered:
            self._forget()
        memory = self._memory
        fresh: list[bytes] = []
        for word in words:
            if word not in (known := memory[hash(word) % _SHARES]):
                known[word] = None
                fresh.append(word)
        self._remembered += len(fresh)
        return fresh

    def add(self, words: Iterable[bytes]) -> None:
        """Append words; they are safe after the next flush."""
        text = b"\n".join(words)
        if text:
            # A crash may have torn the last word: a line break keeps it from merging with the next one.
            self._file.write(b"\n" + text + b"\n" if self._is_torn else text + b"\n")
            self._is_torn = False
            self._has_unsafe = True

    def flush(self) -> None:
        """Put the words on disk; costs nothing when there are none, as after most saves."""
        if self._has_unsafe:
            self._file.flush()
            os.fdatasync(self._file.fileno())
            self._has_unsafe = False

    def close(self) -> None:
        """Close; words that were not flushed may be lost."""
        # A full disk fails here once more, for words that no commit needs.
        with suppress(OSError):
            self._file.close()

    def _forget(self) -> None:
        # Many dictionaries: growing one that holds all words would hold up the whole process for a tenth of a second.
        # And no sets, since the collector of cycles walks through all of a set.
        self._memory: tuple[dict[bytes, None], ...] = tuple({} for _ in range(_SHARES))
        self._remembered = 0


class Vocabulary:
    """The words on disk, searched by scanning them: a few megabytes at memory speed, nothing to maintain.

    Thread-safe. Sees words that were appended later by asking for the file's size each time.
    """

    def __init__(self, folder: str, chunk_bytes: int) -> None:
        self._path = os.path.join(folder, VOCABULARY_NAME)
        self._chunk_bytes = chunk_bytes
        self._lock = threading.Lock()
        self._map: MappedBytes | None = None
        self._size = 0

    def words_with(self, piece: bytes, edge: Edge, limit: int) -> list[bytes] | None:
        """The distinct words that hold `piece` at that edge; None when there are more than `limit`."""
        words, size = self._mapped()
        if words is None:
            return []
        needle = {Edge.START: b"\n" + piece, Edge.END: piece + b"\n", Edge.ANYWHERE: piece}[edge]
        found: set[bytes] = set()
        at = 0
        while at < size:
            # In stretches, because where there is no `memmem` the search holds the interpreter.
            end = min(size, at + self._chunk_bytes)
            hit = words.find(needle, at, end)
            if hit < 0:
                # The next stretch begins early enough for a needle that straddles the border.
                at = end if end == size else end - len(needle) + 1
                continue
            inside = hit + 1 if edge is Edge.START else hit
            start = words.find_break_before(inside) + 1
            stop = words.find_break(inside)
            if stop < 0:
                break  # the word is being appended right now; no committed file has it yet
            found.add(words[start:stop])
            if len(found) > limit:
                return None
            at = stop
        return list(found)

    def close(self) -> None:
        """Let go of the mapping."""
        with self._lock:
            # Searches that run right now keep it alive; it is unmapped when the last one is done.
            self._map = None
            self._size = 0

    def _mapped(self) -> tuple[MappedBytes | None, int]:
        with self._lock:
            size = os.stat(self._path).st_size
            if size != self._size and size > 0:
                with open(self._path, "rb") as file:
                    self._map = MappedBytes(file.fileno(), size)
                self._size = size
            return self._map, self._size


def write_empty_vocabulary(folder: str) -> None:
    """The vocabulary of an index without words."""
    with open(os.path.join(folder, VOCABULARY_NAME), "xb"):
        pass
