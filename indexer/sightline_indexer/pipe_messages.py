"""Messages between a process and its parent over standard input and output: a length, then so many bytes."""

from __future__ import annotations

import os
import struct

LENGTH = struct.Struct("<I")


def receive() -> bytes | None:
    """The next message on standard input; None at its end."""
    header = _read_exactly(LENGTH.size)
    return None if header is None else _read_exactly(LENGTH.unpack(header)[0])


def send(data: bytes) -> None:
    """Write a message to standard output."""
    # In one go: the length alone would wake the reader for nothing.
    view = memoryview(LENGTH.pack(len(data)) + data)
    while view:
        view = view[os.write(1, view) :]


def _read_exactly(size: int) -> bytes | None:
    data = b""
    while len(data) < size:
        chunk = os.read(0, size - len(data))
        if not chunk:
            return None
        data += chunk
    return data
