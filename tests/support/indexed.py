"""Real indexes of small trees, built in the calling thread by the product's own pipeline."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping

from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.paths import RepoRoot
from sightline_core.progress import ProgressBoard
from sightline_indexer.layout import create_index, current_index, prepare_folder, switch_to
from sightline_indexer.path_filter import PathFilter
from sightline_indexer.pipeline import Pass, Scope, Tally, run_pass
from sightline_indexer.store import IndexStore, Snapshot
from sightline_indexer.workers import WorkerPool
from sightline_indexer.writer import IndexWriter


def write_tree(folder: str, files: Mapping[str, str]) -> None:
    """Write files by their paths relative to a folder."""
    for path, text in files.items():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)


def index_tree(root: RepoRoot, folder: str, limits: Limits = DEFAULT_LIMITS, workers: int = 1) -> str:
    """Bring the index in `folder` up to what is below `root`; the folder of the index itself."""
    prepare_folder(folder)
    index = current_index(folder)
    fresh = index is None
    if index is None:
        index = create_index(folder, root.path)
    writer = IndexWriter(index, limits)
    pool = WorkerPool(root.path, limits, workers)
    work = Pass(
        root=root,
        path_filter=PathFilter(root, limits),
        writer=writer,
        pool=pool,
        limits=limits,
        board=ProgressBoard(),
        cancelled=lambda: False,
        on_commit=lambda: None,
        was_complete=not fresh,
        on_difference=lambda _: None,
    )
    try:
        run_pass(work, Scope(), Tally())
    finally:
        pool.close()
        writer.close(settle=True)
    if fresh:
        switch_to(folder, index)
    return index


@contextlib.contextmanager
def snapshot_of(index: str, limits: Limits = DEFAULT_LIMITS) -> Iterator[Snapshot]:
    """A snapshot of an index folder."""
    store = IndexStore(index, limits)
    try:
        with store.snapshot() as snapshot:
            yield snapshot
    finally:
        store.close()
