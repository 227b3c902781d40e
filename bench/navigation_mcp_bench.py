"""What `find_references` through MCP on stdio adds to the language server pool's own answer.

    python bench/navigation_mcp_bench.py ROOT --server ty --language python [--symbols 6] [--data DIR]

Both are asked in turn in this process, which serves a client of another process over pipes as `serve-mcp` does: so
its processor time is all that serving costs, and the language server's is left out. Symbols with more than 200
places are drawn by a fixed seed from names that many files use; 200 of their places are shown. Exits 1 when the bar
is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.abc
import anyio.streams.buffered
from machine import speed_note

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import support.navigation_kit as kit  # isort: skip
from support.navigation_kit import Desk, desk, with_servers  # isort: skip
from sightline_indexer import schema
from sightline_lsp.faults import LspError
from sightline_server.targets import TargetArgs, resolve_target
from sightline_server.tools.base import Call
from sightline_server.transports.stdio import serve_descriptors

_SHOWN = 200
_BAR_MS = 5.0
_BATCH = 5
_KINDS = {"function", "method", "class"}
_FILES_OF_A_NAME = range(60, 1_000)
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
# The client: sends a request as often as it is told and reports how long each answer took, and the last one's size.
_CLIENT = r"""
import json, os, sys, time
sink, source = int(sys.argv[1]), int(sys.argv[2])
for order in sys.stdin:
    count, request = json.loads(order)
    line, times = (json.dumps(request) + "\n").encode(), []
    for _ in range(count):
        parts, begun = [], time.perf_counter()
        os.write(sink, line)
        while "id" in request:
            parts.append(os.read(source, 1 << 20))
            if not parts[-1] or parts[-1].endswith(b"\n"):
                break
        times.append((time.perf_counter() - begun) * 1000)
    answer = json.loads(b"".join(parts) or b"{}")
    shown = answer.get("result", {}).get("structuredContent", {})
    report = [times, sum(map(len, parts)), len(shown.get("locations", ())), shown.get("provenance")]
    print(json.dumps(report), flush=True)
