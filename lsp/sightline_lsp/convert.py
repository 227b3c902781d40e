"""Between the protocol's values and Sightline's: URIs and paths, positions, kinds.

**Invariant**: with `texts`, the only module that knows `file:` URIs and UTF-16. A URI counts as inside a root only
when the file opens through that root's door; a position is clamped to the text it points into; the content of an
external file is never read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar
from urllib.parse import quote, unquote_to_bytes

from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.paths import RepoPath, RepoRoot, relative_to
from sightline_core.text import ColumnUnit, clean, clean_line
from sightline_core.types import Position, Range, SymbolKind
from sightline_lsp.answers import LspLocation
from sightline_lsp.messages import Malformed
from sightline_lsp.shapes import WireLocation, WirePosition, WireRange
from sightline_lsp.texts import FileText, Texts

T = TypeVar("T")
_KINDS = tuple(SymbolKind)
_DRIVE = re.compile(r"^/[A-Za-z]:(/|$)")
_MAX_LINE = 2**31 - 1
_URI_CACHE = 4096
_SAFE_IN_URI = "/-_.~!$&'()*+,;=@"


def path_to_uri(path: str) -> str:
    """The URI of an absolute path."""
    return "file://" + quote(os.fsencode(path), safe=_SAFE_IN_URI)


@lru_cache(maxsize=_URI_CACHE)
def uri_to_path(uri: str) -> str | None:
    """The normalised absolute path a URI means, or None when it means no file of this machine. Touches no disk."""
    scheme, colon, rest = uri.partition(":")
    if not colon or scheme.lower() != "file" or not rest.startswith("/"):
        return None
    if rest.startswith("//"):
        host, slash, rest = rest[2:].partition("/")
        if host.lower() not in ("", "localhost"):
            return None
        rest = slash + rest
    # A literal `?` or `#` begins a query or fragment, which file URIs do not have.
    rest = re.split(r"[?#]", rest, maxsplit=1)[0]
    try:
        path = unquote_to_bytes(rest).decode("utf-8")
    except (UnicodeDecodeError, UnicodeEncodeError):
        return None
    if not path.startswith("/") or "\0" in path or len(path) > DEFAULT_LIMITS.max_path_chars:
        return None
    if os.name == "nt" and _DRIVE.match(path):
        path = path[1:]
    # Two leading slashes are a place of their own to POSIX, and to nobody else.
    return os.path.normpath("/" + path.lstrip("/")) if os.name != "nt" else os.path.normpath(path)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a URI points: below a root, or outside all of them."""

    path: str
    root: RepoRoot | None = None
    inside: RepoPath | None = None


class Roots:
    """The registered roots, asked which of them holds a path; nested ones: the longest wins."""

    def __init__(self, roots: Iterable[RepoRoot] = ()) -> None:
        self._roots = sorted(roots, key=lambda root: len(root.path), reverse=True)

    @property
    def paths(self) -> tuple[str, ...]:
        """The directories."""
        return tuple(root.path for root in self._roots)

    def get(self, path: str) -> RepoRoot | None:
        """The root at exactly `path`."""
        return next((root for root in self._roots if root.path == path), None)

    def place(self, path: str) -> Place:
        """Where `path` lies, by its name; opening it decides."""
        for candidate in self._roots:
            relative = relative_to(candidate.path, path)
            if relative is not None:
                return Place(path, candidate, candidate.known(relative))
        return Place(path)


@dataclass(frozen=True, slots=True)
class _Named:
    """A file that a server named: with its root and text, or external without both."""

    path: str
    root: str | None = None
    text: FileText | None = None


