"""How an index is doing: the figures of its generation and the words for its state.

**Invariant**: values and plain functions; whoever asks brings a snapshot and the jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sightline_core.types import Freshness, IndexingStatus, JobState, SchemaStatus
from sightline_indexer.index_health import Health
from sightline_indexer.job import Job
from sightline_indexer.job_log import JobRecord, RecoveryReport
from sightline_indexer.store import Snapshot
from sightline_indexer.watch import WatcherState

_UNFINISHED_WELL = (JobState.FAILED, JobState.CANCELLED, JobState.INTERRUPTED)


@dataclass(frozen=True, slots=True)
class IndexState:
    """How an index is doing, at one moment."""

    indexing_status: IndexingStatus
    schema_status: SchemaStatus
    freshness: Freshness
    active_job: Job | None
    recent_jobs: tuple[JobRecord, ...]
    generation: int
    complete: bool
    file_count: int
    symbol_count: int
    skipped: Mapping[str, int]
    languages: Mapping[str, int]
    last_indexed_at: str
    current_schema_version: int
    required_schema_version: int
    watcher_state: WatcherState
    watcher_reason: str
    recovery: RecoveryReport | None
    writer: bool
    ref: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """What every answer says of the index that it comes from."""

    indexing_status: IndexingStatus
    schema_status: SchemaStatus
    freshness: Freshness
    ref: str


@dataclass(frozen=True, slots=True)
class Figures:
    """What counting the rows of a generation gave."""

    generation: int
    complete: bool
    files: int
    symbols: int
    indexed_at: str
    skipped: Mapping[str, int]
    languages: Mapping[str, int]


NO_FIGURES = Figures(0, False, 0, 0, "", {}, {})


def count_figures(snapshot: Snapshot) -> Figures:
    """The figures of the generation that a snapshot shows."""
    record = snapshot.record
    return Figures(
        generation=record.generation,
        complete=record.complete,
        files=record.files,
        symbols=record.symbols,
        indexed_at=record.indexed_at,
        skipped=_merged(record.skipped, snapshot.problem_counts()),
        languages=snapshot.language_counts(),
    )


def indexing_status(
    health: Health, figures: Figures, active: Job | None, jobs: tuple[JobRecord, ...]
) -> IndexingStatus:
    """The one word for how far indexing is; `jobs` are those of the log, the newest last."""
    if health.reason:
        return IndexingStatus.INDEXING if active is not None else IndexingStatus.FAILED
    if figures.complete:
        return IndexingStatus.READY
    if active is not None:
        return IndexingStatus.INDEXING
    return IndexingStatus.FAILED if jobs and jobs[-1].state in _UNFINISHED_WELL else IndexingStatus.NOT_INDEXED


def _merged(skipped: Mapping[str, int], problems: Mapping[str, int]) -> dict[str, int]:
    merged = dict(skipped)
    for reason, count in problems.items():
        merged[reason] = merged.get(reason, 0) + count
    return merged
