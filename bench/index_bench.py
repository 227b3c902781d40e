"""The bars of the indexer, each as a ratio measured in one run on one tree.

    python bench/index_bench.py TREE [--changed 1000] [--saves 20]

The floor is parsing alone: the same files, the same grammars, in as many processes as the index uses workers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from machine import speed_note

from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.paths import RepoRoot
from sightline_core.types import JobState
from sightline_indexer.directory_rules import RULE_FILES
from sightline_indexer.walk import walk_files
from sightline_indexer.workspace_index import WorkspaceIndex
from sightline_server.process_memory import settle_memory

PARSE_ONLY = """
import sys
from sightline_core.languages import language_of, languages
from tree_sitter_language_pack import get_parser
parsers = {}
for name in sys.stdin.read().splitlines():
    data = open(name, "rb").read()
    row = languages().get(language_of(name, data[:200]))
    if row is None or not row.symbols:
        continue
    if row.grammar not in parsers:
        parsers[row.grammar] = get_parser(row.grammar)
    parsers[row.grammar].parse(data)
"""
WAIT_S = 3600.0
_ROUNDS = 3
# The no-op bar is meant for 100,000 files, that of memory for 80,000.
BARS = {
    "cpu_over_parsing": 2.8,
    "cpu_over_parsing_without_candidates": 2.4,
    "wall_over_cpu": 0.6,
    "heartbeat_added_ms": 50,
    "one_file_p95_ms": 500,
    "changed_over_share": 1.5,
    "noop_sync_s": 1.5,
    "peak_memory_mb": 1000,
    "index_over_source": 0.6,
}


def children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def parse_floor(root: str, names: list[str], processes: int) -> float:
    """CPU seconds of parsing alone."""
    before = children_cpu()
    running = []
    for at in range(processes):
        process = subprocess.Popen([sys.executable, "-c", PARSE_ONLY], stdin=subprocess.PIPE, text=True)
        threading.Thread(
            target=process.communicate, args=("\n".join(f"{root}/{name}" for name in names[at::processes]),)
        ).start()
        running.append(process)
    for process in running:
        process.wait()
    return children_cpu() - before


class MemoryWatch:
    """The highest sum of proportional memory over this process and its children."""

    def __init__(self) -> None:
        self.peak_mb = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> MemoryWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(0.5):
            self.peak_mb = max(self.peak_mb, sum(map(self._pss, self._family())) / 1024)

    def _family(self) -> list[int]:
        me = os.getpid()
        family = [me]
        for task in os.listdir(f"/proc/{me}/task"):
            try:
                family += map(int, Path(f"/proc/{me}/task/{task}/children").read_text().split())
            except OSError:
                continue
        return family

    @staticmethod
    def _pss(pid: int) -> float:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            return 0.0
        return next((float(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0.0)


def heartbeat(stop: threading.Event, late_ms: list[float]) -> None:
    """An event loop that wants to wake every 10 ms."""

    async def beat() -> None:
        while not stop.is_set():
            due = time.perf_counter() + 0.010
            await asyncio.sleep(0.010)
            late_ms.append((time.perf_counter() - due) * 1000)

    asyncio.run(beat())


def finish(index: WorkspaceIndex, **options) -> float:
    began = time.perf_counter()
    job = index.start_job(mode=None, force=False, reason="bench", **options)
    assert job.wait(WAIT_S)
    assert job.state is JobState.PUBLISHED, job.error
    return time.perf_counter() - began


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


def folder_bytes(folder: str) -> int:
    return sum((Path(place) / name).stat().st_size for place, _, names in os.walk(folder) for name in names)


BARE_HEARTBEAT = """
import asyncio, sys, threading, time
late, stop = [], threading.Event()
def wait_for_the_end():
    sys.stdin.read()
    stop.set()
async def beat():
    while not stop.is_set():
        due = time.perf_counter() + 0.010
        await asyncio.sleep(0.010)
        late.append((time.perf_counter() - due) * 1000)
