"""Builds the wheel, installs it into a clean environment, and serves from a directory that wants to be imported.

Run by `make wheel-smoke`. The directory holds packages named like ours and like our dependencies; importing any of
them leaves a mark and fails. The console script must never touch them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
BUILD_TIMEOUT_S = 300
RUN_TIMEOUT_S = 60
PACKAGES = ("server", "search", "mcp", "core", "indexer", "lsp", "pydantic", "sightline_core", "sightline_server")
MODULES = (
    "anyio",
    "sitecustomize",
    "usercustomize",
    "json",
    "typing",
    "uvicorn",
    "mcp_types",
    "tantivy",
    "tree_sitter",
)
MESSAGES = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "wheel-smoke", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
    {"id": 3, "method": "tools/call", "params": {"name": "health_check", "arguments": {}}},
)


def main() -> None:
    """Fails with an exception at the first thing that is not as it should be."""
    with tempfile.TemporaryDirectory(prefix="sightline-wheel-") as name:
        folder = Path(name).resolve()
        wheel = build_wheel(folder / "dist")
        print(f"built {wheel.name}")
        program = install(wheel, folder / "venv")
        hostile, canary = folder / "hostile", folder / "canary"
        make_hostile(hostile, canary)
        check_trap(hostile, canary)
        print("the trap works: python -c imports from its directory")
        check_program(program, hostile, folder / "data")
        check_session(program, hostile, folder / "data")
        assert not canary.exists(), f"imported from the workspace: {canary.read_text('utf-8')}"
        print("nothing of the workspace was imported")


def build_wheel(target: Path) -> Path:
    run([sys.executable, "-m", "build", "--wheel", "--outdir", str(target), str(ROOT)], timeout=BUILD_TIMEOUT_S)
    (wheel,) = target.glob("sightline-*.whl")
    return wheel


def install(wheel: Path, target: Path) -> Path:
    venv.create(target, with_pip=True, symlinks=True)
    pip = [str(target / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, "-c", str(ROOT / "constraints.txt"), str(wheel)], timeout=BUILD_TIMEOUT_S)
    return target / "bin" / "sightline"


def make_hostile(folder: Path, canary: Path) -> None:
    trap = f"open({str(canary)!r}, 'a').write(__name__ + '\\n')\nraise SystemExit('imported ' + __name__)\n"
    for name in PACKAGES:
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(trap, "utf-8")
    for name in MODULES:
        (folder / f"{name}.py").write_text(trap, "utf-8")


def check_trap(folder: Path, canary: Path) -> None:
    """A trap that never closes would prove nothing."""
    subprocess.run([sys.executable, "-c", "import server"], cwd=folder, capture_output=True, timeout=RUN_TIMEOUT_S)
    assert canary.exists()
    canary.unlink()


def check_program(program: Path, folder: Path, data: Path) -> None:
    assert run([str(program), "--version"], cwd=folder, data=data).startswith("sightline ")
    assert "serve-mcp" in run([str(program), "--help"], cwd=folder, data=data)
    assert "port" in json.loads(run([str(program), "config", "--json"], cwd=folder, data=data))
    print("--version, --help and config answer")


def check_session(program: Path, folder: Path, data: Path) -> None:
    """initialize, tools/list and health_check over pipes, with the directory as start directory and workspace."""
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in MESSAGES)
    output = run([str(program), "serve-mcp"], cwd=folder, data=data, stdin=lines)
    replies: dict[int, Any] = {reply["id"]: reply["result"] for reply in map(json.loads, output.splitlines())}
    tools = [tool["name"] for tool in replies[2]["tools"]]
    assert "health_check" in tools, tools
    body = replies[3]["structuredContent"]
    assert not replies[3].get("isError"), body
    assert body["metadata"]["workspace"] == str(folder), body
    print(f"stdio session: {len(tools)} tools listed, health_check answered for the workspace")


def run(
    command: list[str],
    *,
    cwd: Path | None = None,
    data: Path | None = None,
    stdin: str = "",
    timeout: float = RUN_TIMEOUT_S,
) -> str:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SIGHTLINE_"))}
    if data is not None:
        env |= {"SIGHTLINE_DATA_DIR": str(data), "XDG_CONFIG_HOME": str(data / "config"), "SIGHTLINE_DAEMON": "no"}
    done = subprocess.run(command, cwd=cwd, env=env, input=stdin, capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
