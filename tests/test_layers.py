"""Who may import whom: the contracts hold, and they would notice a breach."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("core", "indexer", "search", "lsp", "server")
TIMEOUT_S = 60


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """import-linter over the packages of `folder`, whatever is installed."""
    script = (
        "import sys; sys.path[:0] = [f'{sys.argv[1]}/{name}' for name in sys.argv[2:]]; "
        "from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(f'{sys.argv[1]}/pyproject.toml', no_cache=True))"
    )
    return subprocess.run(
        [sys.executable, "-c", script, str(folder), *PACKAGES],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )


def test_the_contracts_are_kept() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("core/sightline_core/errors.py", "import sightline_server.app"),
        ("core/sightline_core/errors.py", "import anyio"),
        ("indexer/sightline_indexer/__init__.py", "import sightline_lsp"),
        ("lsp/sightline_lsp/__init__.py", "import sightline_indexer"),
        ("search/sightline_search/__init__.py", "import mcp"),
        ("server/sightline_server/health.py", "import tantivy"),
        ("server/sightline_server/health.py", "import tree_sitter"),
        ("server/sightline_server/health.py", "import lsprotocol"),
    ],
)
def test_a_breach_is_noticed(tmp_path: Path, module: str, line: str) -> None:
    for name in PACKAGES:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with open(tmp_path / module, "a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout
