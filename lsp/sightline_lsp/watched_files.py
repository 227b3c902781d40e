"""Which file changes a server asked to hear of, and the batch that waits to be told.

**Invariant**: one batch per server and debounce window, each path once with its last change; a hostile glob costs no
more than a simple one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, cast

from sightline_core.limits import Limits
from sightline_core.paths import relative_to
from sightline_lsp.capabilities import as_table
from sightline_lsp.convert import path_to_uri, uri_to_path

_MAX_GLOB_CHARS = 300
_MAX_WILDCARDS = 12
_ALL_KINDS = 7


class ChangeKind(IntEnum):
    """The protocol's numbers."""

    CREATED = 1
    CHANGED = 2
    DELETED = 3


@dataclass(frozen=True, slots=True)
class FileChange:
    """One change on disk, by absolute path."""

    path: str
    kind: ChangeKind


@dataclass(frozen=True, slots=True)
class _Watcher:
    base: str
    pattern: re.Pattern[str]
    kinds: int

    def wants(self, change: FileChange, roots: tuple[str, ...]) -> bool:
        if not self.kinds & (1 << (change.kind - 1)):
            return False
        if self.base:
            relative = relative_to(self.base, change.path)
            return relative is not None and self.pattern.fullmatch(relative) is not None
        if self.pattern.fullmatch(change.path):
            return True
        relatives = (relative_to(root, change.path) for root in roots)
        return any(relative is not None and self.pattern.fullmatch(relative) for relative in relatives)


class WatchedFiles:
    """The watchers of one server and the changes it has not been told yet."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._watchers: tuple[_Watcher, ...] = ()
        self._waiting: dict[str, ChangeKind] = {}

    def set_registrations(self, options: Iterable[Any]) -> None:
        """Replace the watchers by those of every present registration."""
        watchers: list[_Watcher] = []
        for option in options:
            entries = as_table(option).get("watchers")
            for entry in cast("list[Any]", entries) if isinstance(entries, list) else []:
                watcher = _decode_watcher(as_table(entry))
                if watcher is not None and len(watchers) < self._limits.lsp_max_watch_globs:
                    watchers.append(watcher)
        self._watchers = tuple(dict.fromkeys(watchers))

    def add(self, changes: Iterable[FileChange], roots: tuple[str, ...]) -> bool:
        """Keep what the server asked for; True when something waits to be told."""
        for change in changes:
            if any(watcher.wants(change, roots) for watcher in self._watchers):
                self._waiting[change.path] = _merge(self._waiting.get(change.path), change.kind)
        return bool(self._waiting)

    @property
    def overflowed(self) -> bool:
        """Whether so much changed that starting the server anew is cheaper than telling it."""
        return len(self._waiting) > self._limits.lsp_max_watch_events

    def take(self) -> list[dict[str, Any]]:
        """The batch, in the form of the protocol."""
        batch = [{"uri": path_to_uri(path), "type": int(kind)} for path, kind in self._waiting.items()]
        self._waiting.clear()
        return batch


def _merge(before: ChangeKind | None, after: ChangeKind) -> ChangeKind:
    if before is ChangeKind.CREATED and after is ChangeKind.CHANGED:
        return ChangeKind.CREATED
    if before is ChangeKind.DELETED and after is ChangeKind.CREATED:
        return ChangeKind.CHANGED
    return after


def _decode_watcher(entry: Any) -> _Watcher | None:
    glob = entry.get("globPattern")
    kinds = entry.get("kind", _ALL_KINDS)
    if not isinstance(kinds, int) or isinstance(kinds, bool):
        kinds = _ALL_KINDS
    if isinstance(glob, str):
        return _Watcher("", compile_glob(glob), kinds)
    pattern, base = as_table(glob).get("pattern"), as_table(glob).get("baseUri")
    if isinstance(base, dict):
        base = as_table(base).get("uri")
    path = uri_to_path(base) if isinstance(base, str) else None
    if not isinstance(pattern, str) or path is None:
        return None
    return _Watcher(path, compile_glob(pattern), kinds)


def compile_glob(glob: str) -> re.Pattern[str]:
    """The protocol's globs: `*`, `?`, `**`, `{a,b}`, `[x-y]`, `[!x]`. One too long or too wild matches everything."""
    wildcards = glob.count("*") + glob.count("{") + glob.count("?")
    if len(glob) > _MAX_GLOB_CHARS or wildcards > _MAX_WILDCARDS:
        return re.compile(r"(?s:.*)")
    try:
        return re.compile(_translate(glob))
    except re.error:
        return re.compile(re.escape(glob))


def _translate(glob: str) -> str:
    out: list[str] = []
    at, depth = 0, 0
    while at < len(glob):
        rest = glob[at:]
        char = glob[at]
        if rest.startswith("**/"):
            out.append("(?:.*/)?")
            at += 3
            continue
        if rest.startswith("**"):
            out.append(".*")
            at += 2
            continue
        close = glob.find("]", at + 2) if char == "[" else -1
        if close > 0:
            body = glob[at + 1 : close].replace("\\", "\\\\").replace("[", "\\[")
            out.append(f"[^{body[1:]}]" if body[0] in "!^" else f"[{body}]")
            at = close + 1
            continue
        depth += (char == "{") - (char == "}" and depth > 0)
        out.append(_translate_char(char, inside=depth > 0 or char == "}"))
        at += 1
    return "".join(out)


def _translate_char(char: str, *, inside: bool) -> str:
    if char == "*":
        return "[^/]*"
    if char == "?":
        return "[^/]"
    if inside and char in "{,}":
        return {"{": "(?:", ",": "|", "}": ")"}[char]
    return re.escape(char)
