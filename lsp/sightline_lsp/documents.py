"""The documents a server has open: always what is on disk, never more than a few.

**Invariant**: before a request about a file the server has been told the file's present text; versions only rise; the
least recently used document is closed when there are too many.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sightline_core.errors import SightlineError
from sightline_core.languages import language_of, languages
from sightline_core.limits import Limits
from sightline_core.paths import RepoPath, RepoRoot
from sightline_lsp.convert import path_to_uri
from sightline_lsp.faults import LspError
from sightline_lsp.texts import FileText, Texts

Notify = Callable[[str, Any], Awaitable[None]]


@dataclass(slots=True)
class _Open:
    root: RepoRoot
    path: RepoPath
    language: str
    digest: tuple[int, int]
    stamp: tuple[int, int]
    since: int


@dataclass(frozen=True, slots=True)
class Synced:
    """A document the server knows in its present form.

    `changed` when it was told something new just now; `since` is the counter of publications from before it was told.
    """

    uri: str
    text: FileText
    changed: bool
    since: int = 0


class Documents:
    """The open documents of one server."""

    def __init__(self, notify: Notify, texts: Texts, limits: Limits, counter: Callable[[], int] = lambda: 0) -> None:
        self._notify = notify
        self._texts = texts
        self._limits = limits
        self._counter = counter
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._versions = 0
        self.enabled = True

    @property
    def open_uris(self) -> tuple[str, ...]:
        """What is open, least recently used first."""
        return tuple(self._open)

    async def refresh(self) -> None:
        """Bring every open document up to date: a server answers from open texts, not from disk."""
        for uri, known in tuple(self._open.items()):
            stamp = _stamp(known.path)
            if stamp is None:
                await self.forget(uri)
            elif stamp != known.stamp:
                try:
                    await self.sync(known.root, known.path, known.language)
                except LspError:
                    raise
                except SightlineError:
                    # It may be read no more: for the server it is gone, too.
                    await self.forget(uri)

    async def sync(self, root: RepoRoot, path: RepoPath, language: str) -> Synced:
        """Open or refresh a document; raises `file_not_found` and the like, or `LspError`."""
        stamp = _stamp(path) or (0, 0)
        text = self._texts.read(root, path)
        uri = path_to_uri(path.absolute)
        if not self.enabled:
            return Synced(uri, text, changed=False)
        # Two numbers instead of the text: fifty open documents may be large.
        digest = (len(text.text), hash(text.text))
        known = self._open.get(uri)
        if known is not None and known.digest == digest:
            known.stamp = stamp
            self._open.move_to_end(uri)
            return Synced(uri, text, changed=False, since=known.since)
        self._versions += 1
        since = self._counter()
        self._open[uri] = _Open(root, path, language, digest, stamp, since)
        self._open.move_to_end(uri)
        try:
            if known is None:
                await self._send_open(uri, path.relative, language, text.text)
            else:
                await self._send_change(uri, text.text)
        except BaseException:
            # What was not sent is not known to the server.
            self._open.pop(uri, None)
            raise
        await self._close_oldest()
        return Synced(uri, text, changed=True, since=since)

    async def save(self, uri: str) -> None:
        """Nudge the server as an editor does on saving."""
        if uri in self._open:
            await self._notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    async def forget(self, uri: str) -> None:
        """Close a document that is gone from disk."""
        if self._open.pop(uri, None) is not None:
            await self._notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    async def _send_open(self, uri: str, name: str, language: str, text: str) -> None:
        row = languages().get(language_of(name) or language)
        identifier = row.lsp_id if row else language
        item = {"uri": uri, "languageId": identifier, "version": self._versions, "text": text}
        await self._notify("textDocument/didOpen", {"textDocument": item})

    async def _send_change(self, uri: str, text: str) -> None:
        document = {"uri": uri, "version": self._versions}
        await self._notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    async def _close_oldest(self) -> None:
        while len(self._open) > self._limits.lsp_max_open_documents:
            await self.forget(next(iter(self._open)))


def _stamp(path: RepoPath) -> tuple[int, int] | None:
    # Only compared, never trusted: the text itself comes through the door.
    try:
        info = os.stat(path.absolute)
    except OSError:
        return None
    return info.st_mtime_ns, info.st_size
