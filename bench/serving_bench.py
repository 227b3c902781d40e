"""What a served search costs: `serving_bench.py TREE DATA_FOLDER`; the index is made there at first.

Three measurements against one server process each, with questions of words and `enrich` off: what a client on stdio
waits longer than a caller in the process, how 64 clients in a closed loop over HTTP fare against one, and how long
the worst queries take. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, "..", "tests", "support")]

from clients import command, config_file, environment, http_server  # noqa: E402
from machine import speed_note  # noqa: E402
from search_bench import at, sample, word_queries  # noqa: E402

from sightline_core.config import Config  # noqa: E402
from sightline_core.limits import DEFAULT_LIMITS, Limits  # noqa: E402
from sightline_core.paths import RepoRoot  # noqa: E402
from sightline_indexer.layout import current_index  # noqa: E402
from sightline_indexer.store import IndexStore  # noqa: E402
from sightline_search.engine import search  # noqa: E402
from sightline_search.model import SearchMode, SearchOptions  # noqa: E402

_CLIENTS = 64
_OVERHEAD_BAR_MS = 3.0
_FAIRNESS_BAR = 1.5
_BOMB_BAR_S = 2.0
_ANSWER_S = 300
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
_BOMBS: tuple[tuple[str, str], ...] = (
    ("auto", "(" * 9_000), ("auto", "word " * 3_999), ("auto", "w" * 20_000), ("auto", "x " * 100_000),
    ("auto", " ".join(f"part{n} thing" for n in range(1_200))), ("text", " ".join(map(str, range(4_000)))),
    ("auto", "a\0b"), ("auto", "\ud800 lone"), ("auto", '"' * 99), ("auto", "*" * 300), ("path", "*a" * 200),
    ("auto", "path:" + "{a,b}" * 40 + " x"), ("auto", "lang:go " * 900 + "kube"), ("auto", "?" * 500),
    ("auto", "\n".join(f"  at a.b (x{n}.go:{n})" for n in range(800))), ("auto", "File \"" * 2_000),
    ("regex", "(a+)+$"), ("regex", "(((a*)*)*)*b"), ("regex", "(x{1,30}){1,30}"), ("regex", "(.*)(.*)(.*)(.*)!@#"),
    ("regex", "[^x]{900}y"), ("regex", ".{1,500}zzz"), ("regex", "(" * 2_000 + ")" * 2_000),
    ("regex", r"(\w+\s+){40}!"),
    ("regex", r"\pL{20}\pN{20}"), ("regex", "(?s).*q.*z.*j.*x"), ("regex", "|".join(f"ab{n}c" for n in range(800))),
    ("regex", "(?i)" + "[a-z]" * 300), ("regex", "a?" * 300 + "a" * 300), ("literal", "e"), ("literal", " "),
    ("literal", "zq" * 2_000), ("regex", "."), ("regex", "$"), ("regex", r"\b"), ("symbol", "x" * 5_000),
    ("symbol", "a.b" * 2_000), ("symbol", "Pod"), ("symbol", "e"), ("path", "e"), ("literal", "x\ny"),
)  # fmt: skip


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("tree")
    arguments.add_argument("data")
    arguments.add_argument("--queries", type=int, default=500)
    given = arguments.parse_args()
    limits = replace(Limits(), http_max_connections=512)
    config = Config(data_dir=os.path.abspath(given.data), workspace=(os.path.abspath(given.tree),), limits=limits)
    print(speed_note())
    good = _stdio(config, given.queries)
    with http_server(config) as server:
        host, _, port = server.url.removeprefix("http://").rpartition(":")
        good &= asyncio.run(_clients(host, int(port), given.queries, config))
    sys.exit(0 if good else 1)


# -- one client on stdio, and the bombs --------------------------------------------------------


class _Peer:
    """A server on pipes, and its client, which does nothing but write a line and read one."""

    def __init__(self, config: Config) -> None:
        self.process = subprocess.Popen(
            command("serve-mcp", "--config", config_file(config)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(config),
            cwd="/",
            bufsize=0,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self._sink, self._source = self.process.stdin.fileno(), self.process.stdout.fileno()
        self._poller = select.poll()
        self._poller.register(self._source, select.POLLIN)

    def __enter__(self) -> _Peer:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message that has no answer."""
        self._write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def ask(self, message: dict[str, Any]) -> float:
        """Milliseconds from the first byte of a request to the last of its answer, whatever is said in between."""
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        started = time.perf_counter()
        self._write(line)
        while True:
            lines = self._lines()
            taken = (time.perf_counter() - started) * 1000
            # A message that is no valid JSON for the server is answered without its id.
            if any(json.loads(answer).get("id", "none") in (message["id"], None) for answer in lines):
                return taken

    def _write(self, line: bytes) -> None:
        while line:
            line = line[os.write(self._sink, line) :]

    def _lines(self) -> list[bytes]:
        parts: list[bytes] = []
        while not parts or not parts[-1].endswith(b"\n"):
            if not self._poller.poll(_ANSWER_S * 1000):
                raise TimeoutError
            parts.append(os.read(self._source, 1 << 20))
            if not parts[-1]:
                raise SystemExit("the server ended")
        return b"".join(parts).splitlines()


