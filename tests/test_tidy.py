"""House rules that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("core", "indexer", "search", "lsp", "server")
MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 60
FORBIDDEN_NAMES = {"utils.py", "helpers.py", "manager.py", "misc.py", "common.py"}


def tracked(*patterns: str) -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [ROOT / line for line in listing.splitlines() if (ROOT / line).is_file()]


def python_files() -> list[Path]:
    return [path for path in tracked("*.py") if "fixtures" not in path.relative_to(ROOT).parts]


def product_files() -> list[Path]:
    return [path for path in python_files() if path.relative_to(ROOT).parts[0] in PACKAGES]


@pytest.mark.parametrize("path", python_files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_module_and_its_functions_stay_small(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= MAX_MODULE_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            assert size <= MAX_FUNCTION_LINES, f"{node.name} has {size} lines"


@pytest.mark.parametrize("path", product_files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")))
    assert path.name not in FORBIDDEN_NAMES


@pytest.mark.parametrize("path", product_files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_product_code_swallows_and_prints_nothing(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ExceptHandler) and (
            node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "BaseException")
        ):
            raises = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
            assert raises, f"line {node.lineno}: a bare except must raise again"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"line {node.lineno}: print"


def test_tests_wait_on_events_and_never_sleep() -> None:
    sleeping = re.compile(r"\b(time|anyio|asyncio)\.sleep\((?!0\))")
    for path in tracked("tests/*.py"):
        if path.name == "test_tidy.py" or "support" in path.parts:
            continue
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            assert not sleeping.search(line) or "sleep_forever" in line, f"{path}:{number}"


def test_no_tracked_file_names_this_machine_or_a_registry() -> None:
    forbidden = re.compile(
        r"/root/|/work/main|https?://(registry\.npmjs|pypi\.org|files\.pythonhosted|proxy\.golang)"
    )
    for path in tracked():
        if path.suffix in {".png", ".svg"} or path.name == "test_tidy.py":
            continue
        text = path.read_text("utf-8", errors="replace")
        found = forbidden.search(text)
        assert found is None, f"{path}: {found}"


def test_every_limit_is_read_by_the_product() -> None:
    defined = ROOT / "core" / "sightline_core" / "limits.py"
    used = "\n".join(path.read_text("utf-8") for path in product_files() if path != defined)
    names = re.findall(r"^    (\w+): (?:int|float) = ", defined.read_text("utf-8"), re.MULTILINE)
    assert names
    assert [name for name in names if not re.search(rf"\b{name}\b", used)] == []
