"""Where a name is used, by words and syntax: what navigation falls back to without a language server.

**Invariant**: equal names of different things are all found, so this is never a complete answer to "references of
this definition"; comments and strings are left out. Parsing happens in the finder's processes, never here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sightline_core.languages import languages
from sightline_core.limits import Limits
from sightline_core.types import Note
from sightline_indexer.catalogue import FileEntry
from sightline_indexer.occurrence_process import FindRequest, FoundAt
from sightline_indexer.occurrence_workers import FileOccurrences
from sightline_indexer.occurrences import OccurrenceRole
from sightline_indexer.store import Snapshot
from sightline_search.snippet import cut_line


@dataclass(frozen=True, slots=True)
class Reference:
    """One use of a name; `symbol` is the enclosing definition, empty when the file changed since it was indexed."""

    path: str
    line: int
    column: int
    end_column: int
    role: OccurrenceRole
    text: str
    symbol: str


class Finder(Protocol):
    """What parses; `OccurrenceWorkers` is one."""

    def find(self, requests: Sequence[FindRequest], deadline: float) -> Iterable[FileOccurrences]: ...


def find_references(
    snapshot: Snapshot, finder: Finder, name: str, *, language: str = "", limits: Limits, deadline: float
) -> tuple[tuple[Reference, ...], tuple[Note, ...]]:
    """The uses of a bare name in files whose language can be parsed, and notes on what was not looked at.

    Definitions first, then by file in the order of a scan and by place. `language` restricts the files.
    """
    if not name or len(name) > limits.max_pattern_chars or not name.isprintable():
        return (), ()
    entries, cut = _files(snapshot, name, language, limits)
    budget = min(deadline, time.monotonic() + limits.references_budget_s)
    requests = [FindRequest(entry.path, entry.language, name) for entry in entries]
    answers = {found.answer.path: found for found in finder.find(requests, budget)}
    references: list[Reference] = []
    for entry in entries:
        if entry.path in answers:
            references += _references(snapshot, entry, answers[entry.path], limits)
    references.sort(key=lambda reference: reference.role is not OccurrenceRole.DEFINITION)
    notes = _notes(cut, len(entries), answers)
    if len(references) > limits.max_references:
        message = f"{len(references)} uses were found; the first {limits.max_references} are kept."
        notes = (*notes, Note("references_cut", message))
    return tuple(references[: limits.max_references]), notes


def _files(snapshot: Snapshot, name: str, language: str, limits: Limits) -> tuple[list[FileEntry], int]:
    """The files to parse, and how many more there would be."""
    catalogue = snapshot.catalogue()
    parsable = {key for key, row in languages().items() if row.symbols and language in ("", key)}
    places = catalogue.places_of(snapshot.files_with_word(name).file_ids)
    entries = [catalogue.entries[place] for place in places if catalogue.entries[place].language in parsable]
    bound = limits.max_reference_files
    return entries[:bound], max(0, len(entries) - bound)


def _references(snapshot: Snapshot, entry: FileEntry, found: FileOccurrences, limits: Limits) -> list[Reference]:
    if not found.answer.found:
        return []
    record = snapshot.files_by_id([entry.file_id]).get(entry.file_id)
    current = record is not None and (record.size, record.mtime_ns, record.inode) == found.answer.stat
    return [
        Reference(
            entry.path,
            one.line,
            one.column,
            one.end_column,
            OccurrenceRole(one.role),
            cut_line(one.text, one.column, one.end_column, limits.max_line_chars),
            _around(snapshot, entry, one) if current else "",
        )
        for one in found.answer.found
    ]


def _around(snapshot: Snapshot, entry: FileEntry, found: FoundAt) -> str:
    symbol = snapshot.symbol_around(entry.file_id, found.line)
    return "" if symbol is None else symbol.qualified_name


def _notes(cut: int, asked: int, answers: dict[str, FileOccurrences]) -> tuple[Note, ...]:
    notes: list[Note] = []
    if cut:
        notes.append(Note("references_files_cut", f"{cut} more files hold the word and were not looked at."))
    if len(answers) < asked:
        notes.append(Note("references_deadline", f"Time ran out: looked at {len(answers)} of {asked} files."))
    broken = sorted(path for path, found in answers.items() if found.unparsable)
    if broken:
        notes.append(Note("unparsable", f"{len(broken)} files could not be parsed, such as {broken[0]}."))
    return tuple(notes)
