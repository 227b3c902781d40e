"""The program of a process that searches an index for its parent: one request in, one answer out.

**Invariant**: an answer is what `search` gives for the newest generation; what it raises for the caller travels as
values, and any other failure ends the process, so that the parent searches itself. Ends when its input does.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time

import msgspec

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_indexer.pipe_messages import receive, send
from sightline_indexer.store import IndexStore
from sightline_search.engine import search
from sightline_search.model import SearchOptions, SearchResult
from sightline_search.truncate import fit_result


class HelpRequest(msgspec.Struct, frozen=True, array_like=True):
    """A search in the index that lies in `folder`, to be over in `seconds`; `fits` asks for a fitted answer."""

    folder: str
    root: str
    query: str
    options: SearchOptions
    seconds: float
    fits: bool


class HelpAnswer(msgspec.Struct, frozen=True, array_like=True):
    """What was found, or the error that the caller is told: code, message and hint."""

    found: SearchResult | None
    error: tuple[str, str, str] | None = None


class _Stores:
    """The indexes that were asked for last, kept open."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: dict[str, IndexStore] = {}

    def of(self, folder: str) -> IndexStore:
        store = self._known.pop(folder, None)
        if store is None:
            # A rebuilt index lies elsewhere; what it replaced must not be kept from being freed.
            for gone in [known for known in self._known if not os.path.isdir(known)]:
                self._known.pop(gone).close()
            while len(self._known) >= self._limits.max_helper_indexes:
                self._known.pop(next(iter(self._known))).close()
            store = IndexStore(folder, self._limits)
        self._known[folder] = store
        return store


def main() -> None:
    """Say that it is ready, then serve until the input ends."""
    limits = msgspec.json.decode(sys.argv[1], type=Limits)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    stores = _Stores(limits)
    decoder = msgspec.msgpack.Decoder(HelpRequest)
    send(b"")
    while (message := receive()) is not None:
        send(msgspec.msgpack.encode(_answer(decoder.decode(message), stores, limits)))


def _answer(request: HelpRequest, stores: _Stores, limits: Limits) -> HelpAnswer:
    deadline = time.monotonic() + request.seconds
    try:
        root = RepoRoot(request.root)
        with stores.of(request.folder).snapshot() as snapshot:
            found = search(snapshot, root, request.query, request.options, limits, deadline)
        return HelpAnswer(fit_result(found, request.options, limits) if request.fits else found)
    except SightlineError as error:
        if error.data or error.code in (ErrorCode.INDEX_INCOMPATIBLE, ErrorCode.INDEX_NOT_READY):
            # Whether an index can be used is for the parent to say, which follows the pointer to the current one.
            raise
        return HelpAnswer(None, (error.code.value, error.message, error.hint))


if __name__ == "__main__":
    main()
