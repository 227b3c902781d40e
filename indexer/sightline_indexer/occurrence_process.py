"""The program that parses candidate files for one name, apart from the server.

**Invariant**: one line of output a file, in the order asked, written before the next file is touched: whoever reads
it knows at which file a process died. Its own timer ends it inside a parser that hangs.
"""

from __future__ import annotations

import os
import resource
import signal
import sys

import msgspec

from sightline_core.errors import SightlineError
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.text import decode
from sightline_indexer.occurrences import Occurrence, find_occurrences


class Question(msgspec.Struct, frozen=True):
    """The name, and the files to look into as pairs of path and language."""

    root: str
    name: str
    files: tuple[tuple[str, str], ...]
    limits: Limits


class FileAnswer(msgspec.Struct, frozen=True, array_like=True):
    """What one file gave; `read` is False when it could not be read."""

    occurrences: tuple[Occurrence, ...]
    read: bool = True


def main() -> None:
    """Answer the one question on standard input."""
    question = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Question)
    limits = question.limits
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (limits.worker_memory_bytes, limits.worker_memory_bytes))
    root = RepoRoot(question.root, limits)
    for path, language in question.files:
        signal.setitimer(signal.ITIMER_REAL, limits.fallback_file_ms / 1000)
        answer = _look(root, path, language, question.name, limits)
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.write(1, msgspec.json.encode(answer) + b"\n")


def _look(root: RepoRoot, path: str, language: str, name: str, limits: Limits) -> FileAnswer:
    try:
        content = root.read_file(root.known(path))
    except SightlineError:
        return FileAnswer((), read=False)
    source = decode(content.data).encode("utf-8", "replace")
    try:
        return FileAnswer(find_occurrences(source, language, name, limits))
    except LookupError:
        return FileAnswer(())


if __name__ == "__main__":
    main()