class Converter:
    """Translates one answer of one server: its unit, the roots of the moment, and the texts to count in.

    However many places an answer has in a file, the file is looked at once.
    """

    def __init__(self, roots: Roots, texts: Texts, unit: ColumnUnit, limits: Limits) -> None:
        self._roots = roots
        self._texts = texts
        self._unit = unit
        self.limits = limits
        self._files: dict[str, _Named | None] = {}
        self.dropped = 0
        self.truncated = False

    def locations(self, found: list[WireLocation] | WireLocation | None) -> tuple[LspLocation, ...]:
        """Validated, without doubles, in the server's order; what is not valid is counted in `dropped`."""
        wires = [found] if isinstance(found, WireLocation) else found or []
        places: dict[tuple[str, Range], LspLocation] = {}
        for wire in self.capped(wires, self.limits.lsp_max_locations):
            uri = wire.target_uri or wire.uri
            span = wire.target_selection_range or wire.target_range if wire.target_uri else wire.range
            if not uri or span is None:
                raise Malformed("a location without URI or range")
            location = self.location(uri, span, with_text=True)
            if location is None:
                self.dropped += 1
            else:
                places.setdefault((location.path, location.range), location)
        return tuple(places.values())

    def location(self, uri: str, span: WireRange, *, with_text: bool = False) -> LspLocation | None:
        """One place, or None when it cannot be shown; `with_text` for places that are shown at once, not kept."""
        if not _is_sane(span):
            return None
        try:
            file = self._files[uri]
        except KeyError:
            file = self._files[uri] = self._named(uri)
        if file is None:
            return None
        if file.text is None:
            return _external(file.path, span)
        return LspLocation(file.path, self.range(span, file.text), file.root, file.text if with_text else None)

    def _named(self, uri: str) -> _Named | None:
        path = uri_to_path(uri)
        if path is None:
            return None
        place = self._roots.place(path)
        if place.root is None or place.inside is None:
            return self._from_outside(path)
        text = self._texts.try_read(place.root, place.inside)
        if text is None:
            # A link that leads out, a directory, or a file that is gone: shown as inside it would be a lie.
            return _Named(path) if _leads_out(path, place.root) else None
        return _Named(path, place.root.path, text)

    def _from_outside(self, path: str) -> _Named:
        resolved = os.path.realpath(path)
        place = self._roots.place(resolved)
        if resolved != path and place.root is not None and place.inside is not None:
            text = self._texts.try_read(place.root, place.inside)
            if text is not None:
                return _Named(resolved, place.root.path, text)
        return _Named(path)

    def range(self, span: WireRange, text: FileText) -> Range:
        """A range in `text`; one that ends before it starts becomes empty."""
        start = self.position(span.start, text)
        return Range(start, max(start, self.position(span.end, text)))

    def position(self, wire: WirePosition, text: FileText) -> Position:
        """A position in `text`; raises `Malformed` for one that no text can have."""
        if not (0 <= wire.line <= _MAX_LINE and 0 <= wire.character <= _MAX_LINE):
            raise Malformed("a position that cannot be")
        return text.from_wire(wire.line, wire.character, self._unit)

    def capped(self, items: Sequence[T], bound: int) -> Sequence[T]:
        """The first `bound` items; remembers that there were more."""
        if len(items) > bound:
            self.truncated = True
            return items[:bound]
        return items

    def text(self, text: str | None) -> str:
        """Server text of several lines, cleaned and cut."""
        return clean((text or "")[: self.limits.lsp_max_text_chars])

    def line(self, text: str | None) -> str:
        """Server text on one line, cleaned and cut."""
        return clean_line((text or "")[: self.limits.lsp_max_text_chars])


def kind_of(number: int) -> SymbolKind:
    """The kind a number stands for; an unknown one is a variable."""
    return _KINDS[number - 1] if 1 <= number <= len(_KINDS) else SymbolKind.VARIABLE


def _is_sane(span: WireRange) -> bool:
    numbers = (span.start.line, span.start.character, span.end.line, span.end.character)
    return all(0 <= number <= _MAX_LINE for number in numbers)


def _external(path: str, span: WireRange) -> LspLocation:
    start = Position(span.start.line + 1, span.start.character + 1)
    end = Position(span.end.line + 1, span.end.character + 1)
    return LspLocation(clean_line(path), Range(start, max(start, end)), None)


def _leads_out(path: str, root: RepoRoot) -> bool:
    return relative_to(root.path, os.path.realpath(path)) is None
