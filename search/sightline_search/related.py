"""Definitions near another one: in its file, its folder, its package, and those its file imports.

**Invariant**: imports are read from the text of the file, not resolved by a compiler: an imported name counts when it
is written in an import statement and exactly that name is defined in a file whose path fits the statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sightline_core.errors import SightlineError
from sightline_core.languages import is_primary
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.text import decode
from sightline_core.types import Note
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.records import SymbolRecord
from sightline_indexer.store import Snapshot
from sightline_search.hierarchy import one_definition
from sightline_search.locate import holes_of, symbol_hit
from sightline_search.model import Hit

_IMPORT = re.compile(
    r"^\s*(?:from\s+(?P<module>[\w.]+)\s+import\s+(?P<names>[^#\n(]+|\([^)]*\))"
    r"|(?:export\s+|import\s+)(?:type\s+)?(?P<js>[\w*{}\s,$]+)\s+from\s+['\"](?P<source>[^'\"\n]+)['\"]"
    r"|(?:import|use|using|require_once|require|include)\s+(?:static\s+)?(?P<path>[\w.:\\/{}, ]+?)\s*(?:;|$)"
    r"|#\s*include\s+[\"<](?P<header>[^\">\n]+)[\">])",
    re.MULTILINE,
)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")


class RelatedScope(StrEnum):
    """How far away related definitions may be."""

    FILE = "file"
    MODULE = "module"
    PACKAGE = "package"


@dataclass(frozen=True, slots=True)
class Related:
    """A definition and how it is related: same_file, same_module, same_package or imported."""

    hit: Hit
    relation: str


@dataclass(frozen=True, slots=True)
class RelatedResult:
    """The definitions related to one."""

    symbol: Hit
    related: tuple[Related, ...]
    total: int
    holes: tuple[Note, ...] = ()


def find_related(
    snapshot: Snapshot,
    root: RepoRoot,
    name: str,
    *,
    path: str = "",
    scope: RelatedScope = RelatedScope.FILE,
    limit: int,
    limits: Limits,
) -> RelatedResult:
    """Definitions related to one; raises `symbol_not_found` or `ambiguous_symbol`."""
    target = one_definition(snapshot, name, path, limits)
    found: dict[tuple[int, int, str], Related] = {}
    for record, relation in _related(snapshot, root, target, scope, limits):
        key = (record.file_id, record.symbol.range.start.line, record.symbol.name)
        if record != target and key not in found:
            found[key] = Related(symbol_hit(record), relation)
    related = tuple(found.values())
    return RelatedResult(symbol_hit(target), related[:limit], len(related), holes_of(snapshot))


def _related(
    snapshot: Snapshot, root: RepoRoot, target: SymbolRecord, scope: RelatedScope, limits: Limits
) -> Iterator[tuple[SymbolRecord, str]]:
    file = snapshot.files_by_id([target.file_id])[target.file_id]
    here = snapshot.symbols_in(file)
    # Brothers and sisters first, then the rest of the file.
    here.sort(key=lambda record: record.symbol.container != target.symbol.container)
    yield from ((record, "same_file") for record in here)
    yield from ((record, "imported") for record in _imported(snapshot, root, file.path, limits))
    folder = file.path.rpartition("/")[0]
    if scope is not RelatedScope.FILE:
        yield from ((record, "same_module") for record in _in_folder(snapshot, folder, file.path, limits, deep=False))
    if scope is RelatedScope.PACKAGE:
        top = folder.split("/", 1)[0]
        yield from ((record, "same_package") for record in _in_folder(snapshot, top, file.path, limits, deep=True))


def _in_folder(
    snapshot: Snapshot, folder: str, without: str, limits: Limits, *, deep: bool
) -> Iterator[SymbolRecord]:
    """The top-level functions and types of the source files of a folder, nearest paths first."""
    prefix = f"{folder}/" if folder else ""
    entries = [
        entry
        for entry in snapshot.catalogue().entries
        if entry.path.startswith(prefix)
        and entry.path != without
        and not entry.traits & FileTrait.TEST
        and (deep or "/" not in entry.path[len(prefix) :])
    ]
    entries.sort(key=lambda entry: (entry.path.count("/"), entry.path))
    files = snapshot.files_by_id([entry.file_id for entry in entries[: limits.max_part_files]])
    for entry in entries[: limits.max_part_files]:
        for record in snapshot.symbols_in(files[entry.file_id]):
            if not record.symbol.container and is_primary(record.symbol.kind, record.language):
                yield record


def _imported(snapshot: Snapshot, root: RepoRoot, path: str, limits: Limits) -> Iterator[SymbolRecord]:
    try:
        text = decode(root.read_file(root.known(path)).data)
    except SightlineError:
        # The file is gone by now; what the index knows of it was answered already.
        return
    for number, match in enumerate(_IMPORT.finditer(text)):
        if number >= limits.max_import_lines:
            return
        words = _WORD.findall(match.group())
        modules = {word.lower() for word in words}
        for word in dict.fromkeys(words):
            for record in snapshot.symbols_named(word, limit=limits.max_near_names):
                if not record.symbol.container and record.path != path and _fits(record.path, modules, word):
                    yield record


def _fits(path: str, modules: set[str], name: str) -> bool:
    """Whether an import statement names the file or its folder."""
    folders, _, file = path.lower().rpartition("/")
    stem = file.split(".", 1)[0]
    folder = folders.rpartition("/")[2]
    others = modules - {name.lower()}
    return stem in others or folder in others or (stem == name.lower() and not others)
