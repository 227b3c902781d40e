"""A real index of a directory, built by the real pipeline in the calling thread."""

from __future__ import annotations

import os
from pathlib import Path

from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.paths import RepoRoot
from sightline_core.progress import ProgressBoard
from sightline_indexer import layout
from sightline_indexer.path_filter import PathFilter
from sightline_indexer.pipeline import Pass, Scope, Tally, run_pass
from sightline_indexer.store import IndexStore
from sightline_indexer.workers import WorkerPool
from sightline_indexer.writer import IndexWriter


def write_tree(root: Path, files: dict[str, str | bytes]) -> None:
    """Write files, making their directories."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def index_tree(root: Path, folder: Path, limits: Limits = DEFAULT_LIMITS, *, workers: int = 1) -> IndexStore:
    """The index of `root`, made in `folder` unless one is there."""
    layout.prepare_folder(str(folder))
    index = layout.current_index(str(folder))
    if index is None:
        index = layout.create_index(str(folder), os.path.realpath(root))
        _fill(RepoRoot(str(root)), index, limits, workers)
        layout.switch_to(str(folder), index)
    return IndexStore(index, limits)


def _fill(root: RepoRoot, index: str, limits: Limits, workers: int) -> None:
    writer = IndexWriter(index, limits)
    pool = WorkerPool(root.path, limits, workers)
    try:
        work = Pass(
            root,
            PathFilter(root, limits),
            writer,
            pool,
            limits,
            ProgressBoard(),
            cancelled=lambda: False,
            on_commit=lambda: None,
            was_complete=False,
        )
        run_pass(work, Scope(), Tally())
    finally:
        pool.close()
        writer.close(settle=True)
