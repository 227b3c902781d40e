"""The write side of an index: one generation at a time over vocabulary, manifest and text index.

**Invariant**: order of a commit: words, then rows, then the text index, whose commit publishes the generation. What
was published is never undone; what was not is removed by the next writer. One thread, under the write lock.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_indexer import schema
from sightline_indexer.documents import file_document, generation_document
from sightline_indexer.index_health import incompatible, remove_fingerprint, remove_unpublished
from sightline_indexer.layout import TEXT_FOLDER
from sightline_indexer.manifest import (
    GenerationRecord,
    KnownFile,
    ManifestWriter,
    known_files,
    paths_below,
    read_meta,
)
from sightline_indexer.records import SKIPPING_PROBLEMS, Extracted
from sightline_indexer.reserve import reserved
from sightline_indexer.store import read_text_generation
from sightline_indexer.vocabulary import VocabularyWriter

# A text index takes a seventh of its text, its merges and its list of segments a little more.
_TEXT_RATIO = 4
_TEXT_ROOM_BYTES = 128 * 1024


class IndexWriter:
    """Changes an index; readers see each `commit` as a whole."""

    def __init__(
        self,
        folder: str,
        limits: Limits,
        *,
        first_generation: int = 0,
        for_update: bool = False,
        between: Callable[[], None] | None = None,
    ) -> None:
        """`between` is called between the two commits of a generation, for tests of what a crash leaves there.

        `for_update` takes less memory, enough for changes to an index that is there. `first_generation` numbers the
        commits of a rebuilt index on from those of the old one.
        """
        self.folder = folder
        self._between = between
        self._schema = schema.build_schema()
        remove_fingerprint(folder)
        self._index = schema.open_text_index(os.path.join(folder, TEXT_FOLDER))
        heap_bytes = limits.index_update_heap_bytes if for_update else limits.index_writer_heap_bytes
        self._text = self._index.writer(heap_bytes, 1)
        # A kill can leave a deletion file that would make every later commit fail.
        self._text.garbage_collect_files()
        self._searcher = self._index.searcher()
        self._rows = ManifestWriter(folder, limits)
        settled = int(read_meta(self._rows.connection, "vocabulary"))
        self._words = VocabularyWriter(folder, limits.max_remembered_words, settled)
        self.published = read_text_generation(self._searcher, self._schema)
        # Words of commits from before are found in the text index; those of this writer it remembers itself.
        self._has_words = self.published > 0
        self._base = max(self.published, first_generation)
        self._rows.recover(self.published)
        self._open = False
        self._dirty = False
        self._text_bytes = 0
        self._heap_bytes = heap_bytes
        self.commits = 0

    @property
    def has_changes(self) -> bool:
        """Whether a commit would publish anything."""
        return self._dirty

    @property
    def connection(self) -> sqlite3.Connection:
        """For reading the manifest as this writer sees it."""
        return self._rows.connection

    def known_files(self, paths: frozenset[str] | None = None) -> dict[str, KnownFile]:
        """What the published generation knows of all files, or of some."""
        return known_files(self._rows.connection, self.published, paths)

    def paths_below(self, folder: str) -> list[str]:
        """The published files below a folder."""
        return paths_below(self._rows.connection, self.published, folder)

    def put(self, file: Extracted) -> None:
        """Add a file, or replace it."""
        self._begin()
        self._dirty = True
        file_id, is_known = self._rows.put(file)
        if is_known:
            # Each deletion is looked for in every segment: a first index has none to look for.
            self._text.delete_documents_by_term(schema.KEY, file.path)
        self._text_bytes += len(file.content) + len(file.parts)
        if file.problem not in SKIPPING_PROBLEMS:
            self._text.add_document(file_document(file, file_id, self._schema))

    def remove(self, path: str) -> bool:
        """Remove a file; False when the index has none of that path."""
        self._begin()
        if not self._rows.remove(path):
            return False
        self._dirty = True
        self._text.delete_documents_by_term(schema.KEY, path)
        return True

    def touch(self, file: Extracted) -> None:
        """Note that a file is unchanged although its stat is not."""
        self._begin()
        self._rows.touch(file)

    def add_words(self, words: list[bytes]) -> None:
        """Make words findable by their parts; they reach the disk before the next commit."""
        fresh = self._words.unseen(words)
        if self._has_words:
            fresh = [word for word in fresh if self._searcher.doc_freq(schema.CONTENT, word.decode()) == 0]
        self._words.add(fresh)

    def commit(self, *, complete: bool, skipped: Mapping[str, int]) -> GenerationRecord:
        """Publish what changed as a new generation; on failure nothing of it is seen."""
        self._begin()
        try:
            self._words.flush()
            # A disk that fills up between the two commits would keep rows that nobody can ever see or remove.
            with reserved(self.folder, self._text_room()):
                record = self._rows.finish(complete=complete, indexed_at=_now(), skipped=skipped)
            if self._between is not None:
                self._between()
            self._text.delete_documents_by_term(schema.KEY, schema.GENERATION_KEY)
            self._text.add_document(generation_document(record.generation, self._schema))
            self._text.commit()
        except (OSError, ValueError, sqlite3.Error) as error:
            raise write_failure(error) from error
        self.published = self._base = record.generation
        self.commits += 1
        self._open = self._dirty = False
        self._text_bytes = 0
        return record

    def confirm(self, *, skipped: Mapping[str, int] | None) -> None:
        """End a pass that changed nothing; with `skipped` the whole tree was looked at."""
        if self._open or skipped is not None:
            self._begin()
            self._rows.commit_touches(indexed_at=_now(), skipped=skipped, published=self.published)
            self._open = False

    def close(self, *, settle: bool) -> None:
        """Close, dropping what was not committed; with `settle` running merges are waited for."""
        try:
            self._rows.rollback()
            if self._dirty:
                self._text.rollback()
            else:
                self._rows.note_vocabulary(self._words.size)
            if settle:
                self._text.wait_merging_threads()
        except (OSError, ValueError, sqlite3.Error) as error:
            raise write_failure(error) from error
        finally:
            del self._text
            self._rows.close()
            self._words.close()
            if self._dirty:
                # A disk that is full must not stay full of what was never published, and the engine's own cleaning
                # needs room.
                remove_unpublished(os.path.join(self.folder, TEXT_FOLDER))

    def _text_room(self) -> int:
        """What the commit of the text index may still have to write; the rest was written when its heap was full."""
        return min(self._text_bytes // _TEXT_RATIO, self._heap_bytes) + _TEXT_ROOM_BYTES

    def _begin(self) -> None:
        if not self._open:
            self._rows.begin(self.published, self._base)
            self._open = True


def write_failure(error: Exception) -> SightlineError:
    """What a failed write is to a caller."""
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return incompatible(f"writing to it failed ({error})")
    return SightlineError(
        ErrorCode.INTERNAL_ERROR,
        f"The index could not be written: {error}.",
        hint="The last published index still answers. Make room or repair the disk, then run sync_repo.",
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
