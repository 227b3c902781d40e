"""What stands for a definition's name in the table of names: short keys instead of texts.

**Invariant**: a key depends on its name alone, so that whoever asks computes the key that was written. Two names may
have one key, about once in 10^15 pairs; marks narrow further and may agree for different texts as well. Who must be
sure compares the name itself.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

from sightline_indexer.records import SymbolEntry
from sightline_indexer.words import fold

BUCKETS = 1024
# What stands between the parts of a qualified name, in any language.
NAME_SEPARATOR = re.compile(r"::|->|[.#/\\:]")

_DIGEST_BYTES = 7
NEEDLE_BYTES = 5
# Bucket, needle, mark of the case, mark of the owner, kind, line and ordinal.
_ENTRY = struct.Struct(f"<H{NEEDLE_BYTES}sHHBIH")
ENTRY_BYTES = _ENTRY.size
BUCKET_BYTES = 2
_MARK = 0xFFFF
_LINE_BREAK = "\n"
# What an ordinal has room for.
MAX_SYMBOLS = 65_535


def pack_keys(entries: Sequence[SymbolEntry]) -> bytes:
    """The keys of a file's definitions, each with what an order depends on, for `NameTableWriter.add`.

    Names, which hold no line break, are folded and encoded all at once: that halves the time.
    """
    if not entries:
        return b""
    names = _LINE_BREAK.join([entry[0] for entry in entries])
    plain, folded = (text.encode("utf-8", "replace").split(b"\n") for text in (names, fold(names)))
    pack, owner, crc = _ENTRY.pack, owner_mark, zlib.crc32
    packed: list[bytes] = []
    for ordinal, (entry, name, key) in enumerate(zip(entries, plain, folded, strict=True)):
        bucket, needle = _bucket_and_needle(key)
        packed.append(pack(bucket, needle, crc(name) & _MARK, owner(entry[2]), entry[3], entry[4], ordinal))
    return b"".join(packed)


def bucket_and_needle(name: str) -> tuple[int, bytes]:
    """Where a name is looked for, without differences of case."""
    return _bucket_and_needle(fold(name).encode("utf-8", "replace"))


def case_mark(name: str) -> int:
    """Tells a name from the same name in another case."""
    return zlib.crc32(name.encode("utf-8", "replace")) & _MARK


@lru_cache(maxsize=4096)
def owner_mark(container: str) -> int:
    """Tells what a definition directly belongs to, in any case; 0 when it belongs to nothing."""
    parts = [part for part in NAME_SEPARATOR.split(container) if part] if container else ()
    return zlib.crc32(fold(parts[-1]).encode("utf-8", "replace")) & _MARK or 1 if parts else 0


def _bucket_and_needle(folded: bytes) -> tuple[int, bytes]:
    digest = blake2b(folded, digest_size=_DIGEST_BYTES).digest()
    return (digest[0] | digest[1] << 8) % BUCKETS, digest[BUCKET_BYTES:]
