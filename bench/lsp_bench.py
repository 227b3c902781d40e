"""What the pool costs: round trips, decoding, and what a hung neighbour changes. Each figure beside its floor.

Run: `.venv/bin/python bench/lsp_bench.py`. The floor of a round trip is the same request over bare pipes to the same
fake server, in the same run; the floor of decoding is `json.loads` of the same bytes.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from sightline_core.limits import Limits
from sightline_core.types import Position
from sightline_lsp import shapes
from sightline_lsp.messages import Answer, decode_message
from support.fake_pool import FAKE, fake_pool

ROUNDS = 400
AT = Position(1, 5)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[int(len(values) * share)]


def show(name: str, values: list[float]) -> float:
    middle = statistics.median(values)
    print(f"{name:<44} median {middle * 1000:8.3f} ms   p99 {percentile(values, 0.99) * 1000:8.3f} ms")
    return middle


def bare_round_trips(folder: Path) -> list[float]:
    script = folder / "bare.json"
    script.write_text("{}")
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", FAKE, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    took: list[float] = []
    for number in range(ROUNDS):
        method, params = ("initialize", {"rootUri": "file:///x"}) if number == 0 else ("textDocument/hover", {})
        body = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
        begun = time.perf_counter()
        process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        process.stdin.flush()
        length = int(process.stdout.readline().split(b":")[1])
        process.stdout.readline()
        json.loads(process.stdout.read(length))
        took.append(time.perf_counter() - begun)
    process.kill()
    process.communicate()
    return took[10:]


async def pool_round_trips(folder: Path) -> list[float]:
    took: list[float] = []
    async with fake_pool(folder, Limits(), python={}) as fake:
        path = fake.file()
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            await fake.pool.hover(fake.root, path, AT, 10)
            took.append(time.perf_counter() - begun)
    return took[10:]


async def beside_a_hung_server(folder: Path, *, hung: bool) -> list[float]:
    hang = {"on": {"textDocument/hover": [{"do": "hang"}], "workspace/symbol": [{"do": "hang"}]}}
    took: list[float] = []
    async with fake_pool(folder, Limits(), python=hang if hung else {}, go={}) as fake:
        await fake.pool.hover(fake.root, fake.file("go"), AT, 10)
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(fake.pool.workspace_symbols, fake.root, f"q{_}", ["python"], 30)
            for _ in range(ROUNDS):
                begun = time.perf_counter()
                await fake.pool.hover(fake.root, fake.file("go"), AT, 10)
                took.append(time.perf_counter() - begun)
            tasks.cancel_scope.cancel()
    return took[10:]


def ten_thousand_symbols() -> bytes:
    span = {"start": {"line": 10, "character": 4}, "end": {"line": 20, "character": 9}}
    symbols = [
        {
            "name": f"some_function_{n}",
            "kind": 12,
            "containerName": "package.module",
            "location": {"uri": f"file:///work/project/package/module_{n % 500}.py", "range": span},
        }
        for n in range(10_000)
    ]
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": symbols}).encode()


def decode_times(body: bytes) -> tuple[list[float], list[float]]:
    ours: list[float] = []
    floor: list[float] = []
    for _ in range(15):
        begun = time.perf_counter()
        message = decode_message(body)
        assert isinstance(message, Answer)
        found = shapes.SYMBOLS.decode(message.result)
        ours.append(time.perf_counter() - begun)
        assert found is not None
        assert len(found) == 10_000
        begun = time.perf_counter()
        json.loads(body)
        floor.append(time.perf_counter() - begun)
    return ours, floor


async def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bare = show("round trip over bare pipes", bare_round_trips(folder))
        pooled = show("round trip over the pool", await pool_round_trips(folder))
        print(f"  the pool adds {(pooled - bare) * 1000:.3f} ms (bar 0.5), ratio {pooled / bare:.1f}")
        alone = show("neighbour of a healthy server", await beside_a_hung_server(folder, hung=False))
        beside = show("neighbour of a hung server", await beside_a_hung_server(folder, hung=True))
        print(f"  ratio {beside / alone:.2f}")
        ours, floor = decode_times(ten_thousand_symbols())
        mine, theirs = show("10,000 symbols decoded", ours), show("10,000 symbols by json.loads alone", floor)
        print(f"  bar 60 ms, ratio {mine / theirs:.2f}")


anyio.run(main)
