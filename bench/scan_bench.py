"""First page of literal and regex searches against ripgrep over the same tree, in the same run.

    python bench/scan_bench.py TREE INDEX_FOLDER [PATTERNS_PER_CLASS [CLASS]]

Indexes TREE into INDEX_FOLDER unless an index is there. Patterns are drawn from the tree with a fixed seed; each one
is asked of both, one after the other, and the medians of the times and of their ratios are printed.
"""

from __future__ import annotations

import os
import random
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.paths import RepoRoot
from sightline_indexer import schema
from sightline_indexer.layout import current_index
from sightline_indexer.store import IndexStore, Snapshot
from sightline_search.model import SearchOptions
from sightline_search.scan import search_pattern
from support.indexed import index_tree

RIPGREP = str(Path(sys.executable).parent / "rg")
SELECTIVE_FILES = 50
COMMON_FILES = 2000
CLASSES = (
    "[A-Z]{%d}[0-9]{%d}", "[0-9]{%d}-[0-9]{%d}", "[a-z]{%d}[0-9]{%d}[a-z]", r"\b[a-f0-9]{%d}\b.*[g-z]{%d}$",
    r"^\s{%d}\S{%d}$", "[^a-z0-9_ ]{%d}[A-Z]{%d}", r"(\w+)-[0-9]{%d}\.[0-9]{%d}", "[aeiou]{%d}[^aeiou]{%d}",
    r"\d{%d}[xyz]\d{%d}", "^.{1%d0}$|^.{2%d1}$",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    kind: str
    pattern: str
    regex: bool


def main() -> None:
    root = RepoRoot(sys.argv[1])
    folder = sys.argv[2]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    index = current_index(folder) or index_tree(root, folder, workers=os.cpu_count() or 1)
    store = IndexStore(index, DEFAULT_LIMITS)
    with store.snapshot() as snapshot:
        print(f"{len(snapshot.catalogue().entries)} files, generation {snapshot.generation}")
        cases = make_cases(snapshot, root, count, random.Random(42))
    measure(store, root, cases[0])
    run_ripgrep(root, cases[0])
    wanted = sys.argv[4] if len(sys.argv) > 4 else ""
    for kind in dict.fromkeys(case.kind for case in cases if wanted in case.kind):
        report(kind, [pair(store, root, case) for case in cases if case.kind == kind])
    store.close()


def pair(store: IndexStore, root: RepoRoot, case: Case) -> tuple[float, float]:
    """Seconds of ours and of ripgrep, the better of two each, so that a hiccup of the machine is not measured."""
    ours = min(measure(store, root, case) for _ in range(2))
    theirs = min(run_ripgrep(root, case) for _ in range(2))
    return ours, theirs


def measure(store: IndexStore, root: RepoRoot, case: Case) -> float:
    started = time.perf_counter()
    with store.snapshot() as snapshot:
        search_pattern(
            snapshot,
            root,
            case.pattern,
            regex=case.regex,
            options=SearchOptions(limit=10),
            limits=DEFAULT_LIMITS,
            deadline=time.monotonic() + 30,
        )
    return time.perf_counter() - started


def run_ripgrep(root: RepoRoot, case: Case) -> float:
    flags = [] if case.regex else ["--fixed-strings"]
    command = [RIPGREP, "--no-config", "--no-messages", "--no-ignore", "-n", *flags, "-e", case.pattern, root.path]
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started


def report(kind: str, pairs: list[tuple[float, float]]) -> None:
    ours = sorted(one for one, _ in pairs)
    theirs = sorted(other for _, other in pairs)
    ratios = sorted(other / one for one, other in pairs)
    print(
        f"{kind:18} n={len(pairs):4} ours p50 {statistics.median(ours) * 1e3:7.1f} ms"
        f" p95 {ours[int(len(ours) * 0.95)] * 1e3:7.1f} ms, ripgrep p50 {statistics.median(theirs) * 1e3:6.1f} ms,"
        f" times faster p50 {statistics.median(ratios):6.1f} p10 {ratios[len(ratios) // 10]:6.1f}"
    )


def make_cases(snapshot: Snapshot, root: RepoRoot, count: int, chosen: random.Random) -> list[Case]:
    lines = sample_lines(snapshot, root, chosen)
    cases = []
    for kind, low, high in (("selective", 1, SELECTIVE_FILES), ("common", COMMON_FILES, 10**9)):
        for regex in (False, True):
            name = f"{kind} {'regex' if regex else 'literal'}"
            cases += draw(snapshot, lines, count, chosen, name, regex, low, high)
    cases += [
        Case("no literal", chosen.choice(CLASSES) % (chosen.randrange(3, 9), chosen.randrange(2, 9)), True)
        for _ in range(count)
    ]
    return cases


def sample_lines(snapshot: Snapshot, root: RepoRoot, chosen: random.Random) -> list[str]:
    lines: list[str] = []
    for entry in chosen.sample(snapshot.catalogue().entries, 1500):
        data = Path(root.path, entry.path).read_bytes()
        if data.isascii():
            lines += [line.strip() for line in data.decode().split("\n") if 5 < len(line.strip()) < 150]
    return lines


def draw(
    snapshot: Snapshot,
    lines: list[str],
    count: int,
    chosen: random.Random,
    kind: str,
    regex: bool,
    low: int,
    high: int,
) -> list[Case]:
    """Pieces of lines whose rarest word is in so many files; for a regex two words with something between them."""
    found: dict[str, Case] = {}
    while len(found) < count:
        words = re.findall(r"\w+", chosen.choice(lines))
        if len(words) < 2:
            continue
        at = chosen.randrange(len(words) - 1)
        frequency = min(snapshot.searcher.doc_freq(schema.CONTENT, word.lower()) for word in words[at : at + 2])
        if not low <= frequency <= high:
            continue
        if not regex:
            pattern = chosen.choice([words[at], words[at + 1], words[at] + " ", " " + words[at + 1] + "("])
            if not low <= snapshot.searcher.doc_freq(schema.CONTENT, pattern.strip(" (").lower()) <= high:
                continue
        else:
            middle = chosen.choice([r"\s+", r"\W+", ".*", r"[^a-z]{1,4}"])
            pattern = chosen.choice(["", r"\b", "(?i)"]) + words[at] + middle + words[at + 1]
        found[pattern] = Case(kind, pattern, regex)
    return list(found.values())


if __name__ == "__main__":
    main()