def _stdio(config: Config, count: int) -> bool:
    with _Peer(config) as peer:
        peer.ask({"id": 0, "method": "initialize", "params": _HELLO})
        peer.tell({"method": "notifications/initialized"})
        peer.ask(_call("sync_repo", {"wait": True}))
        here, there = _in_turn(config, count, peer)
        added = statistics.median(b - a for a, b in zip(here, there, strict=True))
        good = added <= _OVERHEAD_BAR_MS
        print(
            f"stdio          n={len(here):4d} in process p50 {statistics.median(here):6.2f} ms, through"
            f" {statistics.median(there):6.2f} ms, added {added:5.2f} ms, bar {_OVERHEAD_BAR_MS:.0f} {_said(good)}"
        )
        return _bombs(peer) & good


def _in_turn(config: Config, count: int, peer: _Peer) -> tuple[list[float], list[float]]:
    """How long each question takes here as the tool asks it, and through the server, warm.

    One after the other, because the machine's speed drifts within the minutes that all of them take.
    """
    root = RepoRoot(config.workspace[0])
    options = SearchOptions(mode=SearchMode.TEXT)

    def one(query: str) -> float:
        started = time.perf_counter()
        with store.snapshot() as snapshot:
            search(snapshot, root, query, options, DEFAULT_LIMITS, time.monotonic() + 60)
        return (time.perf_counter() - started) * 1000

    here: list[float] = []
    there: list[float] = []
    with _store(config) as store:
        with store.snapshot() as snapshot:
            queries = word_queries(sample(snapshot, count)[0], count)
        for query in queries:
            here.append([one(query) for _ in range(2)][1])
            there.append([peer.ask(_search(query)) for _ in range(2)][1])
    return here, there


@contextmanager
def _store(config: Config) -> Generator[IndexStore]:
    """The index that the served process made."""
    projects = os.path.join(config.data_dir, "projects")
    (project,) = [name for name in os.listdir(projects) if current_index(os.path.join(projects, name))]
    store = IndexStore(current_index(os.path.join(projects, project)) or "", DEFAULT_LIMITS)
    try:
        yield store
    finally:
        store.close()


def _bombs(peer: _Peer) -> bool:
    """Every bomb twice: the first time is the cold one."""
    times: list[tuple[float, str]] = []
    for _ in range(2):
        for mode, query in _BOMBS:
            try:
                taken = peer.ask(_search(query, mode))
            except TimeoutError:
                print(f"bombs          no answer to {mode} {query[:30]!a} MISSED")
                return False
            times.append((taken / 1000, f"{mode} {query[:30]!a}"))
    times.sort()
    worst = times[int(len(times) * 0.99)][0]
    good = worst < _BOMB_BAR_S and peer.process.poll() is None
    slowest = ", ".join(f"{name} {seconds:.2f} s" for seconds, name in times[:-4:-1])
    print(
        f"bombs          n={len(times):4d} p99 {worst:6.2f} s, slowest {slowest}; bar {_BOMB_BAR_S:.0f} {_said(good)}"
    )
    return good


# -- many clients over HTTP --------------------------------------------------------------------


async def _clients(host: str, port: int, count: int, config: Config) -> bool:
    with _store(config) as store, store.snapshot() as snapshot:
        queries = word_queries(sample(snapshot, count)[0], count)
    await _loop(host, port, queries)
    alone, failed = await _loop(host, port, queries)
    share = [queries[at::_CLIENTS] * 2 for at in range(_CLIENTS)]
    # Warm as the single client was: processes that help are started by the rush itself.
    first = await asyncio.gather(*(_loop(host, port, some) for some in share))
    cold = sorted(taken for times, _ in first for taken in times)
    loops = await asyncio.gather(*(_loop(host, port, some) for some in share))
    together = sorted(taken for times, _ in loops for taken in times)
    failed += sum(count for _, count in (*first, *loops))
    cores = os.cpu_count() or 1
    ratio = at(together, 0.99) / (statistics.median(alone) * _CLIENTS / cores)
    good = ratio <= _FAIRNESS_BAR and not failed
    print(
        f"{_CLIENTS} clients     n={len(together):4d} one client p50 {statistics.median(alone):6.2f} ms, together p50"
        f" {at(together, 0.5):6.1f} p99 {at(together, 0.99):6.1f} ms = {ratio:.2f} x ({_CLIENTS}/{cores}) x p50,"
        f" {failed} errors, bar {_FAIRNESS_BAR} {_said(good)}; from cold p99 {at(cold, 0.99):.1f} ms"
    )
    return good


async def _loop(host: str, port: int, queries: list[str]) -> tuple[list[float], int]:
    """One client: asks, waits, asks again. The times in milliseconds, and how many answers were errors."""
    reader, writer = await asyncio.open_connection(host, port, limit=1 << 24)
    times: list[float] = []
    failed = 0
    for query in queries:
        body = json.dumps({"jsonrpc": "2.0", **_search(query)}).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        started = time.perf_counter()
        writer.write(head.encode() + body)
        status, answer = await asyncio.wait_for(_read_answer(reader), 120)
        times.append((time.perf_counter() - started) * 1000)
        failed += status != 200 or b'"isError":true' in answer or b'"structuredContent"' not in answer
    writer.close()
    return times, failed


async def _read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = int(head.split(b" ", 2)[1])
    if b"content-length:" in head:
        size = int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
        return status, await reader.readexactly(size)
    body = b""
    while size := int(await reader.readline(), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return status, body


def _search(query: str, mode: str = "text") -> dict[str, Any]:
    return _call("search_code", {"query": query, "mode": mode, "enrich": False})


def _call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": 7, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def _said(good: bool) -> str:
    return "ok" if good else "MISSED"


if __name__ == "__main__":
    main()
