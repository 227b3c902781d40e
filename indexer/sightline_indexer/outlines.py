"""The definitions of one file as the manifest keeps them: packed whole, unpacked by who shows or searches that file.

**Invariant**: unpacking gives the entries that were packed, in their order; columns stay columns, because most who
ask want one or two of them. Made in workers, read by searches, never changed.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import add, sub

import msgspec

from sightline_indexer.records import SymbolEntry
from sightline_indexer.words import fold

_LEVEL = 1
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
    return zlib.compress(msgspec.msgpack.encode(packed), _LEVEL)


class Outline:
    """The definitions of one file. Raises zlib.error or msgspec.DecodeError where the bytes are damaged."""

    __slots__ = ("_lines", "_owners", "_packed", "names")

    def __init__(self, blob: bytes) -> None:
        if blob:
            self._packed = _DECODER.decode(zlib.decompress(blob))
            self.names: Sequence[str] = self._packed.names.split(_SEPARATOR)
        else:
            self._packed = _Packed("", b"", (), b"", {}, (b"", b"", b"", b"", b"", b""))
            self.names = ()
        self._lines: Sequence[int] | None = None
        self._owners: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(self.names)

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
        if not self.names:
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
            return list(range(len(self.names)))
        folded = fold(self._packed.names)
        # Most files of a page hold no name with any of the words.
        held = [piece for piece in pieces if piece in folded]
        if not held or (every and len(held) < len(pieces)):
            return []
        test = all if every else any
        return [at for at, name in enumerate(folded.split(_SEPARATOR)) if test(piece in name for piece in held)]

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


def pack_texts(texts: tuple[tuple[str, str], ...]) -> bytes:
    """Signatures and doc lines of a file's definitions: they are most of the bytes and seldom read."""
    return zlib.compress(msgspec.msgpack.encode(texts), _LEVEL) if texts else b""


def unpack_texts(blob: bytes) -> list[tuple[str, str]]:
    """What `pack_texts` packed; raises zlib.error or msgspec.DecodeError when the bytes are damaged."""
    return _TEXTS.decode(zlib.decompress(blob)) if blob else []


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
