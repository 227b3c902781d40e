"""The read side of an index: snapshots of one generation over the text index and the manifest.

**Invariant**: a snapshot never mixes generations. The text index's commit names the generation, the manifest's rows
are filtered by it inside one read transaction, and a snapshot whose rows were already cleaned away is not given out.
Nothing here writes.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import tantivy

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_core.types import Symbol
from sightline_indexer import manifest, schema
from sightline_indexer.candidates import Lookup, candidate_query
from sightline_indexer.catalogue import Catalogue, build_catalogue
from sightline_indexer.definitions import DefinitionRow, Definitions, NamedRow, nearest
from sightline_indexer.generation_cache import GenerationCache
from sightline_indexer.index_health import incompatible, reading
from sightline_indexer.layout import TEXT_FOLDER
from sightline_indexer.manifest import FileFacts, GenerationRecord
from sightline_indexer.records import FileRecord, SymbolRecord
from sightline_indexer.vocabulary import Vocabulary
from sightline_indexer.words import fold, is_word_character, word_parts

_OPEN_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Candidates:
    """Files that may hold a text; `file_ids` is sorted."""

    file_ids: tuple[int, ...]


class Snapshot:
    """One generation of an index, unchanging until closed. Used by one thread at a time."""

    def __init__(
        self, store: IndexStore, searcher: tantivy.Searcher, connection: sqlite3.Connection, record: GenerationRecord
    ) -> None:
        self._store = store
        self._connection = connection
        self._closed = False
        self._cache = store.cache_of(record.generation)
        self._definitions = Definitions(connection, self._cache)
        self.searcher = searcher
        self.record = record

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the snapshot back; closing twice does nothing."""
        if not self._closed:
            self._closed = True
            self._store.give_back(self._connection)

    @property
    def generation(self) -> int:
        """The generation all answers of this snapshot come from."""
        return self.record.generation

    @property
    def complete(self) -> bool:
        """True when every file of the tree was looked at; False while the first index is being built."""
        return self.record.complete

    @property
    def schema(self) -> tantivy.Schema:
        """What queries for `searcher` are built with."""
        return self._store.schema

    @property
    def folder(self) -> str:
        """Where the index lies."""
        return self._store.folder

    # -- files ---------------------------------------------------------------------------------

    def file(self, path: str) -> FileRecord | None:
        """The file at a path."""
        with reading():
            return manifest.file_by_path(self._connection, self.generation, path)

    def files(self) -> Iterator[FileRecord]:
        """Every file, sorted by path, also those without text (see their `problem`)."""
        with reading():
            yield from manifest.live_files(self._connection, self.generation)

    def files_by_id(self, file_ids: Iterable[int]) -> dict[int, FileRecord]:
        """Id → file."""
        with reading():
            return {file.file_id: file for file in manifest.files_by_id(self._connection, file_ids)}

    def file_facts(self, file_ids: Iterable[int]) -> dict[int, FileFacts]:
        """Id → what ranking weighs a file by, of those ids that belong to this generation."""
        wanted = list(file_ids)
        with reading():
            known = self._cache.facts_of(self._connection, set(wanted))
        return {file_id: known[file_id] for file_id in wanted if file_id in known}

    def frequency(self, field: str, word: str) -> int:
        """How many files hold a word in a field of the text index."""
        key = (field, word)
        known = self._cache.frequencies.get(key)
        if known is None:
            known = self.searcher.doc_freq(field, word)
            self._cache.keep_frequency(key, known, self._store.limits.max_cached_frequencies)
        return known

    def _content_frequency(self, word: str) -> int:
        return self.frequency(schema.CONTENT, word)

    def catalogue(self) -> Catalogue:
        """All searchable files in the order of a scan; kept until the next generation."""
        known = self._store.kept_catalogue(self.generation)
        if known is None:
            with reading():
                known = build_catalogue(self._connection, self.generation)
            self._store.keep_catalogue(self.generation, known)
        return known

    def file_ids(self, addresses: Sequence[tantivy.DocAddress]) -> list[int]:
        """The file ids of search hits, in their order."""
        values = self.searcher.fast_field_values(schema.FILE, list(addresses))
        return [int(value or 0) for value in values]

    def language_counts(self) -> Mapping[str, int]:
        """Language → number of files."""
        with reading():
            return manifest.counts_by(self._connection, self.generation, "language")

    def problem_counts(self) -> Mapping[str, int]:
        """Problem → number of files that have it."""
        with reading():
            return manifest.counts_by(self._connection, self.generation, "problem")

    # -- definitions ---------------------------------------------------------------------------

    def symbols_named(
        self, name: str, *, match_case: bool = True, limit: int | None = None, texts: bool = True
    ) -> list[SymbolRecord]:
        """Definitions with that very name, by path and place."""
        with reading():
            return self._definitions.named(name, match_case=match_case, limit=self._bound(limit), texts=texts)

    def rows_named(
        self, name: str, *, match_case: bool = True, owner: str | None = None, limit: int | None = None
    ) -> list[DefinitionRow]:
        """Definitions with that very name as far as their order depends on it, themselves in no order.

        With `owner` only those that belong to nothing or, as far as a short mark tells, to something called so.
        """
        with reading():
            bound = self._bound(limit)
            return self._definitions.rows_named(name, match_case=match_case, owner=owner, limit=bound)

    def definitions(self, rows: Iterable[DefinitionRow], *, texts: bool = True) -> list[SymbolRecord]:
        """The whole definitions of some rows, in their order."""
        with reading():
            return self._definitions.at_rows(rows, texts=texts)

    def containers(self, rows: Iterable[DefinitionRow]) -> list[str]:
        """What each of some definitions belongs to, empty for nothing."""
        with reading():
            return self._definitions.containers(rows)

    def rows_with_prefix(self, prefix: str, *, longer: bool = False, limit: int | None = None) -> list[NamedRow]:
        """Definitions whose name begins with `prefix` in any case, by name, path and place; with `longer` not itself.

        Looked for in a bounded number of files, which is all of them unless the prefix is a short one.
        """
        query = _longer_query(self.schema, fold(prefix)) if longer else _prefix_query(self.schema, fold(prefix))
        facts = self.file_facts(self._matching_files(query, self._store.limits.max_prefix_files))
        files = sorted(facts.values(), key=lambda file: file.path)[: self._store.limits.max_part_files]
        with reading():
            found = self._definitions.beginning([file.file_id for file in files], prefix)
        return found[: self._bound(limit)]

    def symbols_with_prefix(self, prefix: str, *, limit: int | None = None) -> list[SymbolRecord]:
        """Like `rows_with_prefix`, whole."""
        return self.definitions(item.row for item in self.rows_with_prefix(prefix, limit=limit))

    def symbols_in(self, file: FileRecord, *, texts: bool = True) -> list[SymbolRecord]:
        """The definitions of a file in its order."""
        with reading():
            return self._definitions.in_file(file, texts=texts)

    def with_texts(self, records: Sequence[SymbolRecord]) -> list[SymbolRecord]:
        """The same definitions with their signatures and doc lines."""
        files = self.files_by_id({record.file_id for record in records})
        whole = {
            (file_id, known.symbol.range.start, known.symbol.name): known
            for file_id, file in files.items()
            for known in self.symbols_in(file)
        }
        return [whole.get((r.file_id, r.symbol.range.start, r.symbol.name), r) for r in records]

    def names_holding(self, file_id: int, pieces: Sequence[str]) -> list[tuple[int, str, int]]:
        """Number, name and stored kind of the definitions whose name holds a folded piece; all without pieces."""
        with reading():
            return self._definitions.names_holding(file_id, pieces)

    def row_at(self, file: FileFacts, ordinal: int) -> DefinitionRow:
        """A definition of a file by its number there."""
        with reading():
            return self._definitions.row_at(file, ordinal)

    def rows_with_parts(self, file_ids: Iterable[int], parts: Sequence[str]) -> list[NamedRow]:
        """The definitions of some files whose name has all of some parts, each as a part or a whole word."""
        wanted = set(parts)

        def has_all(name: str) -> bool:
            return wanted.issubset(word_parts(name))

        with reading():
            return self._definitions.holding(file_ids, parts, has_all)

    def expect_definitions(self, file_ids: Sequence[int]) -> None:
        """Say whose definitions will be asked for, so that they are read at once; changes no answer."""
        with reading():
            self._definitions.expect(file_ids)

    def symbol_around(self, file_id: int, line: int) -> Symbol | None:
        """The innermost definition of a file that spans a line, without its signature and doc line."""
        with reading():
            return self._definitions.around(file_id, line)

    def spans_between(self, file_id: int, first: int, last: int) -> list[tuple[int, int, str]]:
        """First line, last line and qualified name of what touches some lines of a file, the innermost last."""
        with reading():
            return self._definitions.spans(file_id, first, last)

    def near_names(self, name: str, limit: int) -> list[str]:
        """Names of definitions that differ from `name` by a typing mistake or two, nearest first."""
        distance = 2 if len(name) > self._store.limits.short_name_chars else 1
        query = tantivy.Query.fuzzy_term_query(self.schema, schema.NAMES, fold(name), distance)
        file_ids = self._matching_files(query, self._store.limits.max_near_name_files)
        with reading():
            names = self._definitions.names_in(file_ids)
        return nearest(name, names, distance, limit)

    # -- candidates ----------------------------------------------------------------------------

    def candidate_files(self, *all_of: str | Sequence[str]) -> Candidates | None:
        """Files that may hold every one of the texts, in any case; None when the index cannot narrow it down.

        A sequence stands for "at least one of these". Never misses a file of this generation.
        """
        groups = [(item,) if isinstance(item, str) else tuple(item) for item in all_of]
        lookup = Lookup(self.schema, self._store.vocabulary, self._content_frequency, self._store.limits)
        query = candidate_query(groups, lookup)
        if query is None:
            return None
        return Candidates(self._matching_files(query, max(1, self.searcher.num_docs)))

    def files_with_word(self, word: str) -> Candidates:
        """Files that hold a whole word, such as an identifier, in any case."""
        return self.files_with_words((word,))

    def files_with_words(self, words: Iterable[str]) -> Candidates:
        """Files that hold each of some whole words, in any case."""
        queries: list[tuple[tantivy.Occur, tantivy.Query]] = []
        for word in map(fold, words):
            too_long = len(word.encode()) > self._store.limits.max_word_bytes
            field, term = (schema.MARKS, schema.LONG_WORD) if too_long else (schema.CONTENT, word)
            query = tantivy.Query.term_query(self.schema, field, term, index_option="basic")
            queries.append((tantivy.Occur.Must, query))
        everything = queries[0][1] if len(queries) == 1 else tantivy.Query.boolean_query(queries)
        return Candidates(self._matching_files(everything, max(1, self.searcher.num_docs)))

    def _matching_files(self, query: tantivy.Query, limit: int) -> tuple[int, ...]:
        hits = self.searcher.search(
            query, limit, count=False, order_by_field=schema.FILE, order=tantivy.Order.Asc
        ).hits
        return tuple(int(value) for value, _ in hits)

    def _bound(self, limit: int | None) -> int:
        return self._store.limits.max_named_symbols if limit is None else limit


