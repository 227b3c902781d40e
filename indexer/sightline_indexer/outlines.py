"""The definitions of one file as the manifest keeps them: packed whole, unpacked by who shows or searches that file.

**Invariant**: unpacking gives the entries that were packed, in their order; columns stay columns, because most who
ask want one or two of them. Made in workers, read by searches, never changed.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from operator import add, sub

import msgspec

from sightline_indexer.records import SymbolEntry
from sightline_indexer.words import fold

_LEVEL = 1
# Opening and closing the compressor takes longer than reading so many bytes, and half of all files have fewer.
_PLAIN_BYTES = 768
_PLAIN, _COMPRESSED = b"p", b"z"
_CHECKSUM_BYTES = 4
_SEPARATOR = "\n"
# Smallest first: most columns of most files fit one byte.
_TYPES = "bhi"


class _Packed(msgspec.Struct, array_like=True, gc=False):
    """An entry a place in each column; `owners` leads from an entry to its container, by number."""

    names: str
    kinds: bytes
    containers: tuple[str, ...]
    owners: bytes
    qualified: dict[int, str]
    # Line, column, last line, its column, line and column of the name; lines as steps from the one before them.
    places: tuple[bytes, bytes, bytes, bytes, bytes, bytes]


_DECODER = msgspec.msgpack.Decoder(_Packed)
_NOTHING = _Packed("", b"", (), b"", {}, (b"", b"", b"", b"", b"", b""))
# So many texts are unpacked at once: a file of thousands of constants is not read for one of them.
_TEXTS_A_BLOCK = 128
_BLOCKS = msgspec.msgpack.Decoder(list[bytes])
_TEXTS = msgspec.msgpack.Decoder(list[tuple[str, str]])


def pack_outline(entries: Sequence[SymbolEntry]) -> bytes:
    """All of a file's definitions but their texts; a name must not hold a line break."""
    if not entries:
        return b""
    names, qualified, containers, kinds, lines, columns, ends, end_columns, name_lines, name_columns = zip(
        *entries, strict=True
    )
    numbers = {container: number for number, container in enumerate(dict.fromkeys(containers))}
    packed = _Packed(
        _SEPARATOR.join(names),
        bytes(kinds),
        tuple(numbers),
        _pack_numbers([numbers[container] for container in containers]),
        {at: text for at, text in enumerate(qualified) if text} if any(qualified) else {},
        (
            _pack_numbers([lines[0], *map(sub, lines[1:], lines)]),
            _pack_numbers(columns),
            _pack_numbers(list(map(sub, ends, lines))),
            _pack_numbers(end_columns),
            _pack_numbers(list(map(sub, name_lines, lines))),
            _pack_numbers(name_columns),
        ),
    )
    return _sealed(msgspec.msgpack.encode(packed))


class Outline:
    """The definitions of one file. Raises zlib.error or msgspec.DecodeError where the bytes are damaged."""

    __slots__ = ("_lines", "_names", "_owners", "_packed")

    def __init__(self, blob: bytes) -> None:
        self._packed = _DECODER.decode(_opened(blob)) if blob else _NOTHING
        self._names: Sequence[str] | None = None
        self._lines: Sequence[int] | None = None
        self._owners: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(self._packed.kinds)

    @property
    def names(self) -> Sequence[str]:
        """The name of each definition."""
        if self._names is None:
            self._names = self._packed.names.split(_SEPARATOR) if self._packed.kinds else ()
        return self._names

    @property
    def kinds(self) -> bytes:
        """The kind of each definition, as it is stored."""
        return self._packed.kinds

    @property
    def lines(self) -> Sequence[int]:
        """The first line of each definition."""
        if self._lines is None:
            self._lines = list(accumulate(_numbers(self._packed.places[0])))
        return self._lines

    def container(self, ordinal: int) -> str:
        """What a definition belongs to, empty for nothing."""
        if self._owners is None:
            self._owners = _numbers(self._packed.owners)
        return self._packed.containers[self._owners[ordinal]]

    def qualified(self, ordinal: int) -> str:
        """The whole name of a definition."""
        known = self._packed.qualified.get(ordinal)
        if known:
            return known
        container = self.container(ordinal)
        return f"{container}.{self.names[ordinal]}" if container else self.names[ordinal]

    def entry(self, ordinal: int) -> SymbolEntry:
        """One definition."""
        _, columns, ends, end_columns, name_lines, name_columns = map(_numbers, self._packed.places)
        line = self.lines[ordinal]
        return SymbolEntry(
            self.names[ordinal],
            self._packed.qualified.get(ordinal, ""),
            self.container(ordinal),
            self.kinds[ordinal],
            line,
            columns[ordinal],
            line + ends[ordinal],
            end_columns[ordinal],
            line + name_lines[ordinal],
            name_columns[ordinal],
        )

    def entries(self) -> list[SymbolEntry]:
        """All definitions in their order."""
        if not len(self):
            return []
        _, columns, ends, end_columns, name_lines, name_columns = map(_numbers, self._packed.places)
        containers, qualified, lines = self._packed.containers, self._packed.qualified, self.lines
        return list(
            map(
                SymbolEntry,
                self.names,
                [qualified.get(at, "") for at in range(len(self.names))] if qualified else [""] * len(self.names),
                [containers[owner] for owner in _numbers(self._packed.owners)],
                self.kinds,
                lines,
                columns,
                map(add, ends, lines),
                end_columns,
                map(add, name_lines, lines),
                name_columns,
            )
        )

    def holding(self, pieces: Sequence[str], *, every: bool = False) -> list[int]:
        """The definitions whose name holds one of some folded pieces, or `every` one; all when there are none."""
        if not pieces:
            return list(range(len(self)))
        folded = fold(self._packed.names)
        # Most files of a page hold no name with any of the words.
        held = [piece for piece in pieces if piece in folded]
        if not held or (every and len(held) < len(pieces)):
            return []
        if not every:
            return sorted({at for piece in held for at, _ in _lines_with(folded, piece)})
        rarest = max(held, key=len)
        return [at for at, name in _lines_with(folded, rarest) if all(piece in name for piece in held)]

    def around(self, line: int) -> int | None:
        """The innermost definition whose lines hold `line`."""
        found: tuple[int, int, int] | None = None
        for at, first, last in self._touching(line, line):
            key = (-first, last, -at)
            if found is None or key < found:
                found = key
        return None if found is None else -found[2]

    def spans(self, first: int, last: int) -> list[tuple[int, int, str]]:
        """First line, last line and whole name of what touches some lines; the innermost come last."""
        touching = sorted((begin, -end, at) for at, begin, end in self._touching(first, last))
        return [(begin, -end, self.qualified(at)) for begin, end, at in touching]

    def _touching(self, first: int, last: int) -> Iterable[tuple[int, int, int]]:
        """Number, first and last line of the definitions that touch some lines."""
        lengths = _numbers(self._packed.places[2])
        return [
            (at, begin, begin + length)
            for at, (begin, length) in enumerate(zip(self.lines, lengths, strict=True))
            if begin <= last and begin + length >= first
        ]


