"""Room on the disk that is kept free until it is needed.

**Invariant**: nothing is kept after the block; without room the block is not entered and an OSError says so.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress

RESERVE_NAME = "reserve"


@contextmanager
def reserved(folder: str, size: int) -> Generator[None]:
    """Keep `size` bytes of the disk of `folder` for who comes after the block; raises OSError when it has no room."""
    path = os.path.join(folder, RESERVE_NAME)
    with open(path, "wb") as file:
        try:
            if size > 0 and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            yield
        finally:
            with suppress(FileNotFoundError):
                os.unlink(path)
