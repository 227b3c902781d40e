"""Literal and regular-expression search: candidates from the index, matches from the files on disk.

**Invariant**: exact against the disk for every file of the snapshot that was visited, and the answer says when some
were not. A match is a line that matches, as in grep; it is shown by its first match. Case counts unless the caller
or the pattern says otherwise.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.text import clean_line
from sightline_core.types import Note
from sightline_indexer.catalogue import Catalogue, FileEntry
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.store import Snapshot
from sightline_search.cursor import decode_cursor, encode_cursor, question_key
from sightline_search.line_matches import LineMatch, count_lines, find_lines, first_match
from sightline_search.model import (
    DetailLevel,
    FileCount,
    Filters,
    Hit,
    Intent,
    SearchOptions,
    SearchResult,
    ShownLine,
)
from sightline_search.path_globs import path_matcher
from sightline_search.pattern import Pattern, compile_pattern
from sightline_search.pattern_lookup import candidate_files
from sightline_search.scan_order import Found, Visit, Visited, visit_in_order
from sightline_search.snippet import best_lines, cut_line
from sightline_search.tree_reader import FileText


@dataclass(frozen=True, slots=True)
class _Scan:
    """One search under way."""

    snapshot: Snapshot
    root: RepoRoot
    pattern: Pattern
    options: SearchOptions
    limits: Limits
    deadline: float
    catalogue: Catalogue
    places: list[int]
    question: str
    narrowed: bool


@dataclass(frozen=True, slots=True)
class _Page:
    """The matches of a page, and where the next one begins."""

    matches: list[tuple[Visited[list[LineMatch]], LineMatch]]
    next_cursor: str
    upto: int
    missing: int
    out_of_time: bool


def search_pattern(
    snapshot: Snapshot,
    root: RepoRoot,
    pattern: str,
    *,
    regex: bool,
    options: SearchOptions,
    limits: Limits,
    deadline: float,
) -> SearchResult:
    """A page of matching lines, or the counts of all files; raises `invalid_input` for a pattern or cursor.

    `deadline` is a reading of `time.monotonic`. Blocking; uses a few threads of its own when many files are visited.
    """
    compiled = compile_pattern(
        pattern, regex=regex, case_sensitive=options.case_sensitive is not False, limits=limits
    )
    catalogue = snapshot.catalogue()
    candidates = candidate_files(snapshot, compiled, limits)
    places = list(range(len(catalogue.entries))) if candidates is None else catalogue.places_of(candidates.file_ids)
    scan = _Scan(
        snapshot,
        root,
        compiled,
        options,
        limits,
        min(deadline, time.monotonic() + limits.scan_budget_s),
        catalogue,
        places,
        question_key(pattern, regex, options.filters, options.case_sensitive, options.count_only),
        narrowed=candidates is not None,
    )
    intent = Intent.REGEX if regex else Intent.LITERAL
    return _count(scan, intent) if options.count_only else _find(scan, intent)


# -- a page of matches -------------------------------------------------------------------------


def _find(scan: _Scan, intent: Intent) -> SearchResult:
    page = _page(scan)
    hits = tuple(_hit(scan, visited, match) for visited, match in page.matches)
    exhausted = not page.next_cursor and not page.out_of_time
    return SearchResult(
        intent,
        hits,
        why=_why(scan),
        total_candidates=len(hits) if exhausted and not scan.options.cursor else None,
        next_cursor=page.next_cursor,
        cuts=_cuts(scan, page.upto) if page.out_of_time else (),
        holes=_holes(scan),
        notes=_notes(scan, page.missing, sum(hit.drifted for hit in hits)),
    )


def _page(scan: _Scan) -> _Page:
    start, after_line = _resume(scan)
    places = [place for place in scan.places if place >= start]
    wanted = scan.options.limit + 1

    def look(place: int, text: FileText) -> list[LineMatch] | None:
        skip = after_line if place == start else 0
        window = scan.limits.scan_window_bytes
        found = find_lines(
            text.data, scan.pattern, wanted, after_line=skip, deadline=scan.deadline, window_bytes=window
        )
        return found or None

    matches: list[tuple[Visited[list[LineMatch]], LineMatch]] = []
    missing = upto = 0
    out_of_time = False
    visit = _visit(scan, places, look, lambda visited: sum(len(file.found) for file in visited) >= wanted)
    with closing(visit_in_order(visit, _threads(scan.limits))) as batches:
        for batch in batches:
            missing += batch.missing
            upto, out_of_time = batch.upto, batch.out_of_time
            matches += [(visited, match) for visited in batch.visited for match in visited.found]
            if len(matches) >= wanted:
                break
    before = len(scan.places) - len(places)
    if len(matches) >= wanted:
        matches = matches[: scan.options.limit]
        visited, last = matches[-1]
        return _Page(matches, _cursor(scan, visited.place, last.end_line), before + upto, missing, False)
    # Out of time: the next page goes on with the first file that was not visited.
    following = _cursor(scan, places[upto], 0) if out_of_time and upto < len(places) else ""
    return _Page(matches, following, before + upto, missing, out_of_time)


def _resume(scan: _Scan) -> tuple[int, int]:
    """The place to begin at, and the line of that file after which to go on."""
    token, _, line = scan.options.cursor.partition(".")
    place = decode_cursor(token, scan.snapshot.generation, scan.question)
    if line and not (line.isascii() and line.isdigit()):
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            "The cursor is not one that Sightline gave.",
            hint="Ask again without a cursor.",
        )
    return place, int(line[:9]) if line else 0


def _cursor(scan: _Scan, place: int, after_line: int) -> str:
    return f"{encode_cursor(scan.snapshot.generation, scan.question, place)}.{after_line}"


def _hit(scan: _Scan, visited: Visited[list[LineMatch]], match: LineMatch) -> Hit:
    entry = visited.entry
    drifted = _is_drifted(scan, visited)
    # The lines of a changed file are not those that the index saw: no definition is better than a wrong one.
    symbol = None if drifted else scan.snapshot.symbol_around(entry.file_id, match.line)
    first = match.text[: match.start].rpartition(b"\n")[2]
    last = match.text[: match.end].rpartition(b"\n")[2]
    line_text = match.text.partition(b"\n")[0].decode("utf-8", "replace")
    column = _columns(first) + 1
    end_column = _columns(last) + 1
    shown_end = end_column if match.end_line == match.line else len(line_text) + 1
    context = scan.options.detail is DetailLevel.CONTEXT
    matched = match.text[match.start : match.end].decode("utf-8", "replace")
    return Hit(
        path=entry.path,
        line=match.line,
        end_line=match.end_line,
        kind="text",
        name=cut_line(clean_line(matched), 1, 1, scan.limits.max_name_chars),
        column=column,
        end_column=end_column,
        signature=cut_line(line_text, column, shown_end, scan.limits.max_line_chars),
        language=entry.language,
        symbol=symbol.qualified_name if symbol is not None else "",
        lines=_shown(scan, visited, match, column) if context else (),
        drifted=drifted,
    )


def _shown(scan: _Scan, visited: Visited[list[LineMatch]], match: LineMatch, column: int) -> tuple[ShownLine, ...]:
    lines = visited.text.data.decode("utf-8", "replace").removesuffix("\n").split("\n")
    important = range(match.line, match.end_line + 1)
    return best_lines(lines, important, scan.limits, columns={match.line: column})


def _is_drifted(scan: _Scan, visited: Visited[list[LineMatch]]) -> bool:
    record = scan.snapshot.files_by_id([visited.entry.file_id]).get(visited.entry.file_id)
    text = visited.text
    return record is None or (record.size, record.mtime_ns, record.inode) != (text.size, text.mtime_ns, text.inode)


def _columns(prefix: bytes) -> int:
    return len(prefix) if prefix.isascii() else len(prefix.decode("utf-8", "replace"))


# -- counts ------------------------------------------------------------------------------------


def _count(scan: _Scan, intent: Intent) -> SearchResult:
    def look(place: int, text: FileText) -> int | None:
        del place
        window = scan.limits.scan_window_bytes
        return count_lines(text.data, scan.pattern, deadline=scan.deadline, window_bytes=window) or None

    counts: list[FileCount] = []
    missing = upto = 0
    out_of_time = False
    visit = _visit(scan, scan.places, look, lambda _: False)
    with closing(visit_in_order(visit, _threads(scan.limits))) as batches:
        for batch in batches:
            missing += batch.missing
            upto, out_of_time = batch.upto, batch.out_of_time
            counts += [FileCount(file.entry.path, file.found) for file in batch.visited]
    cuts = _cuts(scan, upto) if out_of_time else ()
    shown = scan.limits.max_counted_files
    if len(counts) > shown:
        message = f"{len(counts)} files match; the first {shown} are listed."
        cuts = (*cuts, Note("counts_cut", message))
    return SearchResult(
        intent,
        why=_why(scan),
        counts=tuple(counts[:shown]),
        total_candidates=sum(count.matches for count in counts),
        cuts=cuts,
        holes=_holes(scan),
        notes=_notes(scan, missing, 0),
    )


# -- what both need ----------------------------------------------------------------------------


def _visit(
    scan: _Scan,
    places: list[int],
    look: Callable[[int, FileText], Found | None],
    enough: Callable[[list[Visited[Found]]], bool],
) -> Visit[Found]:
    return Visit(
        scan.root,
        scan.catalogue.entries,
        places,
        _acceptance(scan.options.filters, scan.limits),
        look,
        enough,
        scan.deadline,
        scan.limits,
        partial(_first_match, scan) if scan.pattern.line_by_line else None,
    )


def _first_match(scan: _Scan, data: bytes, after: int) -> int | None:
    window = scan.limits.scan_window_bytes
    return first_match(data, scan.pattern, after, deadline=scan.deadline, window_bytes=window)


def _acceptance(filters: Filters, limits: Limits) -> Callable[[FileEntry], bool]:
    wanted = path_matcher(filters.paths, limits) if filters.paths else None
    unwanted = path_matcher(filters.exclude, limits) if filters.exclude else None

    def accepts(entry: FileEntry) -> bool:
        if filters.language and entry.language != filters.language:
            return False
        if not filters.include_tests and entry.traits & FileTrait.TEST:
            return False
        if wanted is not None and not wanted(entry.path):
            return False
        return unwanted is None or not unwanted(entry.path)

    return accepts


def _threads(limits: Limits) -> int:
    return max(1, min(limits.scan_threads, os.cpu_count() or 1))


def _why(scan: _Scan) -> str:
    if not scan.narrowed:
        return "no part of the pattern could be looked up; files were read one after the other"
    texts = " and ".join(" or ".join(repr(text) for text in group) for group in scan.pattern.required)
    return f"files that may hold {texts}"


def _cuts(scan: _Scan, upto: int) -> tuple[Note, ...]:
    total = len(scan.places)
    return (Note("scan_deadline", f"Time ran out: scanned {upto} of {total} files."),)


def _holes(scan: _Scan) -> tuple[Note, ...]:
    if scan.snapshot.complete:
        return ()
    return (Note("index_incomplete", "The first index is still being built; only what is indexed was searched."),)


def _notes(scan: _Scan, missing: int, drifted: int) -> tuple[Note, ...]:
    notes: list[Note] = []
    if missing or drifted:
        message = "Files changed since they were indexed; the matches are those on disk."
        notes.append(Note("index_drift", message))
    if scan.options.filters.kind is not None:
        notes.append(Note("filter_ignored", "The filter `kind` has no meaning for text and was left out."))
    return tuple(notes)
