"""A definition as the index knows it, with its text as it is on disk.

**Invariant**: a text is cut by the lines of the index only when the index has seen the very file; else the file is
brought in first, and what could not be is told as a hole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import anyio.to_thread
from pydantic import Field

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.text import LineIndex, clean, decode
from sightline_core.types import Note
from sightline_indexer.records import SymbolRecord
from sightline_indexer.workspace_index import WorkspaceIndex
from sightline_search.locate import holes_of
from sightline_server.envelope import WireModel
from sightline_server.targets import Target, TargetArgs, resolve_target
from sightline_server.tools.base import Call


class DefinitionModel(WireModel):
    """What the index knows of a definition."""

    qualified_name: str
    kind: str
    path: str
    line: int
    end_line: int
    language: str
    signature: str | None = None
    doc: Annotated[str | None, Field(description="The first line of its documentation.")] = None


@dataclass(frozen=True, slots=True)
class Source:
    """A definition with its lines; `cut` counts the characters that were left out."""

    record: SymbolRecord
    text: str
    cut: int = 0
    holes: tuple[Note, ...] = ()


def definition_model(record: SymbolRecord) -> DefinitionModel:
    """A definition as it is shown."""
    symbol = record.symbol
    return DefinitionModel(
        qualified_name=symbol.qualified_name,
        kind=symbol.kind.value,
        path=record.path,
        line=symbol.range.start.line,
        end_line=symbol.range.end.line,
        language=record.language,
        signature=symbol.signature or None,
        doc=symbol.doc or None,
    )


async def resolve_definition(call: Call, args: TargetArgs) -> tuple[Target, Source]:
    """The definition that a target names or lies in, with its text.

    Raises what `resolve_target` raises, and `symbol_not_found` for a place outside all definitions.
    """
    index = await call.index()
    target = await resolve_target(call, args)
    root, limits = call.require_workspace().root, call.limits
    drifted = await anyio.to_thread.run_sync(index.check_stale, [target.path.relative])
    if drifted and await _brought_in(index, target.path.relative, limits):
        target = await resolve_target(call, args)
    source = await anyio.to_thread.run_sync(_source_of, index, root, target, limits)
    return target, replace(source, holes=(*target.holes, *source.holes))


async def _brought_in(index: WorkspaceIndex, path: str, limits: Limits) -> bool:
    job = index.start_job(mode=None, force=False, reason="read", paths=frozenset({path}))
    return await anyio.to_thread.run_sync(job.wait, limits.source_sync_wait_s)


def _source_of(index: WorkspaceIndex, root: RepoRoot, target: Target, limits: Limits) -> Source:
    path = target.path
    with index.snapshot() as snapshot:
        file = snapshot.file(path.relative)
        symbol = target.record.symbol if target.record is not None else None
        if symbol is None and file is not None:
            symbol = snapshot.symbol_around(file.file_id, target.position.line)
        if file is None or symbol is None:
            raise SightlineError(
                ErrorCode.SYMBOL_NOT_FOUND,
                f"No definition holds line {target.position.line} of '{path.relative}'.",
                hint="get_file_outline lists the definitions of a file.",
            )
        record = SymbolRecord(file.file_id, file.path, file.language, file.traits, symbol)
        record = snapshot.with_texts([record])[0]
        holes = holes_of(snapshot)
    content = root.read_file(path, limits.lsp_max_document_bytes)
    if (file.size, file.mtime_ns, file.inode) != (content.size, content.mtime_ns, content.inode):
        note = Note("index_stale", f"'{path.relative}' changed since it was indexed; the lines may be off.")
        holes = (*holes, note)
    lines = LineIndex(decode(content.data))
    span = record.symbol.range
    text = clean("\n".join(lines.line(number) for number in range(span.start.line, span.end.line + 1)))
    shown, cut = cut_text(text, limits.max_source_chars)
    return Source(record, shown, cut, holes)


def cut_text(text: str, bound: int) -> tuple[str, int]:
    """The first whole lines of a text within `bound` characters, and how many characters were left out."""
    if len(text) <= bound:
        return text, 0
    shown = text[: text.rfind("\n", 0, bound) + 1] or text[:bound]
    return shown, len(text) - len(shown)


def cut_note(what: str, cut: int) -> tuple[Note, ...]:
    """The note of a text that was cut; none when it was not."""
    return (Note("source_cut", f"{cut} characters of {what} were left out."),) if cut else ()
