"""Trees and indexes for the tests of the indexer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.paths import RepoRoot
from sightline_core.types import JobMode, JobState
from sightline_indexer.job import Job
from sightline_indexer.store import Snapshot
from sightline_indexer.workspace_index import WorkspaceIndex

WAIT_S = 60.0


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def opened(root: Path, folder: Path, *, limits: Limits = DEFAULT_LIMITS, **options) -> Iterator[WorkspaceIndex]:
    index = WorkspaceIndex(RepoRoot(str(root)), str(folder), limits, watch=False, **options)
    index.open()
    try:
        yield index
    finally:
        index.close()


def run(
    index: WorkspaceIndex, *, force: bool = False, mode: JobMode | None = None, paths: frozenset[str] | None = None
) -> Job:
    """A job that must end well."""
    job = index.start_job(mode=mode, force=force, reason="test", paths=paths)
    assert job.wait(WAIT_S)
    assert job.state is JobState.PUBLISHED, job.error
    return job


def paths_with_word(snapshot: Snapshot, word: str) -> set[str]:
    return paths_of(snapshot, snapshot.files_with_word(word).file_ids)


def paths_of(snapshot: Snapshot, file_ids) -> set[str]:
    return {file.path for file in snapshot.files_by_id(file_ids).values()}


def picture(snapshot: Snapshot) -> dict[str, object]:
    """All that an index says of each file, without what legitimately differs between two builds."""
    files: dict[str, object] = {}
    for file in snapshot.files():
        symbols = [(item.symbol, item.language) for item in snapshot.symbols_in(file)]
        files[file.path] = (file.digest, file.language, file.traits, file.problem, file.size, symbols)
    return files
