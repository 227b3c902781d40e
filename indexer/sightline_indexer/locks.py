"""The write lock of an index: at most one process changes it.

**Invariant**: the kernel holds the lock for an open descriptor, so it is free the moment its process is gone, however
that happened. The file stays and means nothing by itself.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable

from sightline_indexer.layout import LOCK_NAME


class WriteLock:
    """One process's hold on the lock of one workspace. Used by one thread."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, LOCK_NAME)
        self._descriptor = -1

    @property
    def held(self) -> bool:
        """Whether this process may write."""
        return self._descriptor >= 0

    def try_acquire(self) -> bool:
        """Take the lock if it is free."""
        if self.held:
            return True
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except OSError:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return True

    def acquire(self, *, timeout_s: float, poll_s: float, cancelled: Callable[[], bool]) -> bool:
        """Take the lock, waiting for another process at most so long; False when that was not enough."""
        deadline = time.monotonic() + timeout_s
        while not self.try_acquire():
            if cancelled() or time.monotonic() >= deadline:
                return False
            time.sleep(poll_s)
        return True

    def release(self) -> None:
        """Let another process write."""
        if self.held:
            os.close(self._descriptor)
            self._descriptor = -1