def pack_texts(texts: Sequence[tuple[str, str]]) -> bytes:
    """Signatures and doc lines of a file's definitions: they are most of the bytes and seldom read."""
    if not texts:
        return b""
    blocks = [
        _sealed(msgspec.msgpack.encode(texts[at : at + _TEXTS_A_BLOCK]))
        for at in range(0, len(texts), _TEXTS_A_BLOCK)
    ]
    return msgspec.msgpack.encode(blocks)


class Texts:
    """Signatures and doc lines of one file. Raises like `Outline` where the bytes are damaged."""

    __slots__ = ("_blocks", "_known")

    def __init__(self, blob: bytes) -> None:
        self._blocks = _BLOCKS.decode(blob) if blob else []
        self._known: dict[int, list[tuple[str, str]]] = {}

    def __getitem__(self, ordinal: int) -> tuple[str, str]:
        """The signature and the doc line of a definition; both are empty where nothing is known."""
        block, at = divmod(ordinal, _TEXTS_A_BLOCK)
        if block not in self._known:
            packed = self._blocks[block] if block < len(self._blocks) else b""
            self._known[block] = _TEXTS.decode(_opened(packed)) if packed else []
        texts = self._known[block]
        return texts[at] if at < len(texts) else ("", "")


def _sealed(data: bytes) -> bytes:
    """Bytes with their checksum, compressed where that is worth the time of opening them again."""
    if len(data) > _PLAIN_BYTES:
        return _COMPRESSED + zlib.compress(data, _LEVEL)
    return _PLAIN + zlib.crc32(data).to_bytes(_CHECKSUM_BYTES, "little") + data


def _opened(sealed: bytes) -> bytes:
    data = sealed[1:]
    if sealed[:1] == _COMPRESSED:
        return zlib.decompress(data)
    checksum, data = data[:_CHECKSUM_BYTES], data[_CHECKSUM_BYTES:]
    if sealed[:1] != _PLAIN or checksum != zlib.crc32(data).to_bytes(_CHECKSUM_BYTES, "little"):
        raise zlib.error("a checksum does not agree")
    return data


def _lines_with(text: str, piece: str) -> Iterator[tuple[int, str]]:
    """Number and content of the lines that hold a piece."""
    number = counted = 0
    at = text.find(piece)
    while at >= 0:
        number += text.count(_SEPARATOR, counted, at)
        end = text.find(_SEPARATOR, at)
        stop = len(text) if end < 0 else end
        yield number, text[text.rfind(_SEPARATOR, 0, at) + 1 : stop]
        counted = stop
        at = text.find(piece, stop)


def _pack_numbers(values: Sequence[int]) -> bytes:
    """Numbers in the narrowest type that holds them all, which the first byte names."""
    for code in _TYPES[:-1]:
        try:
            return code.encode() + array(code, values).tobytes()
        except OverflowError:
            continue
    return _TYPES[-1].encode() + array(_TYPES[-1], values).tobytes()


def _numbers(packed: bytes) -> Sequence[int]:
    values: array[int] = array(packed[:1].decode() or _TYPES[0])
    values.frombytes(packed[1:])
    return values
