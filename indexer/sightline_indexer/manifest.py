"""The manifest: files and symbols of an index in SQLite, each row valid for a stretch of generations.

**Invariant**: a row is seen by generation g when born <= g < died. A generation's rows are committed here before the
text index commits the same generation, and the text index decides which generation is current; a crash between the
two leaves rows that no reader sees and the next writer removes.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sightline_core.limits import Limits
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.name_table import TABLE, NameTableWriter
from sightline_indexer.records import SKIPPING_PROBLEMS, Extracted, FileRecord, Problem
from sightline_indexer.schema import SCHEMA_VERSION

_LOG = logging.getLogger(__name__)

APPLICATION_ID = 0x53474C4E  # "SGLN": tells a foreign database from an old one
MANIFEST_NAME = "manifest.db"
LIVES_ON = 2**62  # `died` of a row that is current

_TABLES = """
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, born INTEGER NOT NULL, died INTEGER NOT NULL,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, racy INTEGER NOT NULL,
    digest BLOB NOT NULL, language TEXT NOT NULL, traits INTEGER NOT NULL, problem TEXT NOT NULL,
    symbol_count INTEGER NOT NULL
);
CREATE INDEX files_by_path ON files (path);
CREATE INDEX files_by_death ON files (died) WHERE died < {lives_on};
CREATE TABLE outlines (file_id INTEGER PRIMARY KEY, outline BLOB NOT NULL, texts BLOB NOT NULL);
CREATE TABLE generations (
    generation INTEGER PRIMARY KEY, complete INTEGER NOT NULL, files INTEGER NOT NULL, symbols INTEGER NOT NULL,
    indexed_at TEXT NOT NULL, skipped TEXT NOT NULL
);
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_FILE_COLUMNS = "id, path, size, mtime_ns, inode, digest, language, traits, problem, symbol_count"
# What people did not write here comes after what they wrote, and tests after what they test.
_FOREIGN = int(FileTrait.GENERATED | FileTrait.VENDORED | FileTrait.MINIFIED)
_TEST = int(FileTrait.TEST)
# Well below the number of parameters that every SQLite takes.
_IDS_AT_ONCE = 500
_LIVE = "born <= :generation AND died > :generation"


@dataclass(frozen=True, slots=True)
class GenerationRecord:
    """What is known of one generation as a whole; `complete` when every file of its tree was looked at."""

    generation: int
    complete: bool
    files: int
    symbols: int
    indexed_at: str
    skipped: Mapping[str, int]


class FileFacts(NamedTuple):
    """What ranking weighs a file by; `rank` orders files among which nothing else decides, smallest first."""

    file_id: int
    path: str
    language: str
    traits: int
    size: int
    rank: tuple[bool, bool, int, str]


class KnownFile(NamedTuple):
    """What decides whether a file must be read again."""

    size: int
    mtime_ns: int
    inode: int
    racy: int  # as SQLite has it: each look at a tree makes one of these a file
    digest: bytes


def create_manifest(folder: str, root: str) -> None:
    """A new, empty manifest for the tree at `root`."""
    connection = _connect(os.path.join(folder, MANIFEST_NAME))
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.executescript("BEGIN;" + TABLE + _TABLES.replace("{lives_on}", str(LIVES_ON)))
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?)", [("root", root), ("pruned", "0"), ("vocabulary", "0")]
        )
        connection.execute("INSERT INTO generations VALUES (0, 0, 0, 0, '', '{}')")
        connection.execute("COMMIT")
    finally:
        connection.close()


def open_manifest(folder: str, *, read_only: bool) -> sqlite3.Connection:
    """A connection to an existing manifest; raises sqlite3.Error when there is none."""
    connection = _connect(f"file:{_quote(os.path.join(folder, MANIFEST_NAME))}?mode=rw", uri=True)
    if read_only:
        connection.execute("PRAGMA query_only = ON")
    return connection


