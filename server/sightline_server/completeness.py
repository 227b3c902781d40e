"""Whether an answer is all there is: the one function that decides.

**Invariant**: no other code computes `result_completeness`; tools state facts, this turns them into the label.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sightline_core.errors import ErrorCode
from sightline_core.types import Completeness, Note, Source, SourceStatus


class ToolKind(StrEnum):
    """What a tool's answer rests on when no language server answers."""

    INDEX = "index"  # asks no language server
    SEARCH = "search"  # the index is the product; servers enrich it
    NAVIGATION = "navigation"  # servers are the product; the index is the fallback


@dataclass(frozen=True, slots=True)
class Facts:
    """What happened while an answer was made.

    `cuts` are the reasons why something was left out (size, tokens, deadline, scan limit); `holes` the reasons
    why something could not be seen (first index running, unreadable files); `notes` are remarks that change
    nothing about completeness. `failure` is the code of a call that ended in an error.
    """

    cuts: tuple[Note, ...] = ()
    holes: tuple[Note, ...] = ()
    notes: tuple[Note, ...] = ()
    sources: tuple[Source, ...] | None = None
    failure: ErrorCode | None = None


# A server in one of these states was asked, or should have been, and did not answer.
_SILENT = frozenset(
    {
        SourceStatus.STARTING,
        SourceStatus.INDEXING,
        SourceStatus.TIMEOUT,
        SourceStatus.DOWN,
        SourceStatus.UNTRUSTED,
    }
)


def decide(kind: ToolKind, facts: Facts) -> tuple[Completeness, tuple[Note, ...]]:
    """The label of an answer and every warning that goes with it."""
    missing = tuple(_source_note(source) for source in facts.sources or () if _leaves_hole(kind, source))
    warnings = (*facts.cuts, *facts.holes, *missing, *facts.notes)
    if facts.cuts or facts.failure is ErrorCode.DEADLINE_EXCEEDED:
        return Completeness.TRUNCATED, warnings
    # A call that failed has answered nothing, so it must not say that nothing is all there is.
    if facts.holes or missing or facts.failure is not None:
        return Completeness.PARTIAL, warnings
    return Completeness.COMPLETE, warnings


def _leaves_hole(kind: ToolKind, source: Source) -> bool:
    if source.status is SourceStatus.OK:
        return False
    if kind is ToolKind.NAVIGATION:
        return True
    return source.status in _SILENT and source.expected


def _source_note(source: Source) -> Note:
    reasons = {
        SourceStatus.STARTING: "is still starting",
        SourceStatus.INDEXING: "is still loading the workspace",
        SourceStatus.TIMEOUT: "did not answer in time",
        SourceStatus.DOWN: "is down",
        SourceStatus.UNTRUSTED: "stays off because the workspace is not trusted",
        SourceStatus.NOT_INSTALLED: "is not installed",
        SourceStatus.UNSUPPORTED: "lacks this capability",
        SourceStatus.OFF: "is switched off",
    }
    detail = f": {source.detail}" if source.detail else ""
    return Note(
        code=f"lsp_{source.status.value}",
        message=f"[{source.language}] language server {reasons[source.status]}{detail}.",
        language=source.language,
    )
