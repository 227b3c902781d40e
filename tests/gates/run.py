"""Third-party MCP clients against this server: `make gates`.

Each gate installs what it needs by package name into .cache/gates, reaches the server over loopback only and is
bounded by a timeout. The table at the end says pass, fail or unavailable; any failure makes the exit code 1.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from conformance import conformance
from gate_kit import CACHE, Bench, UnavailableError, install, need_node, new_bench, open_bench


def inspector(bench: Bench) -> str:
    """The inspector checks our schemas strictly and calls a tool, over both transports."""
    need_node()
    program = ["mcp-inspector", "--cli"]
    for target in (bench.stdio, [bench.url, "--transport", "http"]):
        listed = json.loads(bench.run([*program, *target, "--strict", "--method", "tools/list"]))
        assert "health_check" in [tool["name"] for tool in listed["tools"]]
        called = json.loads(bench.run([*program, *target, "--method", "tools/call", "--tool-name", "health_check"]))
        assert called["structuredContent"]["metadata"]["workspace"] == str(bench.workspace)
    return "strict tools/list, and tools/call, over stdio and HTTP"


def mcp_1(bench: Bench) -> str:
    """The 1.x client library initializes, lists and calls over both transports."""
    python = CACHE / "mcp1" / "bin" / "python"
    if not python.exists():
        install([sys.executable, "-m", "venv", str(CACHE / "mcp1")])
        install([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "mcp==1.30.*"])
    script = str(Path(__file__).parent / "mcp1_client.py")
    return bench.run([str(python), script, bench.url, str(bench.workspace), *bench.stdio]).strip()


def codex(bench: Bench) -> str:
    """Codex indexes a workspace, polls, searches and navigates; with the server in process, then behind a daemon."""
    need_node()
    own = new_bench(bench.folder / "codex")
    package = own.workspace / "shop"
    package.mkdir()
    (own.workspace / "greeting.py").rename(package / "greeting.py")
    (package / "main.py").write_text(
        "from shop.greeting import greet\n\n\ndef welcome():\n    return greet()\n", "utf-8"
    )
    client = [sys.executable, str(Path(__file__).parent / "codex_client.py"), str(own.workspace), *own.front]
    told = own.run(client).strip()
    apart = {
        "SIGHTLINE_DAEMON": "yes",
        "SIGHTLINE_DATA_DIR": str(own.folder / "daemon-data"),
        "SIGHTLINE_RUNTIME_DIR": str(own.folder / "run"),
    }
    try:
        own.run(client, **apart)
    finally:
        stopped = json.loads(own.run([own.front[0], "daemon", "stop", "--json"], **apart))["stopped"]
    assert len(stopped) == 1, stopped
    return f"{told}, in process and through a daemon"


def claude(bench: Bench) -> str:
    """Claude Code connects over both transports; without a model it calls nothing."""
    need_node()
    bench.run(["claude", "mcp", "add", "sightline-stdio", "--", *bench.stdio])
    bench.run(["claude", "mcp", "add", "--transport", "http", "sightline-http", bench.url])
    lines = [line for line in bench.run(["claude", "mcp", "list"]).splitlines() if line.startswith("sightline-")]
    assert len(lines) == 2, lines
    assert all("Connected" in line for line in lines), lines
    return "connected over stdio and HTTP (lists no tools without a model)"


def gemini(bench: Bench) -> str:
    """Gemini CLI connects over both transports, in a home of the gate's own that trusts the gate's workspace."""
    need_node()
    folder = Path(bench.environment["HOME"]) / ".gemini"
    folder.mkdir(exist_ok=True)
    (folder / "trustedFolders.json").write_text(json.dumps({str(bench.workspace): "TRUST_FOLDER"}), "utf-8")
    bench.run(["gemini", "mcp", "add", "sightline-stdio", *bench.stdio])
    bench.run(["gemini", "mcp", "add", "--transport", "http", "sightline-http", bench.url])
    # It writes the list to stderr.
    listing = bench.run(["sh", "-c", "gemini mcp list 2>&1"])
    lines = [line for line in listing.splitlines() if "sightline-" in line]
    assert len(lines) == 2, lines
    assert all("Connected" in line for line in lines), lines
    return "connected over stdio and HTTP (lists no tools without a model)"


GATES: dict[str, Callable[[Bench], str]] = {
    "inspector --strict": inspector,
    "conformance": conformance,
    "mcp 1.30 client": mcp_1,
    "codex app-server": codex,
    "claude mcp list": claude,
    "gemini mcp list": gemini,
}


def main(names: list[str]) -> int:
    """Run the gates whose names contain one of `names`, or all."""
    rows: list[tuple[str, str, str]] = []
    with open_bench() as bench:
        for name, gate in GATES.items():
            if names and not any(part in name for part in names):
                continue
            start = time.monotonic()
            try:
                verdict, detail = "pass", gate(bench)
            except UnavailableError as error:
                verdict, detail = "unavailable", str(error)
            except Exception as error:
                traceback.print_exc()
                verdict, detail = "fail", str(error).splitlines()[0] if str(error) else type(error).__name__
            rows.append((name, verdict, detail))
            print(f"{name}: {verdict} after {time.monotonic() - start:.0f} s", flush=True)
    print()
    for name, verdict, detail in rows:
        print(f"{name:<20} {verdict:<12} {detail}")
    return 1 if any(verdict == "fail" for _, verdict, _ in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
