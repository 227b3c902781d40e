"""What the daemon saves, as ratios to serving in process in the same run.

python bench/daemon_bench.py [WORKSPACE]
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from sightline_core.config import Config  # noqa: E402
from support.daemon_kit import Front, Yard, until, yard_of  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "7"))
CALLS = 300
SESSIONS = 10
SETTLE_S = 60
LOOK_AGAIN_S = 3
STEADY = 0.005
BARS = {
    "start_ratio": 0.15,
    "locate_ratio": 0.2,
    "ping_added_ms": 0.5,
    "call_added_ms": 0.5,
    "recovery_s": 2.0,
    "memory_ratio": 1.3,
    "memory_served_ratio": 1.3,
}


def main() -> int:
    """Interleaved rounds, so that a noisy machine is noisy to both; 1 when a bar is missed."""
    workspace = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else ROOT / "server")
    with tempfile.TemporaryDirectory() as folder:
        config = Config(data_dir=f"{folder}/data", workspace=(workspace,))
        apart = Yard(Config(data_dir=f"{folder}/apart", workspace=(workspace,)), Path(folder) / "apart")
        subprocess.run(apart.command("index"), env=_apart(apart), cwd=workspace, capture_output=True, check=True)
        shutil.copytree(f"{folder}/apart", config.data_dir)
        with yard_of(config, Path(folder)) as yard:
            first = yard.start().open()
            first.call("sync_repo", wait=True)
            found = first.call("search_code", query="main", mode="symbol", language="python", limit=1)["results"]
            figures = {
                **starts(yard),
                **locates(yard, apart, found[0]["name"] if found else "main"),
                **latency(yard, first),
                **recovery(yard, first),
                **memory(yard, found),
            }
    print(json.dumps(figures, indent=1))
    for name, bar in BARS.items():
        if name in figures:
            print(f"{'holds' if figures[name] <= bar else 'SHORT'}  {name} {figures[name]} (bar {bar})")
    return int(any(figures.get(name, 0) > bar for name, bar in BARS.items()))


def starts(yard: Yard) -> dict[str, float]:
    """Start of a front until `initialize` is answered."""
    shared, alone = [], []
    for _ in range(ROUNDS):
        for args, times in (((), shared), (("--no-daemon",), alone)):
            begun = time.perf_counter()
            front = yard.start(*args).open()
            times.append(time.perf_counter() - begun)
            front.end()
    return _pair("start", shared, alone)


def locates(yard: Yard, apart: Yard, name: str) -> dict[str, float]:
    """`sightline locate NAME` end to end, beside a command whose index no daemon has open.

    A command in process that shares its index with a daemon waits for the daemon's lock, which would flatter us.
    """
    shared, alone = [], []
    for _ in range(ROUNDS):
        for owner, environment, times in ((yard, yard.environment, shared), (apart, _apart(apart), alone)):
            begun = time.perf_counter()
            subprocess.run(
                owner.command("locate", name),
                env=environment,
                cwd=yard.config.workspace[0],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=True,
            )
            times.append(time.perf_counter() - begun)
    return _pair("locate", shared, alone)


def _apart(yard: Yard) -> dict[str, str]:
    return {**yard.environment, "SIGHTLINE_DAEMON": "no"}


def latency(yard: Yard, shared: Front) -> dict[str, float]:
    """What the front adds to a call, by pings and by a real tool."""
    alone = yard.start("--no-daemon").open()
    figures: dict[str, float] = {}
    for label, method, params in (
        ("ping", "ping", {}),
        ("call", "tools/call", {"name": "index_status", "arguments": {}}),
    ):
        times: dict[str, list[float]] = {"shared": [], "alone": []}
        for _ in range(CALLS):
            for key, front in (("shared", shared), ("alone", alone)):
                begun = time.perf_counter()
                front.ask(method, params)
                times[key].append(time.perf_counter() - begun)
        added = statistics.median(times["shared"]) - statistics.median(times["alone"])
        figures[f"{label}_alone_ms"] = round(1000 * statistics.median(times["alone"]), 3)
        figures[f"{label}_added_ms"] = round(1000 * added, 3)
    alone.end()
    return figures


def recovery(yard: Yard, front: Front) -> dict[str, float]:
    """From the kill of the daemon to the answer of the next request."""
    times: list[float] = []
    for _ in range(3):
        os.kill(yard.daemon()["pid"], signal.SIGKILL)
        begun = time.perf_counter()
        while "error" in front.ask("tools/call", {"name": "locate_symbol", "arguments": {"name": "main"}}):
            pass
        times.append(time.perf_counter() - begun)
    return {"recovery_s": round(statistics.median(times), 3), "recovery_worst_s": round(max(times), 3)}


def memory(yard: Yard, found: list[dict[str, Any]]) -> dict[str, Any]:
    """All processes of one session against all of ten, in proportional set size.

    First without language servers, then with them, after each session asked for references: a server is shared, and
    is part of what a session uses. Every process counts: daemon, workers, fronts, servers and their guards.
    """
    figures: dict[str, Any] = {}
    until(lambda: len(yard.daemon()["sessions"]) == 1, "sessions stayed")
    first = yard.fronts[0]
    for label, used in (("memory", False), ("memory_served", True)):
        if used and not found:
            break
        count = [_use(first, found, used=used)]
        one, one_daemon = _steady_kib(yard, used=used), _pss_kib(yard.daemon()["pid"])
        others = [yard.start().open() for _ in range(SESSIONS - 1)]
        count += [_use(front, found, used=used) for front in others]
        ten, ten_daemon = _steady_kib(yard, used=used), _pss_kib(yard.daemon()["pid"])
        figures |= {
            f"{label}_one_mib": round(one / 1024, 1),
            f"{label}_ten_mib": round(ten / 1024, 1),
            f"{label}_ratio": round(ten / one, 3),
            f"{label}_daemon_mib": round(one_daemon / 1024, 1),
            f"{label}_daemon_ratio": round(ten_daemon / one_daemon, 3),
            f"{label}_front_mib": round(statistics.median(_pss_kib(front.pid) for front in others) / 1024, 1),
        }
        if used:
            figures["memory_servers"] = [server["name"] for server in yard.daemon()["servers"]]
            figures["memory_answers_of_servers"] = sum(count)
        for front in others:
            front.end()
        until(lambda: len(yard.daemon()["sessions"]) == 1, "sessions stayed")
    return figures


def _use(front: Front, found: list[dict[str, Any]], *, used: bool) -> bool:
    """One call of a session; True when a language server answered it."""
    if not used:
        front.call("locate_symbol", name="main")
        return False
    body = front.call("find_references", **{key: found[0][key] for key in ("path", "line", "column")})
    return body["metadata"]["result_completeness"] == "complete"


def _steady_kib(yard: Yard, *, used: bool) -> int:
    """The sum once it stays: workers leave and servers load for a while after the answer."""
    end = time.monotonic() + SETTLE_S
    before = 0
    while True:
        now = sum(map(_pss_kib, _processes(yard) if used else yard.processes()))
        if abs(now - before) <= STEADY * now or time.monotonic() > end:
            return now
        before = now
        time.sleep(LOOK_AGAIN_S)


def _processes(yard: Yard) -> set[int]:
    """Those that bear the yard's mark and all below them: language servers get a clean environment, without it."""
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = set(yard.processes())
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _pss_kib(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


def _pair(name: str, shared: list[float], alone: list[float]) -> dict[str, float]:
    ours, theirs = statistics.median(shared), statistics.median(alone)
    return {
        f"{name}_shared_s": round(ours, 3),
        f"{name}_alone_s": round(theirs, 3),
        f"{name}_ratio": round(ours / theirs, 3),
    }


if __name__ == "__main__":
    raise SystemExit(main())
