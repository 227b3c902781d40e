"""The navigation commands as a user meets them: real processes, a real language server."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from support.clients import command, environment
from support.navigation_kit import copy_repo

TIMEOUT_S = 60


def run(cwd: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = environment(None, SIGHTLINE_DATA_DIR=str(cwd.parent / "data"))
    return subprocess.run(
        command(*args), env=env, cwd=cwd, capture_output=True, text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = copy_repo("python_two_roots", tmp_path) / "a"
    assert run(root, "index", "-q").returncode == 0
    return root


def test_definitions_uses_and_callers_are_printed_as_places(shop: Path) -> None:
    found = run(shop, "def", "shop/till.py:8:36")
    assert (found.returncode, found.stdout) == (0, "shop/basket.py:14:9 def total_price(self) -> int:\n")
    uses = run(shop, "refs", "pay_basket")
    assert (uses.returncode, uses.stdout) == (0, "shop/till.py:14:12 return pay_basket(gift)\n")
    callers = run(shop, "callers", "pay_basket")
    assert (callers.returncode, callers.stdout) == (0, "shop/till.py:11:5 incoming 1 pay_gift (calls: 14)\n")


def test_paths_are_seen_from_the_current_directory(shop: Path) -> None:
    inner = shop / "shop"
    env = environment(None, SIGHTLINE_DATA_DIR=str(shop.parent / "data"))
    for _ in range(2):
        done = subprocess.run(
            command("diagnostics", "till.py"), env=env, cwd=inner, capture_output=True, text=True, timeout=TIMEOUT_S
        )
        assert done.returncode == 0
        assert done.stdout.startswith("till.py:17:14 error: ")


def test_hover_prints_type_and_documentation_and_json_the_tools_answer(shop: Path) -> None:
    assert "Say what it costs." in run(shop, "hover", "pay_basket").stdout
    body = json.loads(run(shop, "hover", "pay_basket", "--json").stdout)
    assert body["metadata"]["result_completeness"] == "complete"


def test_nothing_found_is_1_and_an_unknown_name_2(shop: Path) -> None:
    assert run(shop, "refs", "pay_gift").returncode == 1
    unknown = run(shop, "def", "pay_baskt")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "pay_basket" in unknown.stderr


def test_a_workspace_that_was_never_indexed_says_what_to_run(tmp_path: Path) -> None:
    root = copy_repo("python_two_roots", tmp_path) / "a"
    asked = run(root, "refs", "pay_basket")
    assert asked.returncode == 2
    assert "sightline index" in asked.stderr
    assert run(root, "def", "shop/till.py:8:36").returncode == 0
