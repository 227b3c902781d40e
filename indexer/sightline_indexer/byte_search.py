"""Finding bytes in a mapped file at memory speed, without holding the interpreter where the C library can.

**Invariant**: the same answer as `bytes.find`; the mapping lives as long as whoever searches it.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable


class MappedBytes:
    """The first `size` bytes of an open file. Thread-safe; nothing is written through it."""

    def __init__(self, descriptor: int, size: int) -> None:
        # A private mapping is writable, which is what ctypes asks for before it tells an address.
        self._map = mmap.mmap(descriptor, size, access=mmap.ACCESS_COPY)
        self._view = (ctypes.c_char * size).from_buffer(self._map) if _MEMMEM is not None else None
        self._address = ctypes.addressof(self._view) if self._view is not None else 0

    def __getitem__(self, stretch: slice) -> bytes:
        return self._map[stretch]

    def find(self, needle: bytes, start: int, end: int) -> int:
        """Where `needle` begins within a stretch, -1 when nowhere."""
        if _MEMMEM is None:
            return self._map.find(needle, start, end)
        found = _MEMMEM(self._address + start, max(0, end - start), needle, len(needle))
        return -1 if found is None else found - self._address

    def find_break(self, start: int) -> int:
        """Where the first line break from `start` on stands, -1 when nowhere."""
        return self._map.find(b"\n", start)

    def find_break_before(self, end: int) -> int:
        """Where the last line break before `end` stands, -1 when nowhere."""
        return self._map.rfind(b"\n", 0, end)


def _find_memmem() -> Callable[[int, int, bytes, int], int | None] | None:
    """`memmem` of the C library: two to three times as fast as `find` of Python; None where there is none."""
    try:
        function = ctypes.CDLL(None).memmem
    except (OSError, TypeError, AttributeError):
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
    return function


_MEMMEM = _find_memmem()
