"""One result per definition: what the index found and what the language servers know, put together.

**Invariant**: a live symbol becomes a result only when its name is the asked one; servers match fuzzily, we do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sightline_core.paths import relative_to
from sightline_indexer.file_traits import traits_of
from sightline_lsp.answers import LiveSymbol
from sightline_search.model import Hit
from sightline_search.names import SymbolName, parse_name
from sightline_search.result_filters import FileTest

INDEX = "index"
LSP = "lsp"
# How far above a definition's own line a server may put its start: decorators and attributes belong to it there.
_HEAD_LINES = 10


def merge_live(
    hits: Sequence[Hit], live: Sequence[LiveSymbol], root: str, name: str, accepts: FileTest | None = None
) -> tuple[Hit, ...]:
    """Index hits with the live symbols of that name; a definition that both know is one result.

    Definitions that only a server knows follow those of the index and precede text hits; those in files that the
    filters do not accept are left out.
    """
    wanted = parse_name(name)
    if wanted is None:
        return tuple(hits)
    merged = list(hits)
    found_only_live: list[Hit] = []
    for symbol in live:
        path = relative_to(root, symbol.location.path)
        bare = _bare(symbol.name)
        if path is None or symbol.location.in_root is None or bare != wanted.name:
            continue
        if accepts is not None and not accepts(path, symbol.language, traits_of(path, b"")):
            continue
        at = next((n for n, hit in enumerate(merged) if _same(hit, symbol, path, bare)), None)
        if at is not None:
            merged[at] = _confirmed(merged[at], symbol)
        elif _fits(wanted, symbol):
            found_only_live.append(_live_hit(symbol, path, bare))
    unique = {(hit.path, hit.line, hit.name): hit for hit in reversed(found_only_live)}
    definitions = [hit for hit in merged if hit.kind != "text"]
    texts = [hit for hit in merged if hit.kind == "text"]
    return (*definitions, *reversed(unique.values()), *texts)


def _fits(wanted: SymbolName, symbol: LiveSymbol) -> bool:
    """Whether a symbol that the index does not know has the qualifiers that were asked for."""
    if not wanted.qualifiers:
        return True
    container = parse_name(symbol.container)
    return container is not None and container.name == wanted.qualifiers[-1]


def _same(hit: Hit, symbol: LiveSymbol, path: str, name: str) -> bool:
    if hit.kind == "text" or hit.path != path or hit.name != name:
        return False
    start, end = symbol.location.range.start.line, symbol.location.range.end.line
    return hit.line - _HEAD_LINES <= start <= hit.line + 1 and (end >= hit.line or hit.line - start <= 1)


def _confirmed(hit: Hit, symbol: LiveSymbol) -> Hit:
    spot = symbol.location.range
    provenance = tuple(dict.fromkeys((*hit.provenance, LSP)))
    if spot.start.line <= hit.line <= spot.end.line:
        # The server speaks of the whole definition or agrees on the line: the index names the name's own line.
        return replace(hit, provenance=provenance)
    shift = spot.start.line - hit.line
    return replace(hit, line=spot.start.line, end_line=hit.end_line + shift, provenance=provenance)


def _live_hit(symbol: LiveSymbol, path: str, name: str) -> Hit:
    spot = symbol.location.range
    return Hit(
        path=path,
        line=spot.start.line,
        end_line=max(spot.start.line, spot.end.line),
        kind=symbol.kind.value,
        name=name,
        column=spot.start.column,
        qualified_name=_joined(symbol),
        language=symbol.language,
        container=symbol.container,
        provenance=(LSP,),
    )


def _bare(name: str) -> str:
    """The last part of a name as servers write it: `Type.method`, `ns::name`, `method()`, `(*T).M`."""
    head = name.split("(", 1)[0] if not name.startswith("(") else name.rsplit(")", 1)[-1]
    return head.replace("::", ".").rsplit(".", 1)[-1].strip()


def _joined(symbol: LiveSymbol) -> str:
    name = _bare(symbol.name)
    return f"{symbol.container.replace('::', '.')}.{name}" if symbol.container else name