class IndexStore:
    """An open index, ready to give snapshots. Thread-safe."""

    def __init__(self, folder: str, limits: Limits) -> None:
        """Raises `index_incompatible` when the files cannot be opened; call `index_health.examine` before."""
        self.folder = folder
        self.limits = limits
        self.schema = schema.build_schema()
        self.vocabulary = Vocabulary(folder, limits.vocabulary_chunk_bytes)
        self._meta_path = os.path.join(folder, TEXT_FOLDER, "meta.json")
        self._lock = threading.Lock()
        # Each with the time it was given back, the latest last.
        self._idle: list[tuple[sqlite3.Connection, float]] = []
        self._catalogue: tuple[int, Catalogue] | None = None
        self._cache = GenerationCache(0)
        self._closed = False
        self._seen_meta: tuple[int, int, int] | None = None
        self._reloads = 0
        self._generation = 0
        try:
            self._index = schema.open_text_index(os.path.join(folder, TEXT_FOLDER))
        except ValueError as error:
            raise incompatible(f"its text index cannot be opened ({error})") from error
        self._searcher = self._index.searcher()

    def snapshot(self) -> Snapshot:
        """The newest committed generation; raises `index_not_ready` when there is none yet."""
        for _ in range(_OPEN_ATTEMPTS):
            searcher, generation = self.newest()
            if generation == 0:
                raise SightlineError(
                    ErrorCode.INDEX_NOT_READY,
                    "The workspace has no index yet.",
                    hint="Wait for the running job, or start one with index_repo.",
                )
            found = self._try_snapshot(searcher, generation)
            if found is not None:
                return found
        raise incompatible("its two halves do not belong together")

    def newest(self) -> tuple[tantivy.Searcher, int]:
        """The newest searcher with its generation, 0 before the first commit."""
        with self._lock:
            try:
                info = os.stat(self._meta_path)
            except OSError as error:
                raise incompatible(f"its text index is gone ({error.strerror})") from error
            seen = (info.st_ino, info.st_mtime_ns, info.st_size)
            if seen != self._seen_meta:
                self._reload()
                self._seen_meta = seen
            return self._searcher, self._generation

    def kept_catalogue(self, generation: int) -> Catalogue | None:
        """The catalogue of a generation, if it is the one that was made last."""
        with self._lock:
            kept = self._catalogue
        return kept[1] if kept is not None and kept[0] == generation else None

    def keep_catalogue(self, generation: int, catalogue: Catalogue) -> None:
        """Keep a catalogue for the next search."""
        with self._lock:
            if self._catalogue is None or self._catalogue[0] <= generation:
                self._catalogue = (generation, catalogue)

    def cache_of(self, generation: int) -> GenerationCache:
        """What is remembered of a generation; only the newest one that was asked for is kept."""
        with self._lock:
            if self._cache.generation < generation:
                self._cache = GenerationCache(generation)
            kept = self._cache
        return kept if kept.generation == generation else GenerationCache(generation)

    def give_back(self, connection: sqlite3.Connection) -> None:
        """Take a snapshot's connection back; one that a busy moment left behind is closed after a while."""
        connection.execute("ROLLBACK")
        now = time.monotonic()
        superfluous: list[sqlite3.Connection] = []
        with self._lock:
            if self._closed or len(self._idle) >= self.limits.max_idle_readers:
                superfluous.append(connection)
            else:
                self._idle.append((connection, now))
            if self._idle and now - self._idle[0][1] > self.limits.idle_reader_s:
                superfluous.append(self._idle.pop(0)[0])
        for unused in superfluous:
            unused.close()

    def close(self) -> None:
        """Close idle connections; snapshots that are still out close theirs when they are given back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()
        self.vocabulary.close()

    def _try_snapshot(self, searcher: tantivy.Searcher, generation: int) -> Snapshot | None:
        with reading():
            connection = self._connection()
            connection.execute("BEGIN")
            pruned = int(manifest.read_meta(connection, "pruned") or 0)
            record = manifest.read_generation(connection, generation)
        if record is not None and pruned <= generation:
            return Snapshot(self, searcher, connection, record)
        # A writer went on between the two reads: look again.
        self.give_back(connection)
        with self._lock:
            self._seen_meta = None
        return None

    def _connection(self) -> sqlite3.Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()[0]
        return manifest.open_manifest(self.folder, read_only=True)

    def _reload(self) -> None:
        """Called with the lock held."""
        for attempt in range(_OPEN_ATTEMPTS):
            try:
                if self._reloads >= self.limits.max_text_reloads:
                    self._index = schema.open_text_index(os.path.join(self.folder, TEXT_FOLDER))
                    self._reloads = 0
                self._index.reload()
                self._reloads += 1
                break
            except ValueError as error:
                # A writer may have removed files of the commit that was being opened.
                if attempt == _OPEN_ATTEMPTS - 1:
                    raise incompatible(f"its text index cannot be read ({error})") from error
        self._searcher = self._index.searcher()
        self._generation = read_text_generation(self._searcher, self.schema)


def _prefix_query(text_schema: tantivy.Schema, prefix: str) -> tantivy.Query:
    return tantivy.Query.fuzzy_term_query(text_schema, schema.NAMES, prefix, 0, prefix=True)


def _longer_query(text_schema: tantivy.Schema, prefix: str) -> tantivy.Query:
    """Names that go on after a prefix, in letters of ASCII where it is written in them: all others cost ten times."""
    expression = "".join(c if is_word_character(c) else f"\\{c}" for c in prefix)
    rest = "[0-9_a-z][0-9_a-z]*" if prefix.isascii() else ".+"
    return tantivy.Query.regex_query(text_schema, schema.NAMES, expression + rest)


def read_text_generation(searcher: tantivy.Searcher, text_schema: tantivy.Schema) -> int:
    """The generation of a commit of the text index, 0 before the first one."""
    query = tantivy.Query.term_query(text_schema, schema.KEY, schema.GENERATION_KEY, index_option="basic")
    hits = searcher.search(query, 2, count=False, order_by_field=schema.FILE).hits
    if len(hits) > 1:
        raise incompatible("it names two generations")
    return int(hits[0][0]) if hits else 0
