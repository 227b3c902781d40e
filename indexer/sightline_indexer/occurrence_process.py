"""The program of a process that finds occurrences of a name in files: requests in, one answer a file out.

**Invariant**: one file at a time, under a timer of processor time whose default action ends the process: a parser
that never returns costs that file alone. Ends when its input does.
"""

from __future__ import annotations

import os
import resource
import signal
import stat
import sys

import msgspec

from sightline_core.limits import Limits
from sightline_core.paths import open_beneath
from sightline_core.text import decode, is_binary
from sightline_indexer.occurrences import find_occurrences
from sightline_indexer.pipe_messages import receive, send

_HEAD_BYTES = 8192


class FinderSetup(msgspec.Struct, frozen=True):
    """What the process is told on its command line."""

    root: str
    limits: Limits


class FindRequest(msgspec.Struct, frozen=True, array_like=True):
    """A name to look for in a file of a language."""

    path: str
    language: str
    name: str


class FoundAt(msgspec.Struct, frozen=True, array_like=True):
    """One occurrence, with the text of its line."""

    line: int
    column: int
    end_column: int
    role: str
    text: str


class FindAnswer(msgspec.Struct, frozen=True, array_like=True):
    """What a file holds; `stat` is its size, time of change and inode, and `readable` False when it is gone."""

    path: str
    found: tuple[FoundAt, ...] = ()
    readable: bool = True
    stat: tuple[int, int, int] = (0, 0, 0)


def main() -> None:
    """Serve until the input ends."""
    setup = msgspec.json.decode(sys.argv[1], type=FinderSetup)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    memory = setup.limits.worker_memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    decoder = msgspec.msgpack.Decoder(FindRequest)
    while (message := receive()) is not None:
        send(msgspec.msgpack.encode(_answer(setup.root, decoder.decode(message), setup.limits)))


def _answer(root: str, request: FindRequest, limits: Limits) -> FindAnswer:
    try:
        data, info = _read(root, request.path, limits)
    except OSError:
        return FindAnswer(request.path, readable=False)
    source = data if data.isascii() else decode(data).encode("utf-8", "replace")
    signal.setitimer(signal.ITIMER_PROF, limits.max_parse_ms / 1000)
    try:
        occurrences = find_occurrences(source, request.language, request.name, limits)
    except LookupError:
        occurrences = ()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    lines = source.split(b"\n") if occurrences else []
    found = tuple(
        FoundAt(
            one.position.line,
            one.position.column,
            one.end_column,
            one.role.value,
            lines[one.position.line - 1].decode("utf-8", "replace"),
        )
        for one in occurrences
    )
    return FindAnswer(request.path, found, stat=(info.st_size, info.st_mtime_ns, info.st_ino))


def _read(root: str, path: str, limits: Limits) -> tuple[bytes, os.stat_result]:
    # Opened for each file: the directory may be another one under the same name by now.
    below = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        descriptor = open_beneath(below, path, follow_links=False)
    finally:
        os.close(below)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode) or info.st_size > limits.max_file_bytes:
            raise OSError
        with os.fdopen(os.dup(descriptor), "rb") as file:
            data = file.read(limits.max_file_bytes)
    finally:
        os.close(descriptor)
    if is_binary(data[:_HEAD_BYTES]):
        raise OSError
    return data, info


if __name__ == "__main__":
    main()
