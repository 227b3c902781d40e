"""Sightline beside ripgrep, universal-ctags, csearch and zoekt on one tree: `compare.py TREE`, or `make bench`.

Writes bench/RESULTS.md and its plots. Tools that are not installed are left out and named. Times are medians; the
queries of all tools take turns, so that a busy machine is busy for everyone. Read the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from plots import bars  # pyright: ignore[reportMissingImports]

HERE = Path(__file__).parent
SEED = 20240229
DEADLINE_S = 3600
SIGHTLINE = [sys.executable, "-m", "sightline_server"]
RG = shutil.which("rg", path=os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""))


@dataclass(frozen=True)
class Row:
    """What one tool took for one task."""

    task: str
    tool: str
    seconds: float
    note: str = ""


@dataclass
class Bench:
    """One run over one tree, with a scratch folder."""

    tree: str
    scratch: str
    queries: int
    rows: list[Row] = field(default_factory=list)

    def timed(self, command: list[str], **extra: str) -> float:
        """Seconds of one process; a tool that found nothing also ends with 1."""
        env = {**os.environ, **extra}
        begun = time.perf_counter()
        done = subprocess.run(command, cwd=self.tree, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        seconds = time.perf_counter() - begun
        if done.returncode not in (0, 1):
            raise SystemExit(f"{command[0]} failed: {done.stderr.decode()[-300:]}")
        return seconds

    def path(self, name: str) -> str:
        return os.path.join(self.scratch, name)


def main() -> None:
    """Measure, print and write."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("tree", nargs="?", default=str(HERE.parent))
    arguments.add_argument("--queries", type=int, default=40)
    arguments.add_argument("--no-write", action="store_true", help="print only")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(os.path.realpath(given.tree), scratch, given.queries)
        build_indexes(bench)
        names = sample_names(bench)
        with served(bench) as ask:
            ask_in_turns(bench, names, ask)
        page = report(bench)
    print(page)
    if not given.no_write:
        (HERE / "RESULTS.md").write_text(page, "utf-8")
        for task, name in PLOTS.items():
            rows = [(row.tool, row.seconds) for row in bench.rows if row.task == task]
            (HERE / f"{name}.svg").write_text(bars(task, rows), "utf-8")


BUILD, UPDATE = "build the index", "update it when nothing changed"
LITERAL, SYMBOL = "find a name as text", "find where a name is defined"
PLOTS = {BUILD: "build", LITERAL: "literal", SYMBOL: "symbol"}


def build_indexes(bench: Bench) -> None:
    """The cold build of every index, its size, and a second pass over an unchanged tree."""
    builders: list[tuple[str, str, list[str], dict[str, str], bool]] = [
        (
            "Sightline",
            "data",
            [*SIGHTLINE, "index", "-q", bench.tree],
            {"SIGHTLINE_DATA_DIR": bench.path("data")},
            True,
        )
    ]
    if shutil.which("ctags"):
        # The languages whose symbols both read, without what is not code.
        command = ["ctags", "-R", "--links=no", "--exclude=.venv", "--exclude=.cache", "-f", bench.path("tags"), "."]
        builders.append(("universal-ctags", "tags", command, {}, False))
    if shutil.which("cindex"):
        builders.append(("csearch", "csearch", ["cindex", bench.tree], {"CSEARCHINDEX": bench.path("csearch")}, True))
    if shutil.which("zoekt-index"):
        command = ["zoekt-index", "-index", bench.path("zoekt"), bench.tree]
        builders.append(("zoekt", "zoekt", command, {}, True))
    for tool, file, command, extra, updates in builders:
        seconds = bench.timed(command, **extra)
        bench.rows.append(Row(BUILD, tool, seconds, f"{size_of(bench.path(file)) / 2**20:.1f} MB on disk"))
        if updates:
            bench.rows.append(Row(UPDATE, tool, bench.timed(command, **extra)))


def size_of(path: str) -> int:
    """Bytes of a file or a folder."""
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(path) for name in names)


def sample_names(bench: Bench) -> list[str]:
    """Names of definitions of the tree, drawn with a fixed seed."""
    assert RG is not None, "ripgrep is needed: make .venv/.dev"
    pattern = r"^\s*(?:async def|def|class|func|fn|type|interface|function|struct|enum)\s+(?:\([^)]*\)\s*)?(\w{4,})"
    found = subprocess.run(
        [RG, "-INo", "-r", "$1", pattern], cwd=bench.tree, capture_output=True, text=True
    ).stdout.split()
    names = sorted(set(found))
    return random.Random(SEED).sample(names, min(bench.queries, len(names)))


Ask = Callable[[str, dict[str, object]], dict[str, object]]


@contextlib.contextmanager
def served(bench: Bench) -> Iterator[Ask]:
    """A running server over the index that was built, asked over loopback HTTP as agents do."""
    env = {**os.environ, "SIGHTLINE_DATA_DIR": bench.path("data")}
    command = [*SIGHTLINE, "serve-mcp", "--transport", "http", "--port", "0", "--workspace", bench.tree]
    process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        address = next(match[1] for line in process.stderr if (match := re.search(r"http://(\S+)/mcp", line)))
        connection = http.client.HTTPConnection(address, timeout=60)

        def ask(tool: str, arguments: dict[str, object]) -> dict[str, object]:
            params = {"name": tool, "arguments": arguments}
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
            connection.request("POST", "/mcp", body, {"Content-Type": "application/json"})
            return json.loads(connection.getresponse().read())["result"]["structuredContent"]

        end = time.monotonic() + DEADLINE_S
        while ask("index_status", {}).get("active_job") is not None and time.monotonic() < end:
            time.sleep(0.1)
        yield ask
    finally:
        process.terminate()
        process.wait(30)


