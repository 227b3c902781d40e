"""Staged progress of an index job: what is shown and how far it is.

**Invariant**: the percentage of a job never goes back, whatever order its reports arrive in.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum


class Stage(StrEnum):
    """The stages of a job, in order."""

    DISCOVERY = "discovery"
    PARSING = "parsing"
    INDEXING = "indexing"
    FINALIZING = "finalizing"


@dataclass(frozen=True, slots=True)
class StageSpan:
    """The stretch of the percentage that a stage fills."""

    start: int
    end: int


STAGE_SPANS: dict[Stage, StageSpan] = {
    Stage.DISCOVERY: StageSpan(0, 10),
    Stage.PARSING: StageSpan(10, 70),
    Stage.INDEXING: StageSpan(70, 95),
    Stage.FINALIZING: StageSpan(95, 99),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """What a job has done so far."""

    stage: Stage
    percentage: int
    message: str
    files_scanned: int = 0
    files_parsed: int = 0
    files_indexed: int = 0
    files_total: int = 0
    symbols_extracted: int = 0


@dataclass(frozen=True, slots=True)
class Counters:
    """The raw figures a pipeline reports; `total` is 0 while it is unknown."""

    scanned: int = 0
    parsed: int = 0
    indexed: int = 0
    total: int = 0
    symbols: int = 0


def describe(stage: Stage, counters: Counters) -> str:
    """The contract's message of a stage."""
    if stage is Stage.DISCOVERY:
        return f"Scanning files: {counters.scanned} discovered"
    if stage is Stage.PARSING:
        share = _share(counters.parsed, counters.total)
        return f"Parsing files: {counters.parsed}/{counters.total} ({share * 100:.0f}%)"
    if stage is Stage.INDEXING:
        return f"Indexing: {counters.indexed}/{counters.total} files, {counters.symbols} symbols"
    return "Finalizing index..."


def describe_end(files: int, symbols: int, seconds: float) -> str:
    """The contract's message of a finished job."""
    return f"Indexed {files} files, {symbols} symbols in {seconds:.1f}s"


class ProgressBoard:
    """The latest progress of one job, written by the pipeline and read by anyone.

    Thread-safe. A follower that is slow sees fewer records in the middle, never a missing last one.
    """

    def __init__(self, on_change: Callable[[Progress], None] | None = None) -> None:
        self._lock = threading.Lock()
        self._latest = Progress(Stage.DISCOVERY, 0, describe(Stage.DISCOVERY, Counters()))
        self._on_change = on_change

    @property
    def latest(self) -> Progress:
        """The newest record."""
        with self._lock:
            return self._latest

    def report(self, stage: Stage, counters: Counters) -> None:
        """Record how far `stage` is."""
        with self._lock:
            percentage = max(self._latest.percentage, _percentage(stage, counters))
            self._latest = Progress(
                stage=stage,
                percentage=percentage,
                message=describe(stage, counters),
                files_scanned=counters.scanned,
                files_parsed=counters.parsed,
                files_indexed=counters.indexed,
                files_total=counters.total,
                symbols_extracted=counters.symbols,
            )
            latest = self._latest
        if self._on_change is not None:
            self._on_change(latest)

    def finish(self, message: str, *, done: bool) -> None:
        """Record the end: all of it when `done`, else as far as it came."""
        with self._lock:
            percentage = 100 if done else self._latest.percentage
            self._latest = replace(self._latest, percentage=percentage, message=message)
            latest = self._latest
        if self._on_change is not None:
            self._on_change(latest)


def _share(done: int, total: int) -> float:
    return min(1.0, done / total) if total else 0.0


def _percentage(stage: Stage, counters: Counters) -> int:
    span = STAGE_SPANS[stage]
    if stage is Stage.DISCOVERY:
        # The number of files is unknown while it is being counted: approach the end without reaching it.
        share = counters.scanned / (counters.scanned + 5_000)
    elif stage is Stage.PARSING:
        share = _share(counters.parsed, counters.total)
    elif stage is Stage.INDEXING:
        share = _share(counters.indexed, counters.total)
    else:
        share = 0.0
    return int(span.start + (span.end - span.start) * share)
