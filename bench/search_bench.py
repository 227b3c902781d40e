"""Latency of searches in process: `search_bench.py TREE INDEX_FOLDER`, the index is made if it is not there.

Queries are made from the tree with a fixed seed: names and words of its own files, at least 500 of each kind.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Callable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "support"))

from indexed import index_tree  # pyright: ignore[reportMissingImports]
from machine import speed_note

from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.paths import RepoRoot
from sightline_indexer.layout import current_index
from sightline_indexer.store import IndexStore, Snapshot
from sightline_indexer.words import word_parts
from sightline_search.engine import search
from sightline_search.locate import locate
from sightline_search.model import SearchMode, SearchOptions
from sightline_search.outline import outline

_SEED = 20240229
_QUERIES = 500


def main() -> None:
    """Measure and print; exits 1 when a bar is missed."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("tree")
    arguments.add_argument("folder")
    arguments.add_argument("--queries", type=int, default=_QUERIES)
    given = arguments.parse_args()
    root = RepoRoot(given.tree)
    if current_index(given.folder) is None:
        index_tree(root, given.folder, workers=os.cpu_count() or 1)
    store = IndexStore(current_index(given.folder) or "", DEFAULT_LIMITS)
    with store.snapshot() as snapshot:
        print(f"{snapshot.searcher.num_docs - 1} files; {speed_note()}")
        names, paths = sample(snapshot, given.queries)
        words = word_queries(names, given.queries)
    text = SearchOptions(mode=SearchMode.TEXT)
    missed = 0

    def ask(run: Callable[[Snapshot, str], object]) -> Callable[[str], object]:
        def one(query: str) -> object:
            with store.snapshot() as snapshot:
                return run(snapshot, query)

        return one

    soon = time.monotonic() + 3600
    kinds: list[tuple[str, list[str], Callable[[Snapshot, str], object], float, float]] = [
        ("words", words, lambda s, q: search(s, root, q, text, DEFAULT_LIMITS, soon), 5, 25),
        ("names (auto)", names, lambda s, q: search(s, root, q, SearchOptions(), DEFAULT_LIMITS, soon), 5, 25),
        ("locate", names, lambda s, q: locate(s, q, limit=10, limits=DEFAULT_LIMITS), 3, 3),
        ("outline", paths, lambda s, q: outline(s, q, limits=DEFAULT_LIMITS), 5, 5),
    ]
    for kind, queries, run, p50_bar, p95_bar in kinds:
        walls, cpus = measure(ask(run), queries)
        good = at(walls, 0.5) <= p50_bar and at(walls, 0.95) <= p95_bar
        missed += not good
        print(
            f"{kind:14s} n={len(queries):4d} wall p50 {at(walls, 0.5):6.2f} p95 {at(walls, 0.95):6.2f} ms,"
            f" cpu p50 {at(cpus, 0.5):6.2f} p95 {at(cpus, 0.95):6.2f} max {cpus[-1]:6.2f} ms,"
            f" bar {p50_bar:.0f}/{p95_bar:.0f} {'ok' if good else 'MISSED'}"
        )
    sys.exit(1 if missed else 0)


def sample(snapshot: Snapshot, count: int) -> tuple[list[str], list[str]]:
    """Names of definitions and paths of files with symbols, by chance."""
    chance = random.Random(_SEED)
    files = [file for file in snapshot.files() if file.symbol_count > 2]
    chosen = chance.sample(files, min(count * 2, len(files)))
    names: dict[str, None] = {}
    for file in chosen:
        names[chance.choice(snapshot.symbols_in(file)).symbol.name] = None
    return list(names)[:count], [file.path for file in chosen[:count]]


def word_queries(names: list[str], count: int) -> list[str]:
    """Questions of two to five words, made from parts of names."""
    chance = random.Random(_SEED + 1)
    parts = sorted({part for name in names for part in word_parts(name) if len(part) > 2})
    queries: set[str] = set()
    while len(queries) < count:
        queries.add(" ".join(chance.sample(parts, chance.randint(2, 5))))
    return sorted(queries)


def measure(run: Callable[[str], object], queries: list[str]) -> tuple[list[float], list[float]]:
    """The sorted wall and processor times in milliseconds, after every query was run once."""
    for query in queries:
        run(query)
    walls: list[float] = []
    cpus: list[float] = []
    for query in queries:
        wall, cpu = time.perf_counter(), time.thread_time()
        run(query)
        cpus.append((time.thread_time() - cpu) * 1000)
        walls.append((time.perf_counter() - wall) * 1000)
    return sorted(walls), sorted(cpus)


def at(times: list[float], share: float) -> float:
    """A percentile of sorted times."""
    return times[min(len(times) - 1, int(len(times) * share))]


if __name__ == "__main__":
    main()
