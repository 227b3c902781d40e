"""What live symbols add to a search: the same query with and without enrichment, on one server that has loaded.

    python bench/merge_bench.py ROOT --server ty --language python [--names 100]

Names are drawn from the index with a fixed seed and asked each by one tool, so that no answer is a kept one; each
pair is one query without and then with live symbols. Bars: 30 ms more in the median, 400 ms in the worst case.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import support.navigation_kit as kit  # isort: skip
from support.navigation_kit import Desk, desk, with_servers  # isort: skip

WARM_S = 120.0


async def timed(made: Desk, tool: str, **arguments: object) -> tuple[float, dict[str, object]]:
    """One call in ms of wall time, and its metadata."""
    begun = time.perf_counter()
    body = await made.ask(tool, **arguments)
    return (time.perf_counter() - begun) * 1000, body["metadata"]


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--server", required=True)
    parser.add_argument("--language", required=True)
    parser.add_argument("--names", type=int, default=100)
    args = parser.parse_args()
    kit.DEADLINE_S = 900.0
    data = Path(tempfile.mkdtemp(prefix="sightline-merge-bench-"))
    async with desk(data, args.root.resolve(), **with_servers(**{args.language: args.server})) as made:
        workspace = made.services.workspaces.named[0]
        index = await made.services.indexes.of(workspace)
        with index.snapshot() as snapshot:
            files = [file for file in snapshot.files() if file.language == args.language]
            names = sorted(
                {record.symbol.name for file in files for record in snapshot.symbols_in(file, texts=False)}
            )
        drawn = random.Random(7).sample(names, min(2 * args.names + 1, len(names)))
        with anyio.fail_after(WARM_S):
            while (await timed(made, "search_code", query=drawn[0]))[1]["result_completeness"] != "complete":  # noqa: ASYNC110
                await anyio.sleep(0.5)
        for tool, field in (("search_code", "query"), ("locate_symbol", "name")):
            # Each tool has names of its own: a second question for a name is served from the first one's answer.
            part = drawn[1::2] if tool == "search_code" else drawn[2::2]
            rows: list[tuple[float, float, str]] = []
            for name in part:
                plain, _ = await timed(made, tool, **{field: name}, enrich=False)
                merged, metadata = await timed(made, tool, **{field: name})
                rows.append((plain, merged, str(metadata["result_completeness"])))
            report(tool, rows)


def report(tool: str, rows: list[tuple[float, float, str]]) -> None:
    """Both times and what was added, with how many answers were complete."""
    added = sorted(merged - plain for plain, merged, _ in rows)
    p95 = added[int(len(added) * 0.95)]
    complete = sum(label == "complete" for _, _, label in rows)
    print(
        f"{tool}: {len(rows)} names, {complete} complete; index alone p50"
        f" {statistics.median(plain for plain, _, _ in rows):.1f} ms; added p50 {statistics.median(added):.1f},"
        f" p95 {p95:.1f}, worst {added[-1]:.1f} ms"
    )


if __name__ == "__main__":
    anyio.run(main)
