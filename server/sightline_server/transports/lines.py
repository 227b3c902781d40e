"""Lines of bytes from a stream, and the standard streams claimed for them; no library is needed for either.

A light module, see `daemon.place`.
"""

from __future__ import annotations

import posix


class LineSplitter:
    """Cuts a byte stream into lines, dropping what is longer than the limit."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._dropping = False

    def feed(self, chunk: bytes) -> list[bytes | None]:
        """The lines that `chunk` completes; None stands for one that was too long."""
        lines: list[bytes | None] = []
        *complete, rest = chunk.split(b"\n")
        for piece in complete:
            self._add(piece)
            lines.append(None if self._dropping else b"".join(self._parts))
            self._reset()
        self._add(rest)
        return lines

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._max_bytes:
            self._dropping = True
            self._parts.clear()
        if not self._dropping:
            self._parts.append(piece)

    def _reset(self) -> None:
        self._parts.clear()
        self._size = 0
        self._dropping = False


class claimed_streams:  # noqa: N801 - reads as a function at its one use
    """Private copies of standard input and output; the originals lead to nothing and to stderr meanwhile."""

    def __enter__(self) -> tuple[int, int]:
        self._source, self._sink = posix.dup(0), posix.dup(1)
        nothing = posix.open("/dev/null", posix.O_RDONLY)
        posix.dup2(nothing, 0)
        posix.close(nothing)
        posix.dup2(2, 1)
        return self._source, self._sink

    def __exit__(self, *_: object) -> None:
        posix.dup2(self._source, 0)
        posix.dup2(self._sink, 1)
