"""Many HTTP clients with roots of their own, while files change and language servers are killed: `make soak`.

Each client works in its own directory, searches names that only exist there and checks every answer: one of another
directory is wrong, an empty one marked complete is unlabelled. The memory of the server is measured all the while.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp import Client

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from sightline_core.config import Config
from support.clients import http_server

FILES = 20
WARM_UP_SHARE = 0.3
WARM_UP_S = 300
# Before that, memory still grows to its level.
JUDGED_MINUTES = 5
WINDOW_S = 30


@dataclass
class Tally:
    """What was seen."""

    calls: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)
    kills: int = 0
    edits: int = 0


def make_tree(folder: Path, number: int) -> None:
    """A directory whose names exist nowhere else."""
    folder.mkdir(parents=True)
    for index in range(FILES):
        (folder / f"m{index}.py").write_text(text_of(number, index, 0), "utf-8")


def text_of(number: int, index: int, version: int) -> str:
    return f"def thing_{number}_{index}():\n    return {version}\n\n\nthing_{number}_{index}()\n"


def check(tally: Tally, folder: Path, name: str, body: dict[str, Any]) -> None:
    """One answer to a question for a definition that exists."""
    if "error" in body:
        tally.calls[body["error"]["code"]] += 1
        if body["error"]["code"] == "internal_error":
            tally.wrong.append(f"{name}: {body['error']}")
        return
    metadata = body["metadata"]
    tally.calls[metadata["result_completeness"]] += 1
    if metadata["workspace"] != str(folder):
        tally.wrong.append(f"{name}: answered about {metadata['workspace']}")
    hits = body.get("results", body.get("locations", []))
    # A file that is being saved is in no index for a moment; the answer says so.
    labelled = metadata["result_completeness"] != "complete" or metadata["freshness_status"] != "fresh"
    if not hits and not labelled:
        tally.wrong.append(f"{name}: nothing, and it says complete and fresh")


async def one_client(url: str, folder: Path, number: int, until: float, tally: Tally) -> None:
    async def roots(_context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=folder.as_uri())])

    chance = random.Random(number)
    async with Client(f"{url}/mcp", mode="legacy", list_roots_callback=roots) as client:
        with anyio.fail_after(WARM_UP_S):
            while True:
                status = await client.call_tool("index_status", {})
                metadata = status.structured_content["metadata"]
                if metadata["workspace"] == str(folder) and metadata["indexing_status"] == "ready":
                    break
                await anyio.sleep(0.5)
        while time.monotonic() < until:
            index = chance.randrange(FILES)
            name = f"thing_{number}_{index}"
            kind = chance.randrange(10)
            if kind < 2:
                (folder / f"m{index}.py").write_text(text_of(number, index, chance.randrange(1000)), "utf-8")
                tally.edits += 1
            elif kind < 6:
                answer = await client.call_tool("locate_symbol", {"name": name})
                check(tally, folder, name, answer.structured_content)
            elif kind < 9:
                answer = await client.call_tool("search_code", {"query": name})
                check(tally, folder, name, answer.structured_content)
            else:
                answer = await client.call_tool("go_to_definition", {"path": f"m{index}.py", "line": 5, "column": 1})
                check(tally, folder, name, answer.structured_content)
            await anyio.sleep(chance.uniform(0.2, 1.5))


def resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def slope(points: list[tuple[float, float]]) -> float:
    """Least squares, in MB a minute."""
    if len(points) < 2:
        return 0.0
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return 60 * sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0


def settled(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The lowest of each half minute: buffers of writers come and go with the saves, what stays is what counts."""
    lowest: dict[int, tuple[float, float]] = {}
    for at, size in points:
        window = int(at // WINDOW_S)
        if window not in lowest or size < lowest[window][1]:
            lowest[window] = (at, size)
    return list(lowest.values())


async def disturb(url: str, pid: int, begun: float, until: float, tally: Tally) -> None:
    """Measure, and kill a language server now and then."""
    async with Client(f"{url}/mcp", mode="legacy") as client:
        while time.monotonic() < until:
            await anyio.sleep(2)
            if time.monotonic() >= until:
                # The clients leave now, and what is freed with them says nothing of growth.
                return
            tally.memory.append((time.monotonic() - begun, resident_mb(pid)))
            health = (await client.call_tool("health_check", {})).structured_content
            for server in health.get("servers", []):
                if server.get("pid") and random.random() < 0.05:
                    try:
                        os.kill(server["pid"], signal.SIGKILL)
                        tally.kills += 1
                    except ProcessLookupError:
                        pass


async def soak(clients: int, seconds: float) -> Tally:
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="sightline-soak-") as name:
        base = Path(os.path.realpath(name))  # noqa: ASYNC240 - before anything runs
        folders = [base / "code" / f"p{number}" for number in range(clients)]
        for number, folder in enumerate(folders):
            make_tree(folder, number)
        (base / "start").mkdir()
        config = Config(
            data_dir=str(base / "data"), workspace=(str(base / "start"),), allowed_root=(str(base / "code"),)
        )
        with http_server(config) as server:
            begun = time.monotonic()
            until = begun + seconds
            try:
                async with anyio.create_task_group() as group:
                    group.start_soon(disturb, server.url, server.process.pid, begun, until, tally)
                    for number, folder in enumerate(folders):
                        group.start_soon(one_client, server.url, folder, number, until, tally)
                        await anyio.sleep(min(0.3, seconds / clients / 4))
            except BaseException:
                print("the server's last words:", *server.said, sep="\n", file=sys.stderr)
                raise
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--minutes", type=float, default=10.0)
    args = parser.parse_args()
    tally = anyio.run(soak, args.clients, args.minutes * 60)
    late = [point for point in tally.memory if point[0] > args.minutes * 60 * WARM_UP_SHARE]
    growth = slope(settled(late))
    print(f"{args.clients} clients, {args.minutes:g} min: {sum(tally.calls.values())} answers {dict(tally.calls)}")
    print(f"{tally.edits} edits, {tally.kills} servers killed, {len(tally.wrong)} wrong or unlabelled")
    if late:
        low, high = min(size for _, size in late), max(size for _, size in late)
        print(f"memory {low:.0f} to {high:.0f} MB after warm-up, slope of what stays {growth:.2f} MB/min")
    for line in tally.wrong[:20]:
        print("  ", line)
    grows = growth >= 1.0 and args.minutes >= JUDGED_MINUTES
    return 1 if tally.wrong or grows else 0


if __name__ == "__main__":
    raise SystemExit(main())
