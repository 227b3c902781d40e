"""Search quality against a set of questions with known answers: `BENCH=… BENCH_MIRROR=… python bench/quality.py OUT`.

`BENCH` is a folder with issue2file.jsonl, commit2file.jsonl, symbols.jsonl, outlines.jsonl and materialise.py;
`BENCH_MIRROR` holds the bare repositories. Each tree is written over the one before and indexed incrementally, then
the product is asked in process. Runs are written into OUT in the form that the set's own scripts score. Exits 1 when
a bar is missed.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, "..", "tests", "support")]

from baseline import Baseline  # pyright: ignore[reportMissingImports]  # noqa: E402
from indexed import index_tree, snapshot_of  # pyright: ignore[reportMissingImports]  # noqa: E402

from sightline_core.limits import DEFAULT_LIMITS  # noqa: E402
from sightline_core.paths import RepoRoot  # noqa: E402
from sightline_indexer.store import Snapshot  # noqa: E402
from sightline_search.engine import search  # noqa: E402
from sightline_search.locate import locate  # noqa: E402
from sightline_search.model import SearchOptions  # noqa: E402
from sightline_search.outline import Outline, outline  # noqa: E402

_SETS = ("issue2file", "commit2file", "symbols", "outlines")
_LIMIT = 50
_RESAMPLES = 10_000
_SEED = 20240229
Row = dict[str, Any]


def main() -> None:
    """Run everything and print the figures."""
    bench, out = os.environ["BENCH"], os.path.abspath(sys.argv[1])
    os.makedirs(out, exist_ok=True)
    rows = {name: read_rows(os.path.join(bench, f"{name}.jsonl")) for name in _SETS}
    runs: dict[str, list[Row]] = defaultdict(list)
    for root, snapshot, asked in trees(bench, out, rows):
        answer_all(root, snapshot, asked, runs)
    for name, lines in runs.items():
        with open(os.path.join(out, f"{name}.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    sys.exit(0 if report(rows, runs) else 1)


def read_rows(path: str) -> list[Row]:
    """The lines of a file of JSON objects."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def trees(
    bench: str, out: str, rows: dict[str, list[Row]]
) -> Iterator[tuple[RepoRoot, Snapshot, list[tuple[str, Row]]]]:
    """Every tree with what is asked of it; one folder a repository, moved from commit to commit."""
    wanted: dict[tuple[str, str], list[tuple[str, Row]]] = defaultdict(list)
    for name, some in rows.items():
        for row in some:
            wanted[row["repo"].lower(), row.get("base") or row["commit"]].append((name, row))
    for (repository, _), asked in sorted(wanted.items(), key=lambda item: item[0]):
        folder = os.path.join(out, "trees", repository.replace("/", "+"))
        name, row = asked[0]
        command = [sys.executable, os.path.join(bench, "materialise.py"), os.path.join(bench, f"{name}.jsonl")]
        subprocess.run([*command, row["id"], folder], check=True, stdout=subprocess.DEVNULL)
        root = RepoRoot(folder)
        index = index_tree(
            root, os.path.join(out, "index", repository.replace("/", "+")), workers=os.cpu_count() or 1
        )
        with snapshot_of(index) as snapshot:
            yield root, snapshot, asked


def answer_all(root: RepoRoot, snapshot: Snapshot, asked: list[tuple[str, Row]], runs: dict[str, list[Row]]) -> None:
    """Ask the product, and the baseline, what is asked of one tree."""
    baseline: Baseline | None = None
    for name, row in asked:
        if name == "symbols":
            found = locate(snapshot, row["name"], limit=_LIMIT, limits=DEFAULT_LIMITS)
            places = [{"file": hit.path, "line": hit.line} for hit in found.hits]
            runs[name].append({"id": row["id"], "results": places})
        elif name == "outlines":
            shown = outline(snapshot, row["file"], limits=DEFAULT_LIMITS)
            runs[name].append({"id": row["id"], "symbols": list(flatten(shown))})
        else:
            baseline = baseline or Baseline(root.path, snapshot)
            for field in ("title", "query"):
                if row[field]:
                    line = {"id": row["id"], "field": field}
                    runs[name].append({**line, "ranked": ask(snapshot, root, row[field])})
                    runs[f"{name}.baseline"].append({**line, "ranked": baseline.rank(row[field])[:_LIMIT]})


def ask(snapshot: Snapshot, root: RepoRoot, text: str) -> list[str]:
    """The distinct paths of an answer in its order."""
    deadline = time.monotonic() + DEFAULT_LIMITS.call_deadline_s
    found = search(snapshot, root, text, SearchOptions(limit=_LIMIT), DEFAULT_LIMITS, deadline)
    return list(dict.fromkeys(hit.path for hit in found.hits))


