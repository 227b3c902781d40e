"""In an untrusted workspace nothing of it runs: canaries where a server would look for programs."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from sightline_core.config import Config
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.types import Position
from sightline_lsp.faults import LspError
from sightline_lsp.pool import Pool, Root

PROGRAMS = ("python", "python3", "ty", "node", "tsc", "clangd", "clang", "gcc", "cc", "c++", "go", "gopls")
FILES = {"python": "main.py", "typescript": "main.ts", "cpp": "main.cpp", "go": "main.go"}


def make_trap(root: Path) -> Path:
    """A workspace full of programs that would leave a trace."""
    trace = root.parent / "trace"
    body = f"#!/bin/sh\necho $0 >> {trace}\nexit 1\n"
    for folder in (".venv/bin", "node_modules/.bin", "bin", "."):
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name in PROGRAMS:
            (root / folder / name).write_text(body)
            (root / folder / name).chmod(0o755)
    (root / ".venv" / "pyvenv.cfg").write_text(f"home = {root}/.venv/bin\nversion = 3.11.0\n")
    (root / "sitecustomize.py").write_text(f"open({str(trace)!r}, 'a').write('site')\n")
    module = root / "node_modules" / "evil"
    module.mkdir()
    (module / "package.json").write_text('{"name": "evil", "main": "index.js"}')
    (module / "index.js").write_text(f"require('fs').appendFileSync({str(trace)!r}, 'plugin')\n")
    (root / "tsconfig.json").write_text(json.dumps({"compilerOptions": {"plugins": [{"name": "evil"}]}}))
    _plant_compiler(root, trace)
    command = f"{root}/bin/clang -fplugin={root}/x.so main.cpp"
    compiler = {"directory": str(root), "file": "main.cpp", "command": command}
    (root / "compile_commands.json").write_text(json.dumps([compiler]))
    for name in FILES.values():
        (root / name).write_text("x\n")
    return trace


def _plant_compiler(root: Path, trace: Path) -> None:
    """A TypeScript of the workspace's own, which a server may prefer to the installed one."""
    library = root / "node_modules" / "typescript" / "lib"
    library.mkdir(parents=True)
    (library.parent / "package.json").write_text(
        '{"name": "typescript", "version": "5.9.0", "main": "lib/typescript.js"}'
    )
    for name in ("tsserver.js", "typescript.js", "tsserverlibrary.js", "tsc.js"):
        (library / name).write_text(f"require('fs').appendFileSync({str(trace)!r}, 'compiler')\n")


async def provoke(
    root: Path, languages: tuple[str, ...], *, trusted: bool = False, config: Config | None = None
) -> list[str]:
    """Ask everything in a workspace; the statuses of the sources."""
    path = os.environ["PATH"]
    environment = {**os.environ, "PATH": f"{root}/bin:{root}/node_modules/.bin:.:{path}"}
    async with Pool(config or Config(), Limits(lsp_late_answer_s=20), environment=environment) as pool:
        real = RepoRoot(str(root))
        await pool.set_roots([Root(real.path, trusted, frozenset(languages))])
        for language in languages:
            file = real.known(FILES[language])
            with anyio.move_on_after(20), suppress(LspError):
                if pool.sources(real.path, [language])[0].status not in ("untrusted", "not_installed"):
                    await pool.hover(real.path, file, Position(1, 1), 20)
                    await pool.diagnostics(real.path, file, 20)
        found = await pool.workspace_symbols(real.path, "x", languages, 20)
        return [f"{source.server}:{source.status}" for source in found.sources]


async def test_no_canary_sings_for_servers_of_the_package_index(tmp_path: Path) -> None:
    trace = make_trap(tmp_path / "root")
    statuses = await provoke(tmp_path / "root", ("python", "cpp"))
    assert not trace.exists(), trace.read_text()
    assert statuses == ["ty:ok", "clangd:ok"]


@pytest.mark.servers
async def test_no_canary_sings_for_servers_of_npm_and_go(tmp_path: Path) -> None:
    trace = make_trap(tmp_path / "root")
    statuses = await provoke(tmp_path / "root", ("typescript", "go"))
    assert not trace.exists(), trace.read_text()
    assert statuses == ["typescript:ok", "gopls:untrusted"]


async def check_that_the_canary_can_sing(folder: Path, server: str, language: str) -> None:
    """The same trap, trusted: without this the silence above would prove nothing."""
    trace = make_trap(folder / "root")
    config = Config(language_servers={language: (server,)})
    await provoke(folder / "root", (language,), trusted=True, config=config)
    assert trace.exists()
    trace.unlink()
    statuses = await provoke(folder / "root", (language,), trusted=False, config=config)
    assert statuses == [f"{server}:untrusted"]
    assert not trace.exists()


async def test_basedpyright_runs_the_interpreter_of_a_trusted_workspace_only(tmp_path: Path) -> None:
    await check_that_the_canary_can_sing(tmp_path, "basedpyright", "python")


@pytest.mark.servers
async def test_typescript_language_server_loads_the_compiler_of_a_trusted_workspace_only(tmp_path: Path) -> None:
    await check_that_the_canary_can_sing(tmp_path, "typescript-language-server", "typescript")
