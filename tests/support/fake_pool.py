"""A pool whose servers are the fake one, each with a script of its own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sightline_core.config import Config
from sightline_core.limits import Limits
from sightline_core.paths import RepoPath, RepoRoot
from sightline_lsp.pool import Pool, Root

FAKE = str(Path(__file__).parent / "fake_ls" / "server.py")
EXTENSIONS = {"python": "py", "go": "go", "ruby": "rb", "lua": "lua"}

# Short enough for a suite of hundreds of faults, long enough for a busy machine.
QUICK = replace(
    Limits(),
    lsp_settle_ms=0,
    lsp_shutdown_timeout_s=0.3,
    lsp_stall_ms=150,
    lsp_backoff_first_s=0.02,
    lsp_backoff_max_s=0.1,
    lsp_diagnostics_quiet_ms=50,
    lsp_diagnostics_activity_s=0.3,
    lsp_max_message_bytes=2_000_000,
    lsp_initialize_timeout_s=10.0,
    lsp_write_timeout_s=1.0,
    lsp_watch_debounce_ms=20,
)


def table(folder: Path, script: Mapping[str, Any], language: str, **fields: Any) -> dict[str, Any]:
    """A `[server.…]` table that runs the fake server; its script is kept in `folder`."""
    file = folder / f"{language}.script.json"
    file.write_text(json.dumps(script), "utf-8")
    command = [sys.executable, "-I", "-S", FAKE, str(file)]
    return {"command": command, "languages": [language], "runs_workspace_code": False} | fields


def make_root(path: Path, text: str = "def alpha(): pass\nalpha()\n") -> str:
    """A directory with one small file a language."""
    path.mkdir(parents=True, exist_ok=True)
    for extension in EXTENSIONS.values():
        (path / f"main.{extension}").write_text(text, "utf-8")
    return os.path.realpath(path)


@dataclass(frozen=True, slots=True)
class Fake:
    """A pool with its root, and the path of the file a language has there."""

    pool: Pool
    root: str

    def file(self, language: str = "python") -> RepoPath:
        return RepoRoot(self.root).known(f"main.{EXTENSIONS[language]}")


@asynccontextmanager
async def fake_pool(
    path: Path,
    limits: Limits = QUICK,
    *,
    trusted: bool = True,
    fields: Mapping[str, Any] | None = None,
    **scripts: Any,
) -> AsyncGenerator[Fake]:
    """A pool with one fake server per keyword, named after its language."""
    tables = {f"fake-{name}": table(path, script, name, **(fields or {})) for name, script in scripts.items()}
    config = Config(server_tables=tables, language_servers={name: (f"fake-{name}",) for name in scripts})
    root = make_root(path / "root")
    async with Pool(config, limits) as pool:
        await pool.set_roots([Root(root, trusted, frozenset(scripts))])
        yield Fake(pool, root)


def journal(path: Path) -> list[dict[str, Any]]:
    """What a fake server with a journal received so far; a line that is being written is not there yet."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