def flatten(shown: Outline) -> Iterator[list[str | int]]:
    """Name and line of every definition of an outline."""
    waiting = list(reversed(shown.items))
    while waiting:
        item = waiting.pop()
        yield [item.symbol.name, item.symbol.range.start.line]
        waiting.extend(reversed(item.children))


# -- scores ------------------------------------------------------------------------------------


def report(rows: dict[str, list[Row]], runs: dict[str, list[Row]]) -> bool:
    """Print the scores; whether every bar was reached."""
    good = True
    pairs: dict[str, list[tuple[float, float]]] = {"MRR": [], "recall@10": []}
    for name, field in (("issue2file", "title"), ("issue2file", "query"), ("commit2file", "title")):
        ours, theirs = (scores(rows[name], runs[run], field) for run in (name, f"{name}.baseline"))
        for at, measure in enumerate(pairs):
            values, base = [s[at] for s in ours], [s[at] for s in theirs]
            print(
                f"{name:12s} {field:6s} {measure:10s} {mean(values):.3f}  baseline {mean(base):.3f}  n={len(values)}"
            )
            if field == "title":
                pairs[measure].extend(zip(values, base, strict=True))
        if (name, field) == ("issue2file", "title"):
            good &= mean([s[0] for s in ours]) >= 0.67 and mean([s[1] for s in ours]) >= 0.86
        if field == "query":
            good &= mean([s[1] for s in ours]) >= 0.93
    for measure, both in pairs.items():
        low, high = interval([a - b for a, b in both])
        good &= low > 0
        gain = mean([a - b for a, b in both])
        print(f"titles and subjects: {measure} {gain:+.3f}, 95 % interval {low:+.3f} … {high:+.3f}, n={len(both)}")
    return good & report_symbols(rows, runs)


def scores(rows: list[Row], run: list[Row], field: str) -> list[tuple[float, float]]:
    """Reciprocal rank and recall@10 of every question."""
    answers = {line["id"]: line["ranked"] for line in run if line["field"] == field}
    result: list[tuple[float, float]] = []
    for row in rows:
        if row[field]:
            gold, ranked = set(row["gold_files"]), answers.get(row["id"], [])
            rank = next((1 / (at + 1) for at, path in enumerate(ranked) if path in gold), 0.0)
            result.append((rank, len(gold & set(ranked[:10])) / len(gold)))
    return result


def report_symbols(rows: dict[str, list[Row]], runs: dict[str, list[Row]]) -> bool:
    """Print recall and precision of definitions and outlines."""
    good = True
    for name, bars in (("symbols", (0.993, 0.98)), ("outlines", (0.99, 0.93))):
        answers = {line["id"]: line.get("results") or line.get("symbols") or [] for line in runs[name]}
        gold = found = returned = right = first = positives = negatives = false = 0
        for row in rows[name]:
            wanted, given = places_of(row, answers.get(row["id"], []))
            if not wanted:
                negatives += 1
                false += bool(given)
                continue
            positives += 1
            gold, returned = gold + len(wanted), returned + len(given)
            found += sum(any(near(a, b) for b in given) for a in wanted)
            right += sum(any(near(a, b) for a in wanted) for b in given)
            first += bool(given) and any(near(a, given[0]) for a in wanted)
        recall, precision = found / max(1, gold), right / max(1, returned)
        good &= recall >= bars[0] and precision >= bars[1]
        print(f"{name}: recall {recall:.3f} precision {precision:.3f} first right {first / max(1, positives):.3f}")
        if negatives:
            print(f"{name}: undefined names answered {false / negatives:.3f} of {negatives}")
            good &= first / positives >= 0.985 and false / negatives <= 0.015
    return good


def places_of(row: Row, given: list[Any]) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """What was wanted and what was given, as name or file with line."""
    if "symbols" in row:
        return [(s[0], s[1]) for s in row["symbols"]], [(s[0], s[1]) for s in given]
    return [(g["file"], g["line"]) for g in row["gold"]], [(g["file"], g["line"]) for g in given[:_LIMIT]]


def near(left: tuple[str, int], right: tuple[str, int]) -> bool:
    """The same thing, a line more or less."""
    return left[0] == right[0] and abs(left[1] - right[1]) <= 1


def mean(values: list[float]) -> float:
    """The average."""
    return sum(values) / max(1, len(values))


def interval(differences: list[float]) -> tuple[float, float]:
    """The 95 % interval of a mean difference, by resampling the questions."""
    chance = random.Random(_SEED)
    means = sorted(mean(chance.choices(differences, k=len(differences))) for _ in range(_RESAMPLES))
    return means[int(_RESAMPLES * 0.025)], means[int(_RESAMPLES * 0.975)]


if __name__ == "__main__":
    main()