def read_versions(connection: sqlite3.Connection) -> tuple[int, int]:
    """The application id and the schema version."""
    return connection.execute("PRAGMA application_id").fetchone()[0], connection.execute(
        "PRAGMA user_version"
    ).fetchone()[0]


def read_meta(connection: sqlite3.Connection, name: str) -> str:
    """One value of the meta table, empty when absent."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row else ""


def read_generation(connection: sqlite3.Connection, generation: int) -> GenerationRecord | None:
    """The record of a generation."""
    row = connection.execute(
        "SELECT generation, complete, files, symbols, indexed_at, skipped FROM generations WHERE generation = ?",
        (generation,),
    ).fetchone()
    if row is None:
        return None
    return GenerationRecord(row[0], bool(row[1]), row[2], row[3], row[4], json.loads(row[5]))


def live_files(connection: sqlite3.Connection, generation: int) -> Iterator[FileRecord]:
    """Every file of a generation."""
    sql = f"SELECT {_FILE_COLUMNS} FROM files WHERE {_LIVE} ORDER BY path"  # noqa: S608
    for row in connection.execute(sql, {"generation": generation}):
        yield _file_record(row)


def searchable_rows(connection: sqlite3.Connection, generation: int) -> Iterator[tuple[int, str, str, int]]:
    """Id, path, language and traits of every file whose text is searchable, by path."""
    sql = (
        f"SELECT id, path, language, traits FROM files WHERE {_LIVE} AND problem NOT IN (:one, :other) ORDER BY path"  # noqa: S608
    )
    one, other = SKIPPING_PROBLEMS
    yield from connection.execute(sql, {"generation": generation, "one": one.value, "other": other.value})


def files_by_id(connection: sqlite3.Connection, file_ids: Iterable[int]) -> Iterator[FileRecord]:
    """The files with these ids; an id belongs to one version of one file."""
    wanted = list(file_ids)
    for start in range(0, len(wanted), _IDS_AT_ONCE):
        some = wanted[start : start + _IDS_AT_ONCE]
        marks = ",".join("?" * len(some))
        sql = f"SELECT {_FILE_COLUMNS} FROM files WHERE id IN ({marks})"  # noqa: S608
        yield from map(_file_record, connection.execute(sql, some).fetchall())


def live_facts(connection: sqlite3.Connection, generation: int, file_ids: Iterable[int]) -> Iterator[FileFacts]:
    """What ranking weighs files by, of those ids that belong to a generation."""
    wanted = list(file_ids)
    for start in range(0, len(wanted), _IDS_AT_ONCE):
        some = wanted[start : start + _IDS_AT_ONCE]
        marks = ",".join("?" * len(some))
        sql = (
            f"SELECT id, path, language, traits, size FROM files WHERE id IN ({marks})"  # noqa: S608
            " AND born <= ? AND died > ?"
        )
        for file_id, path, language, traits, size in connection.execute(sql, (*some, generation, generation)):
            rank = (bool(traits & _FOREIGN), bool(traits & _TEST), path.count("/"), path)
            yield FileFacts(file_id, path, language, traits, size, rank)


def outline_blobs(connection: sqlite3.Connection, file_ids: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """Id and packed outline of the files that define anything."""
    wanted = list(file_ids)
    for start in range(0, len(wanted), _IDS_AT_ONCE):
        some = wanted[start : start + _IDS_AT_ONCE]
        marks = ",".join("?" * len(some))
        yield from connection.execute(
            f"SELECT file_id, outline FROM outlines WHERE file_id IN ({marks})",  # noqa: S608
            some,
        )


def texts_blob(connection: sqlite3.Connection, file_id: int) -> bytes:
    """The packed signatures and doc lines of a file, empty when it defines nothing."""
    row = connection.execute("SELECT texts FROM outlines WHERE file_id = ?", (file_id,)).fetchone()
    return row[0] if row else b""


def file_by_path(connection: sqlite3.Connection, generation: int, path: str) -> FileRecord | None:
    """The file at a path in a generation."""
    sql = f"SELECT {_FILE_COLUMNS} FROM files WHERE path = :path AND {_LIVE}"  # noqa: S608
    row = connection.execute(sql, {"path": path, "generation": generation}).fetchone()
    return None if row is None else _file_record(row)


def known_files(
    connection: sqlite3.Connection, generation: int, paths: Iterable[str] | None = None
) -> dict[str, KnownFile]:
    """Path → what is known of it, for the whole generation or for some paths."""
    sql = f"SELECT path, size, mtime_ns, inode, racy, digest FROM files WHERE {_LIVE}"  # noqa: S608
    if paths is None:
        rows = connection.execute(sql, {"generation": generation})
        return {row[0]: KnownFile._make(row[1:]) for row in rows}
    known: dict[str, KnownFile] = {}
    for path in paths:
        row = connection.execute(sql + " AND path = :path", {"generation": generation, "path": path}).fetchone()
        if row is not None:
            known[path] = KnownFile._make(row[1:])
    return known


def counts_by(connection: sqlite3.Connection, generation: int, column: str) -> dict[str, int]:
    """Value of `language` or `problem` → number of files, without the empty value."""
    assert column in ("language", "problem")
    sql = f"SELECT {column}, count(*) FROM files WHERE {_LIVE} AND {column} <> '' GROUP BY {column}"  # noqa: S608
    return dict(connection.execute(sql, {"generation": generation}).fetchall())


def paths_below(connection: sqlite3.Connection, generation: int, folder: str) -> list[str]:
    """The known files below a folder."""
    # "0" follows "/" in the order of text, so this is the range of all paths that begin with the folder.
    sql = f"SELECT path FROM files WHERE path > :low AND path < :high AND {_LIVE}"  # noqa: S608
    bounds = {"low": folder + "/", "high": folder + "0", "generation": generation}
    return [row[0] for row in connection.execute(sql, bounds)]


class ManifestWriter:
    """Prepares one generation at a time; used by one thread, under the write lock."""

    def __init__(self, folder: str, limits: Limits) -> None:
        self._connection = open_manifest(folder, read_only=False)
        self._names = NameTableWriter(self._connection, limits)
        self._generation = 0

    def close(self) -> None:
        """Close without keeping an unfinished generation."""
        try:
            if not self._connection.in_transaction:
                # The log of a large generation is as large as the generation; readers may keep it for now.
                self._connection.execute("PRAGMA busy_timeout = 0")
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError as error:
            # On a full disk the log stays; the next writer tries again.
            _LOG.warning("the log of the manifest was not folded in: %s", error)
        finally:
            self._connection.close()

    def recover(self, published: int) -> None:
        """Remove what a crash left of generations after the published one."""
        sql = self._connection
        newer = sql.execute("SELECT 1 FROM generations WHERE generation > ?", (published,)).fetchone()
        if newer is None:
            return
        sql.execute("BEGIN IMMEDIATE")
        self._drop_files("born > ?", published)
        sql.execute("UPDATE files SET died = ? WHERE died > ? AND died < ?", (LIVES_ON, published, LIVES_ON))
        sql.execute("DELETE FROM generations WHERE generation > ?", (published,))
        sql.execute("COMMIT")

    def begin(self, published: int, base: int) -> None:
        """Start the generation after `base` and forget rows that no reader of `published` can see."""
        sql = self._connection
        sql.execute("BEGIN IMMEDIATE")
        self._drop_files(f"died <= ? AND died < {LIVES_ON}", published)
        sql.execute("UPDATE meta SET value = ? WHERE name = 'pruned'", (str(published),))
        sql.execute("DELETE FROM generations WHERE generation < ?", (published,))
        self._generation = base + 1

    def put(self, file: Extracted) -> tuple[int, bool]:
        """Add a file, or a new version of it; returns the id of its row and whether there was an older one."""
        is_known = self.remove(file.path)
        sql = self._connection
        file_id = sql.execute(
            "INSERT INTO files (path, born, died, size, mtime_ns, inode, racy, digest, language, traits, problem,"
            " symbol_count) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                *(file.path, self._generation, LIVES_ON, file.size, file.mtime_ns, file.inode, file.racy),
                *(file.digest, file.language, file.traits, file.problem.value, file.symbol_count),
            ),
        ).lastrowid
        assert file_id is not None
        if file.symbol_count:
            sql.execute("INSERT INTO outlines VALUES (?, ?, ?)", (file_id, file.outline, file.texts))
            self._names.add(file.name_keys, file_id)
        return file_id, is_known

    def remove(self, path: str) -> bool:
        """End a file's life with this generation; False when there was none."""
        changed = self._connection.execute(
            "UPDATE files SET died = ? WHERE path = ? AND died = ?", (self._generation, path, LIVES_ON)
        )
        return changed.rowcount > 0

    def touch(self, file: Extracted) -> None:
        """Note the new stat of a file whose content is the same; part of no generation."""
        self._connection.execute(
            "UPDATE files SET size = ?, mtime_ns = ?, inode = ?, racy = ? WHERE path = ? AND died = ?",
            (file.size, file.mtime_ns, file.inode, file.racy, file.path, LIVES_ON),
        )

    def finish(self, *, complete: bool, indexed_at: str, skipped: Mapping[str, int]) -> GenerationRecord:
        """Commit the rows of this generation; readers see them when the text index has committed it too."""
        sql = self._connection
        self._names.flush()
        files, symbols = sql.execute(
            "SELECT count(*), coalesce(sum(symbol_count), 0) FROM files WHERE died = ? AND problem NOT IN (?, ?)",
            (LIVES_ON, *SKIPPING_PROBLEMS),
        ).fetchone()
        record = GenerationRecord(self._generation, complete, files, symbols, indexed_at, dict(skipped))
        sql.execute(
            "INSERT INTO generations VALUES (?,?,?,?,?,?)",
            (self._generation, complete, files, symbols, indexed_at, json.dumps(record.skipped)),
        )
        sql.execute("COMMIT")
        return record

    def commit_touches(self, *, indexed_at: str, skipped: Mapping[str, int] | None, published: int) -> None:
        """End a transaction in which nothing but stats changed; the generation stays."""
        sql = self._connection
        if skipped is not None:
            sql.execute(
                "UPDATE generations SET complete = 1, indexed_at = ?, skipped = ? WHERE generation = ?",
                (indexed_at, json.dumps(dict(skipped)), published),
            )
        sql.execute("COMMIT")

    def note_vocabulary(self, size: int) -> None:
        """Note how much of the vocabulary belongs to published generations."""
        self._connection.execute("UPDATE meta SET value = ? WHERE name = 'vocabulary'", (str(size),))

    def rollback(self) -> None:
        """Forget what was not committed."""
        self._names.forget()
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    @property
    def connection(self) -> sqlite3.Connection:
        """For reading what this writer sees."""
        return self._connection

    def _drop_files(self, condition: str, generation: int) -> None:
        sql = self._connection
        ids = sql.execute(f"SELECT id FROM files WHERE {condition}", (generation,)).fetchall()  # noqa: S608
        sql.executemany("DELETE FROM outlines WHERE file_id = ?", ids)
        sql.executemany("DELETE FROM files WHERE id = ?", ids)


def _connect(target: str, *, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(target, uri=uri, isolation_level=None, check_same_thread=False, timeout=30.0)
    # FULL: the rows of a generation must be on disk before the text index names it.
    connection.execute("PRAGMA synchronous = FULL")
    # Kilobytes. What is written comes in the order of the tables, and what is read is a few pages a question.
    connection.execute("PRAGMA cache_size = -16384")
    return connection


def _quote(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _file_record(row: tuple[int, str, int, int, int, bytes, str, int, str, int]) -> FileRecord:
    return FileRecord(*row[:7], FileTrait(row[7]), Problem(row[8]), row[9])
