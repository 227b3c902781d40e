"""What the daemon saves, as ratios to serving in process in the same run.

python bench/daemon_bench.py [WORKSPACE]
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from sightline_core.config import Config  # noqa: E402
from support.daemon_kit import Front, Yard, until, yard_of  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "7"))
CALLS = 300
SESSIONS = 10


def main() -> None:
    """Interleaved rounds, so that a noisy machine is noisy to both."""
    workspace = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else ROOT / "server")
    with tempfile.TemporaryDirectory() as folder:
        config = Config(data_dir=f"{folder}/data", workspace=(workspace,))
        with yard_of(config, Path(folder)) as yard:
            first = yard.start().open()
            first.call("sync_repo", wait=True)
            name = first.call("search_code", query="kind:function", limit=1)["results"]
            figures = {
                **starts(yard),
                **locates(yard, name[0]["name"] if name else "main"),
                **latency(yard, first),
                **recovery(yard, first),
                **memory(yard),
            }
    print(json.dumps(figures, indent=1))


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


def locates(yard: Yard, name: str) -> dict[str, float]:
    """`sightline locate NAME` end to end."""
    shared, alone = [], []
    for _ in range(ROUNDS):
        for daemon, times in (("yes", shared), ("no", alone)):
            begun = time.perf_counter()
            subprocess.run(
                yard.command("locate", name),
                env={**yard.environment, "SIGHTLINE_DAEMON": daemon},
                cwd=yard.config.workspace[0],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            times.append(time.perf_counter() - begun)
    return _pair("locate", shared, alone)


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


def memory(yard: Yard) -> dict[str, float]:
    """All processes of one session against all of ten, in proportional set size."""
    until(lambda: len(yard.daemon()["sessions"]) == 1, "sessions stayed")
    yard.fronts[0].call("locate_symbol", name="main")
    one = sum(map(_pss_kib, yard.processes()))
    one_daemon = _pss_kib(yard.daemon()["pid"])
    for _ in range(SESSIONS - 1):
        yard.start().open().call("locate_symbol", name="main")
    ten = sum(map(_pss_kib, yard.processes()))
    front = statistics.median(_pss_kib(front.pid) for front in yard.fronts[-SESSIONS + 1 :])
    return {
        "memory_one_mib": round(one / 1024, 1),
        "memory_ten_mib": round(ten / 1024, 1),
        "memory_front_mib": round(front / 1024, 1),
        "memory_ratio": round(ten / one, 3),
        "memory_ratio_of_daemon": round(_pss_kib(yard.daemon()["pid"]) / one_daemon, 3),
    }


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
    main()
