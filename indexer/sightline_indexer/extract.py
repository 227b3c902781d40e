"""What the index keeps of one file: read below the root, hashed, decoded, split into words, its symbols found.

**Invariant**: runs in worker processes only, because parsing holds the interpreter and may never return.
"""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import stat
import time
from dataclasses import dataclass, replace

from sightline_core.languages import language_of, languages
from sightline_core.limits import Limits
from sightline_core.paths import open_beneath
from sightline_core.text import decode, is_binary
from sightline_indexer.file_traits import traits_of
from sightline_indexer.name_keys import MAX_SYMBOLS, pack_keys
from sightline_indexer.outlines import pack_outline, pack_texts
from sightline_indexer.records import Extracted, Outcome, Problem, SymbolEntry, Task
from sightline_indexer.symbols import extract_symbols
from sightline_indexer.words import WordSplitter, fold

_DIGEST_BYTES = 16
_HEAD_BYTES = 8192
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EXDEV, errno.ENXIO)

# Entries, the signature and doc line of each, and what went wrong.
_Symbols = tuple[tuple[SymbolEntry, ...], tuple[tuple[str, str], ...], Problem]
_NO_SYMBOLS: _Symbols = ((), (), Problem.NONE)


@dataclass(frozen=True, slots=True)
class _Read:
    """The bytes of a file and the stat they were read under."""

    data: bytes
    info: os.stat_result
    racy: bool


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file that is read and parsed, its text not yet split into words."""

    path: str
    data: bytes
    stat_fields: tuple[int, int, int, bool]
    digest: bytes
    text: str | bytes
    language: str
    symbols: _Symbols


class Extractor:
    """Extracts files below one root. Not thread-safe."""

    def __init__(self, root: str, limits: Limits) -> None:
        self._path = root
        self._root = -1
        # A definition's number has to fit its key.
        bound = min(limits.max_symbols_per_file, MAX_SYMBOLS)
        self._limits = replace(limits, max_symbols_per_file=bound)
        self.begin_run()

    def begin_run(self) -> None:
        """Meet every word for the first time again, below what the root's path names by now; raises OSError."""
        self.words = WordSplitter(self._limits.max_word_bytes, self._limits.worker_cached_words)
        before, self._root = self._root, os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        if before >= 0:
            os.close(before)

    def begin(self, task: Task) -> Extracted | Parsed:
        """Read and parse the file of a task; never raises for what is wrong with the file.

        What there is to index is left for `finish`. Files that are begun one after the other and then finished one
        after the other take less time than each by itself: parsing and splitting push each other out of the caches.
        """
        try:
            read = self._read(task.path)
        except OSError as error:
            outcome = Outcome.VANISHED if error.errno in _GONE else Outcome.UNREADABLE
            return Extracted(task.path, outcome)
        if read is None:
            return Extracted(task.path, Outcome.VANISHED)
        info = read.info
        stat_fields = (info.st_size, info.st_mtime_ns, info.st_ino, read.racy)
        if info.st_size > self._limits.max_file_bytes:
            return Extracted(task.path, Outcome.SKIPPED, *stat_fields, problem=Problem.TOO_LARGE)
        data = read.data
        digest = hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
        if digest == task.known_digest:
            return Extracted(task.path, Outcome.UNCHANGED, *stat_fields, digest)
        if is_binary(data[:_HEAD_BYTES]):
            return Extracted(task.path, Outcome.SKIPPED, *stat_fields, digest, problem=Problem.BINARY)
        text: str | bytes = data if data.isascii() else decode(data)
        language = language_of(task.path, data[:_HEAD_BYTES])
        symbols = self._symbols(text, language) if task.parse else _NO_SYMBOLS
        return Parsed(task.path, data, stat_fields, digest, text, language, symbols)

    def finish(self, parsed: Parsed) -> Extracted:
        """What the index keeps of a file that was begun."""
        text = parsed.text
        symbols, texts, problem = parsed.symbols
        words = self.words.split(text)
        names = "\n".join([symbol[0] for symbol in symbols])
        return Extracted(
            parsed.path,
            Outcome.INDEXED,
            *parsed.stat_fields,
            parsed.digest,
            parsed.language,
            int(traits_of(parsed.path, parsed.data)),
            problem,
            content=words.whole,
            parts=words.parts,
            path_words=self.words.split_short((parsed.path,)),
            names=" ".join({name for name in fold(names).split("\n") if " " not in name}),
            symbol_words=self.words.split_short((names,)),
            docs=self.words.split_short(doc for _, doc in texts if doc),
            # A search compares bytes; words of text in another encoding cannot rule such a file out.
            has_long_word=words.has_long or not (isinstance(text, bytes) or _is_utf8(parsed.data)),
            symbol_count=len(symbols),
            outline=pack_outline(symbols),
            texts=pack_texts(texts),
            name_keys=pack_keys(symbols),
        )

    def _symbols(self, text: str | bytes, language: str) -> _Symbols:
        row = languages().get(language)
        if row is None or not row.symbols:
            return _NO_SYMBOLS
        source = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
        # The default action ends the process, even inside a parser that never returns; whoever started this worker
        # sees which file it was. Processor time, so that a busy machine does not make files unparsable.
        signal.setitimer(signal.ITIMER_PROF, self._limits.max_parse_ms / 1000)
        try:
            extraction = extract_symbols(source, language, self._limits)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        problem = Problem.SYMBOL_LIMIT if extraction.truncated else Problem.NONE
        return extraction.entries, extraction.texts, problem

    def _read(self, path: str) -> _Read | None:
        descriptor = open_beneath(self._root, path, follow_links=False)
        try:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                return None
            # A file may be changed again within the same tick of its clock; such a stat proves nothing later.
            racy = info.st_mtime_ns > time.time_ns() - self._limits.racy_stat_ms * 1_000_000
            if info.st_size > self._limits.max_file_bytes:
                return _Read(b"", info, racy)
            return _Read(_read_all(descriptor, info.st_size, self._limits.max_file_bytes), info, racy)
        finally:
            os.close(descriptor)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _read_all(descriptor: int, size: int, bound: int) -> bytes:
    """The bytes of a file that had `size` a moment ago, at most `bound`."""
    # One byte more than there should be: what comes short of that is the whole file.
    first = os.read(descriptor, min(size + 1, bound))
    if len(first) <= size:
        return first
    chunks = [first]
    left = bound - len(first)
    while left > 0 and (chunk := os.read(descriptor, left)):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)