def ask_in_turns(bench: Bench, names: list[str], ask: Ask) -> None:
    """Every name to every tool, one tool after the other."""
    assert RG is not None
    data = {"SIGHTLINE_DATA_DIR": bench.path("data")}
    literal: dict[str, Callable[[str], float]] = {
        "ripgrep": lambda name: bench.timed([RG, "-nF", name]),
        "Sightline": lambda name: asked(ask, "search_code", {"query": name, "mode": "literal", "limit": 100}),
        "Sightline, new process": lambda name: bench.timed([*SIGHTLINE, "search", "-F", name], **data),
    }
    symbol: dict[str, Callable[[str], float]] = {
        "ripgrep with a pattern": lambda name: bench.timed(
            [RG, "-n", rf"\b(def|class|func|fn|type|function)\b.*\b{name}\b"]
        ),
        "Sightline": lambda name: asked(ask, "locate_symbol", {"name": name, "enrich": False}),
        "Sightline, new process": lambda name: bench.timed([*SIGHTLINE, "locate", name], **data),
    }
    if shutil.which("csearch"):
        index = {"CSEARCHINDEX": bench.path("csearch")}
        literal["csearch"] = lambda name: bench.timed(["csearch", "-n", name], **index)
    if shutil.which("zoekt"):
        literal["zoekt"] = lambda name: bench.timed(["zoekt", "-index_dir", bench.path("zoekt"), name])
    if shutil.which("readtags") and os.path.exists(bench.path("tags")):
        symbol["ctags, readtags"] = lambda name: bench.timed(["readtags", "-t", bench.path("tags"), "-", name])
    for task, tools in ((LITERAL, literal), (SYMBOL, symbol)):
        taken: dict[str, list[float]] = {tool: [] for tool in tools}
        for at, name in enumerate(names):
            for tool, run in tools.items():
                # A new interpreter each time is slow and steady; a quarter of the queries tells enough.
                if "new process" not in tool or at % 4 == 0:
                    taken[tool].append(run(name))
        for tool, times in taken.items():
            p95 = sorted(times)[int(len(times) * 0.95)]
            bench.rows.append(Row(task, tool, statistics.median(times), f"p95 {shown(p95)}"))


def asked(ask: Ask, tool: str, arguments: dict[str, object]) -> float:
    begun = time.perf_counter()
    answer = ask(tool, arguments)
    seconds = time.perf_counter() - begun
    assert "error" not in answer, answer
    return seconds


def shown(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


def report(bench: Bench) -> str:
    """The page: machine, table, plots, how to read it."""
    lines = [
        "# Results of the last run",
        "",
        "Written by `make bench` (`TREE=…` for another tree).",
        "",
        f"- Tree: {tree_line(bench.tree)}.",
        f"- Machine: {machine_line()}.",
        f"- Tools: {'; '.join(versions())}.",
        f"- Not installed, so not measured: {', '.join(missing()) or 'none'}.",
        "",
        "| task | tool | time | ratio | |",
        "|---|---|---|---|---|",
    ]
    for task in (BUILD, UPDATE, LITERAL, SYMBOL):
        rows = [row for row in bench.rows if row.task == task]
        base = next((row for row in rows if row.tool.startswith("ripgrep")), rows[0])
        lines += [
            f"| {task} | {row.tool} | {shown(row.seconds)} | ×{row.seconds / base.seconds:.2f} | {row.note} |"
            for row in sorted(rows, key=lambda row: row.seconds)
        ]
    lines += [
        "",
        "The ratio of searches is to ripgrep in the same run, that of indexes to Sightline; below 1 is faster. "
        "Sightline is asked over loopback HTTP, as an agent does, and its answer is ranked JSON with symbols and "
        "completeness; the others are started anew and print lines, which is how they are used. `new process` is "
        "`sightline search` from a shell, most of which is Python importing. ctags reads symbols only and csearch "
        "text only; Sightline's index holds both.",
        "",
        *(f"![{task}]({name}.svg)\n" for task, name in PLOTS.items()),
    ]
    return "\n".join(lines).rstrip() + "\n"


def tree_line(tree: str) -> str:
    assert RG is not None
    files = subprocess.run([RG, "--files"], cwd=tree, capture_output=True, text=True).stdout.splitlines()
    size = sum(
        os.path.getsize(os.path.join(tree, file)) for file in files if os.path.isfile(os.path.join(tree, file))
    )
    name = "this repository" if tree == os.path.realpath(HERE.parent) else os.path.basename(tree)
    return f"{name}, {len(files):,} files, {size / 2**20:.1f} MB"


def machine_line() -> str:
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text("utf-8"))
        model = found[1] if found else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{model}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, Python {platform.python_version()}"
    )


def versions() -> list[str]:
    assert RG is not None
    found: list[str] = []
    for command in ([*SIGHTLINE, "--version"], [RG, "--version"], ["ctags", "--version"]):
        if shutil.which(command[0]):
            said = subprocess.run(command, capture_output=True, text=True).stdout
            found.append(said.splitlines()[0].split(",")[0])
    return found + [name for name in ("csearch", "zoekt") if shutil.which(name)]


def missing() -> list[str]:
    wanted = {"universal-ctags": "ctags", "readtags": "readtags", "csearch": "csearch", "zoekt": "zoekt"}
    return [name for name, program in wanted.items() if not shutil.which(program)]


if __name__ == "__main__":
    main()