threading.Thread(target=wait_for_the_end).start()
asyncio.run(beat())
print(sorted(late)[min(len(late) - 1, int(len(late) * 0.999))])
"""


def measure_full(index: WorkspaceIndex, figures: dict[str, object]) -> None:
    settle_memory()
    stop, late = threading.Event(), []
    beating = threading.Thread(target=heartbeat, args=(stop, late))
    beating.start()
    # Beside it, in the same minutes, the same heartbeat in a process that does nothing else.
    bare = subprocess.Popen(
        [sys.executable, "-c", BARE_HEARTBEAT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    began_own, began_children = own_cpu(), children_cpu()
    with MemoryWatch() as memory:
        figures["full_wall_s"] = round(finish(index), 1)
    stop.set()
    beating.join()
    figures["heartbeat_bare_p999_ms"] = round(float(bare.communicate("")[0]), 1)
    figures["_own_cpu"] = own_cpu() - began_own
    figures["_children_before"] = began_children
    figures["peak_memory_mb"] = round(memory.peak_mb)
    figures["heartbeat_late_p999_ms"] = round(percentile(late, 0.999), 1)
    figures["heartbeat_added_ms"] = round(figures["heartbeat_late_p999_ms"] - figures["heartbeat_bare_p999_ms"], 1)


def save_until_found(index: WorkspaceIndex, root: str, name: str, number: int) -> float:
    """Milliseconds from saving a file to finding its new word; the watcher alone tells the index."""
    word = f"savedword{os.getpid()}x{number}"
    began = time.perf_counter()
    with open(f"{root}/{name}", "ab") as file:
        file.write(f"\n// {word}\n".encode())
    while time.perf_counter() - began < WAIT_S:
        with index.snapshot() as snapshot:
            if snapshot.files_with_word(word).file_ids:
                break
        time.sleep(0.005)
    return (time.perf_counter() - began) * 1000


def measure_changes(index: WorkspaceIndex, root: str, names: list[str], options, figures: dict[str, object]) -> None:
    figures["noop_sync_s"] = round(min(finish(index) for _ in range(3)), 2)
    saves = [
        save_until_found(index, root, names[number * 97 % len(names)], number) for number in range(options.saves)
    ]
    figures["one_file_p50_ms"] = round(statistics.median(saves))
    figures["one_file_p95_ms"] = round(percentile(saves, 0.95))
    step = max(1, len(names) // options.changed)
    rounds: list[tuple[float, float]] = []
    for number in range(_ROUNDS):
        nothing = finish(index)
        changed = names[number % step :: step][: options.changed]
        share = sum(os.path.getsize(f"{root}/{name}") for name in changed) / figures["_bytes"]
        for name in changed:
            with open(f"{root}/{name}", "ab") as file:
                file.write(b"\n// changed\n")
        seconds = finish(index)
        rounds.append(((seconds - nothing) / (share * figures["full_wall_s"]), seconds))
    # The machine may double its speed between two rounds.
    figures["changed_over_share"], figures["changed_wall_s"] = (
        round(value, 2) for value in sorted(rounds)[_ROUNDS // 2]
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tree")
    parser.add_argument("--changed", type=int, default=1000)
    parser.add_argument("--saves", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = f"{place}/tree"
        shutil.copytree(options.tree, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        files = walk_files(RepoRoot(root), DEFAULT_LIMITS).files
        # An edited ignore file changes what belongs into the index, which is another matter than a changed file.
        names = [
            file.relative
            for file in files
            if file.size < DEFAULT_LIMITS.max_file_bytes // 2 and Path(file.relative).name not in RULE_FILES
        ]
        figures: dict[str, object] = {"files": len(names), "_bytes": sum(file.size for file in files)}
        workers = max(1, len(os.sched_getaffinity(0)))
        index = WorkspaceIndex(RepoRoot(root), f"{place}/index", DEFAULT_LIMITS, watch=True)
        index.open()
        measure_full(index, figures)
        finish(index)
        measure_changes(index, root, names, options, figures)
        # Merges go on behind the jobs; the size that stays is the one after them.
        time.sleep(DEFAULT_LIMITS.writer_linger_s * 2)
        figures["index_over_source"] = round(folder_bytes(index.folder) / figures["_bytes"], 3)
        index.close()

        def floor() -> float:
            return parse_floor(root, names, workers)

        report(figures, floor(), floor, options.tree, place)


# A second full index in a process of its own, so that its children's CPU is all counted; it waits for its merges.
FULL_INDEX = """
import sys
from dataclasses import replace
from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.paths import RepoRoot
from sightline_indexer import vocabulary
from sightline_indexer.workspace_index import WorkspaceIndex
if sys.argv[3] == "without":
    vocabulary.VocabularyWriter.unseen = lambda self, words: []
limits = replace(DEFAULT_LIMITS, shutdown_grace_s=600.0)
index = WorkspaceIndex(RepoRoot(sys.argv[1]), sys.argv[2], limits, watch=False)
index.open()
index.start_job(mode=None, force=False, reason="bench").wait(3600)
index.close()
"""


def full_index(place: str, candidates: str) -> tuple[float, float]:
    """Seconds and CPU seconds of a full index, `with` or `without` the words that literals are narrowed by."""
    before, began = children_cpu(), time.perf_counter()
    command = [sys.executable, "-c", FULL_INDEX, f"{place}/tree", f"{place}/{candidates}", candidates]
    subprocess.run(command, check=True)
    return time.perf_counter() - began, children_cpu() - before


def report(figures: dict[str, object], first: float, floor: Callable[[], float], tree: str, place: str) -> None:
    """Print everything; parsing alone is measured before and after each index, because the machine's speed drifts."""
    wall, used = full_index(place, "with")
    between = floor()
    _, without = full_index(place, "without")
    after = floor()
    parsing, parsing_without = (first + between) / 2, (between + after) / 2
    figures |= {
        "parse_floor_cpu_s": round(parsing, 1),
        "full_cpu_s": round(used, 1),
        "cpu_over_parsing": round(used / parsing, 2),
        "cpu_over_parsing_without_candidates": round(without / parsing_without, 2),
        "wall_over_cpu": round(wall / used, 2),
    }
    print(speed_note())
    shown = {name: value for name, value in figures.items() if not name.startswith("_")}
    print(json.dumps({"tree": Path(tree).name, **shown}, indent=2))
    for name, bar in BARS.items():
        figure = figures[name]
        print(f"{'holds' if float(figure) <= bar else 'SHORT'}  {name} {figure} (bar {bar})")
    sys.exit(any(float(figures[name]) > bar for name, bar in BARS.items()))


if __name__ == "__main__":
    main()
