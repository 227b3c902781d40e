"""What stands for a definition's name in the table of names: short keys instead of texts.

**Invariant**: a key depends on its name alone, so that whoever asks computes the key that was written. Two names may
have one key, about once in 10^15 pairs; marks narrow further and may agree for different texts as well. Who must be
sure compares the name itself.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

from sightline_indexer.records import SymbolEntry
from sightline_indexer.words import fold

BUCKETS = 1024
# What stands between the parts of a qualified name, in any language.
NAME_SEPARATOR = re.compile(r"::|->|[.#/\\:]")

_DIGEST_BYTES = 7
NEEDLE_BYTES = 5
# Bucket, needle, mark of the case; then mark of the owner, kind, line and ordinal.
_NAME = struct.Struct(f"<H{NEEDLE_BYTES}sH")
_ENTRY = struct.Struct("<9sHBIH")
assert _NAME.size == 9
ENTRY_BYTES = _ENTRY.size
BUCKET_BYTES = 2
# What an ordinal has room for.
MAX_SYMBOLS = 65_535


def pack_keys(entries: Iterable[SymbolEntry]) -> bytes:
    """The keys of a file's definitions, each with what an order depends on, as `split_keys` reads them."""
    pack, name_key, owner = _ENTRY.pack, _name_key, owner_mark
    return b"".join(
        [
            pack(name_key(entry[0]), owner(entry[2]), entry[3], entry[4], ordinal)
            for ordinal, entry in enumerate(entries)
        ]
    )


def bucket_and_needle(name: str) -> tuple[int, bytes]:
    """Where a name is looked for, without differences of case."""
    digest = blake2b(fold(name).encode("utf-8", "replace"), digest_size=_DIGEST_BYTES).digest()
    return int.from_bytes(digest[:BUCKET_BYTES], "little") % BUCKETS, digest[BUCKET_BYTES:]


def case_mark(name: str) -> int:
    """Tells a name from the same name in another case."""
    return zlib.crc32(name.encode("utf-8", "replace")) & 0xFFFF


@lru_cache(maxsize=4096)
def owner_mark(container: str) -> int:
    """Tells what a definition directly belongs to, in any case; 0 when it belongs to nothing."""
    parts = [part for part in NAME_SEPARATOR.split(container) if part] if container else ()
    return zlib.crc32(fold(parts[-1]).encode("utf-8", "replace")) & 0xFFFF or 1 if parts else 0


@lru_cache(maxsize=16_384)
def _name_key(name: str) -> bytes:
    return _NAME.pack(*bucket_and_needle(name), case_mark(name))
