"""Telling work in another thread that nobody waits for it any more.

**Invariant**: asking costs next to nothing and never raises; work that does not ask is merely not stopped early.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_CURRENT: ContextVar[threading.Event | None] = ContextVar("sightline_withdrawn", default=None)


@contextmanager
def withdrawn_at_exit() -> Generator[None, None, None]:
    """Work that is started inside the block, in threads that inherit its context, is withdrawn at its end."""
    event = threading.Event()
    token = _CURRENT.set(event)
    try:
        yield
    finally:
        _CURRENT.reset(token)
        event.set()


def is_withdrawn() -> bool:
    """Whether whoever started this work has gone on without it."""
    event = _CURRENT.get()
    return event is not None and event.is_set()
