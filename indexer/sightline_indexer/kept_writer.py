"""A writer that stays open between jobs, so that merges go on behind single saves instead of in front of them.

**Invariant**: while a writer is kept the write lock is held; giving it up releases both. Used by the job thread, and
by whoever closes the index once that thread is over.
"""

from __future__ import annotations

import logging

from sightline_core.errors import SightlineError
from sightline_indexer.locks import WriteLock
from sightline_indexer.writer import IndexWriter

_LOG = logging.getLogger(__name__)


class WriterKeeper:
    """Holds at most one writer."""

    def __init__(self, lock: WriteLock) -> None:
        self._lock = lock
        self._writer: IndexWriter | None = None

    @property
    def is_holding(self) -> bool:
        """Whether a writer is kept, and the lock with it."""
        return self._writer is not None

    def take(self) -> IndexWriter | None:
        """The kept writer for a job, which has the lock from then on."""
        writer, self._writer = self._writer, None
        return writer

    def keep(self, writer: IndexWriter) -> None:
        """Keep the writer of a job that ended well; the lock stays held."""
        self._writer = writer

    def give_up(self, *, settle: bool) -> None:
        """Close what is kept and release the lock; with `settle` running merges are waited for."""
        writer = self.take()
        if writer is not None:
            close_quietly(writer, settle=settle)
            self._lock.release()


def close_quietly(writer: IndexWriter, *, settle: bool) -> None:
    """Close a writer whose work is published; what goes wrong then is not the job's fault."""
    try:
        writer.close(settle=settle)
    except SightlineError as error:
        # What was published stays readable; the next job opens the files anew.
        _LOG.warning("closing the index failed: %s", error)