"""


@dataclass(frozen=True)
class Measured:
    """Of one symbol, in milliseconds of processor and of wall time, at the median of the batches.

    What is added is the median of differences between neighbours, so that a slow minute of the machine is in both.
    """

    own: tuple[float, float]
    served: tuple[float, float]
    added: tuple[float, float]


class Client:
    """The process that asks over pipes."""

    def __init__(self, process: anyio.abc.Process) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._send = process.stdin
        self._reports = anyio.streams.buffered.BufferedByteReceiveStream(process.stdout)

    async def ask(self, count: int, request: dict[str, object]) -> tuple[list[float], int, int, object]:
        """Send a request `count` times: how long each took, the size of the last answer, its places, who answered."""
        await self._send.send(json.dumps([count, {"jsonrpc": "2.0", **request}]).encode() + b"\n")
        times, size, places, provenance = json.loads(await self._reports.receive_until(b"\n", 1 << 20))
        return times, size, places, provenance


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--server", required=True)
    parser.add_argument("--language", required=True)
    parser.add_argument("--symbols", type=int, default=6)
    parser.add_argument("--batches", type=int, default=12)
    parser.add_argument("--data", type=Path, help="where the index is kept; by default a new folder")
    given = parser.parse_args()
    kit.DEADLINE_S = 900.0
    data = given.data or Path(tempfile.mkdtemp(prefix="sightline-nav-bench-"))
    settings = with_servers(**{given.language: given.server})
    print(speed_note())
    async with desk(data, given.root.resolve(), **settings) as made, anyio.create_task_group() as group:
        inward, outward = os.pipe(), os.pipe()
        group.start_soon(serve_descriptors, made.services, inward[0], outward[1])
        arguments = [sys.executable, "-S", "-c", _CLIENT, str(inward[1]), str(outward[0])]
        async with await anyio.open_process(arguments, pass_fds=(inward[1], outward[0]), stderr=None) as process:
            client = Client(process)
            await client.ask(1, {"id": 0, "method": "initialize", "params": _HELLO})
            await client.ask(1, {"method": "notifications/initialized"})
            measured = await _measure(made, client, given)
            process.terminate()
        group.cancel_scope.cancel()
    print(speed_note())
    sys.exit(0 if _report(measured) else 1)


async def _measure(made: Desk, client: Client, given: argparse.Namespace) -> list[Measured]:
    workspace = made.services.workspaces.named[0]
    pool = made.services.language_servers.pool
    measured: list[Measured] = []
    for name, arguments in await _drawn(made, given.language):
        call = Call(made.services, made.session, workspace, anyio.current_time() + 45)
        target = await resolve_target(call, TargetArgs(**arguments))

        async def own(target=target) -> int:
            return len((await pool.references(workspace.path, target.path, target.position, 30)).value)

        try:
            places = await own()
        except LspError:
            continue
        if places <= _SHOWN:
            continue
        asked = {**arguments, "include_declaration": True, "limit": _SHOWN}
        request = {"id": 1, "method": "tools/call", "params": {"name": "find_references", "arguments": asked}}
        _, size, shown, provenance = await client.ask(2, request)
        if shown != _SHOWN or provenance != ["lsp"]:
            print(f"left out: {name}, {shown} places shown by {provenance}", file=sys.stderr)
            continue
        one = await _in_turn(given.batches, own, client, request)
        measured.append(one)
        print(
            f"{name:28s} {places:5d} places, {size / 1024:3.0f} KiB; processor: pool {one.own[0]:5.1f}, served"
            f" {one.served[0]:5.1f}, added {one.added[0]:5.2f} ms; wall: {one.own[1]:6.1f}, {one.served[1]:6.1f},"
            f" added {one.added[1]:5.2f} ms"
        )
        if len(measured) == given.symbols:
            break
    return measured


async def _in_turn(
    batches: int, own: Callable[[], Awaitable[object]], client: Client, request: dict[str, object]
) -> Measured:
    """Both ways in turn; raises when an answer was not the language server's."""
    rounds: list[tuple[tuple[float, float], tuple[float, float]]] = []
    for _ in range(batches):
        begun, asked = time.process_time(), time.perf_counter()
        for _ in range(_BATCH):
            await own()
        pool = (time.process_time() - begun, time.perf_counter() - asked)
        begun = time.process_time()
        times, _, shown, provenance = await client.ask(_BATCH, request)
        served = (time.process_time() - begun, sum(times) / 1000)
        assert (shown, provenance) == (_SHOWN, ["lsp"]), (shown, provenance)
        rounds.append((pool, served))

    def middle(of: Callable[[tuple[float, float], tuple[float, float]], float]) -> float:
        return statistics.median(of(pool, served) for pool, served in rounds) * 1000 / _BATCH

    return Measured(
        own=(middle(lambda pool, _: pool[0]), middle(lambda pool, _: pool[1])),
        served=(middle(lambda _, served: served[0]), middle(lambda _, served: served[1])),
        added=(middle(lambda pool, served: served[0] - pool[0]), middle(lambda pool, served: served[1] - pool[1])),
    )


async def _drawn(made: Desk, language: str) -> list[tuple[str, dict[str, object]]]:
    """Definitions whose names many files use, by a fixed seed."""
    index = await made.services.indexes.of(made.services.workspaces.named[0])
    with index.snapshot() as snapshot:
        rows = [
            (record.symbol.qualified_name, record.path, record.symbol.name_position)
            for file in snapshot.files()
            if file.language == language and not file.traits
            for record in snapshot.symbols_in(file)
            if record.symbol.kind.value in _KINDS
            and not record.symbol.name.startswith("__")
            and snapshot.frequency(schema.CONTENT, record.symbol.name.casefold()) in _FILES_OF_A_NAME
        ]
    random.Random(7).shuffle(rows)
    return [(name, {"path": path, "line": at.line, "column": at.column}) for name, path, at in rows]


def _report(measured: list[Measured]) -> bool:
    if not measured:
        print("no symbol has so many places")
        return False
    cpu, wall = (statistics.median(one.added[at] for one in measured) for at in (0, 1))
    worst_cpu, worst_wall = (max(one.added[at] for one in measured) for at in (0, 1))
    good = cpu <= _BAR_MS and wall <= _BAR_MS
    print(
        f"{len(measured)} symbols, {_SHOWN} places shown: added processor time {cpu:.2f} ms (worst symbol"
        f" {worst_cpu:.2f}), wall time {wall:.2f} ms ({worst_wall:.2f}); bar {_BAR_MS:.0f}"
        f" {'ok' if good else 'MISSED'}"
    )
    return good


if __name__ == "__main__":
    anyio.run(main)
