"""Files by their path: whole, by name, by a part, by a glob, or as a text mentions them.

**Invariant**: what is returned holds what was written; paths that are merely like it are suggestions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import tantivy

from sightline_core.limits import Limits
from sightline_indexer import schema
from sightline_indexer.catalogue import FileEntry
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.records import FileRecord
from sightline_indexer.store import Snapshot
from sightline_indexer.words import fold, split_words
from sightline_search.file_references import FileReference
from sightline_search.model import Filters
from sightline_search.path_globs import path_matcher
from sightline_search.result_filters import file_test

_GLOB = re.compile(r"[*?{\[]")


def find_paths(snapshot: Snapshot, text: str, filters: Filters, limits: Limits) -> list[FileEntry]:
    """Files whose path holds a text, the closest first: the path itself, its end, a folder, any part."""
    wanted = text.strip().removeprefix("./").strip("/")
    accepts = file_test(filters, limits)
    entries = snapshot.catalogue().entries
    if _GLOB.search(wanted):
        matches = path_matcher((text.strip(),), limits)
        found = [(0, entry) for entry in entries if matches(entry.path)]
    else:
        low = wanted.lower()
        found = [(_tier(entry.path, wanted, low), entry) for entry in entries if low in entry.path.lower()]
    kept = [(tier, entry) for tier, entry in found if accepts(entry.path, entry.language, entry.traits)]
    kept.sort(key=lambda item: (item[0], _foreign(item[1]), item[1].path.count("/"), item[1].path))
    return [entry for _, entry in kept[: limits.max_path_results]]


def suggest_paths(snapshot: Snapshot, text: str, limits: Limits) -> tuple[str, ...]:
    """Paths that could have been meant: all letters of the text in its order, the tightest first."""
    letters = [character for character in text.lower() if character.isalnum()][: limits.max_query_words]
    if len(letters) < 2:
        return ()
    matches = re.compile(".*?".join(map(re.escape, letters)))
    ranked: list[tuple[int, int, str]] = []
    for entry in snapshot.catalogue().entries:
        name = entry.path.lower()
        match = matches.search(name, max(0, name.rfind("/") + 1)) or (matches.search(name) if "/" in text else None)
        if match is not None:
            ranked.append((match.end() - match.start(), len(name), entry.path))
    return tuple(path for _, _, path in sorted(ranked)[: limits.max_near_names])


def follow_references(
    snapshot: Snapshot, references: Iterable[FileReference], limits: Limits
) -> list[tuple[FileRecord, int]]:
    """The files of the index that a text refers to, with the line, in its order."""
    found: list[tuple[FileRecord, int]] = []
    known: dict[str, FileRecord | None] = {}
    for reference in references:
        if reference.path not in known:
            known[reference.path] = _resolve(snapshot, reference.path, limits)
        file = known[reference.path]
        if file is not None and (file, reference.line) not in found:
            found.append((file, reference.line))
    return found


def _resolve(snapshot: Snapshot, path: str, limits: Limits) -> FileRecord | None:
    """The file whose path ends like a written one; None when nothing or too much fits."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..", "~")]
    words = [fold(word) for word in split_words(parts[-1])] if parts else []
    if not words:
        return None
    clauses = [
        (tantivy.Occur.Must, tantivy.Query.term_query(snapshot.schema, schema.PATH, word, "basic"))
        for word in words[: limits.max_query_words]
    ]
    hits = snapshot.searcher.search(tantivy.Query.boolean_query(clauses), limits.max_ranked_files, count=False).hits
    file_ids = snapshot.file_ids([address for _, address in hits])
    named = [file for file in snapshot.files_by_id(file_ids).values() if file.path.rsplit("/", 1)[-1] == parts[-1]]
    if not named:
        return None
    ranked = sorted(named, key=lambda file: (-_common_end(file.path.split("/"), parts), _foreign(file), file.path))
    best = _common_end(ranked[0].path.split("/"), parts)
    if best == 1 and len(ranked) > 1 and len(parts) > 1:
        return None
    return ranked[0]


def _common_end(left: Sequence[str], right: Sequence[str]) -> int:
    count = 0
    for a, b in zip(reversed(left), reversed(right), strict=False):
        if a != b:
            break
        count += 1
    return count


def _tier(path: str, wanted: str, low: str) -> int:
    if path == wanted:
        return 0
    lowered = path.lower()
    if lowered == low:
        return 1
    name = lowered.rsplit("/", 1)[-1]
    if path.endswith("/" + wanted):
        return 2
    if lowered.endswith("/" + low) or name.split(".", 1)[0] == low:
        return 3
    if lowered.startswith(low + "/") or f"/{low}/" in lowered:
        return 5
    return 4 if low in name else 6


def _foreign(file: FileEntry | FileRecord) -> int:
    if file.traits & (FileTrait.GENERATED | FileTrait.VENDORED | FileTrait.MINIFIED):
        return 2
    return 1 if file.traits & FileTrait.TEST else 0
