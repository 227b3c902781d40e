"""Commands that work alone answer from what is on disk now, or say that they do not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from sightline_indexer.locks import WriteLock
from support.clients import command, environment

TIMEOUT_S = 60


def run(workspace: Path, *args: str, **extra: str) -> subprocess.CompletedProcess[str]:
    env = environment(None, **({"SIGHTLINE_DATA_DIR": str(workspace.parent / "data")} | extra))
    return subprocess.run(
        command(*args),
        env=env,
        cwd=workspace,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
    )


def jobs(workspace: Path) -> list[str]:
    return [job["status"] for job in json.loads(run(workspace, "status", "--json").stdout)["recent_jobs"]]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "till.py").write_text("def pay():\n    return 1\n", "utf-8")
    return folder


@pytest.mark.parametrize(
    "args", [["search", "refund"], ["locate", "refund"], ["outline", "refunds.py"], ["def", "refund"]]
)
def test_what_was_saved_since_the_last_command_is_found(workspace: Path, args: list[str]) -> None:
    assert run(workspace, "index", "-q").returncode == 0
    (workspace / "refunds.py").write_text("def refund():\n    return 2\n", "utf-8")
    found = run(workspace, *args)
    assert (found.returncode, found.stderr) == (0, "")
    assert "def refund" in found.stdout
    assert set(jobs(workspace)) == {"published"}


@pytest.mark.parametrize("args", [["search", "pay"], ["locate", "pay"], ["outline", "till.py"], ["def", "pay"]])
def test_a_workspace_without_an_index_gives_the_command_to_run_and_starts_nothing(
    workspace: Path, args: list[str]
) -> None:
    asked = run(workspace, *args)
    assert (asked.returncode, asked.stdout) == (2, "")
    assert "`sightline index`" in asked.stderr
    assert asked.stderr.count("\n") == 1
    assert jobs(workspace) == []


def indexed_root(folder: Path, **extra: str) -> Path:
    assert run(folder, "index", "-q", **extra).returncode == 0
    return Path(json.loads(run(folder, "status", "--json", **extra).stdout)["repo_root"])


def test_a_question_in_a_folder_above_claims_nothing_below(workspace: Path, tmp_path: Path) -> None:
    data = {"SIGHTLINE_DATA_DIR": str(tmp_path / "data")}
    assert run(tmp_path, "search", "pay", **data).returncode == 2
    assert run(tmp_path, "status", **data).returncode == 1
    assert indexed_root(workspace, **data) == workspace


def test_the_home_directory_is_indexed_only_by_name(workspace: Path, tmp_path: Path) -> None:
    data = {"SIGHTLINE_DATA_DIR": str(tmp_path.parent / f"{tmp_path.name}-data"), "HOME": str(tmp_path)}
    (tmp_path / ".git").mkdir()
    assert indexed_root(workspace, **data) == workspace, "dotfiles in git must not make everything one workspace"
    assert run(tmp_path, "index", "-q", **data).returncode == 2
    assert run(tmp_path, "index", "-q", str(tmp_path), **data).returncode == 0


def test_an_index_that_cannot_catch_up_answers_and_says_so(workspace: Path) -> None:
    assert run(workspace, "index", "-q").returncode == 0
    (folder,) = (workspace.parent / "data" / "projects").iterdir()
    (workspace.parent / "config.toml").write_text("[limits]\ncommand_sync_wait_s = 0.01\n", "utf-8")
    lock = WriteLock(str(folder))
    assert lock.try_acquire()
    try:
        found = run(workspace, "locate", "pay", "--config", "../config.toml")
        body = json.loads(run(workspace, "locate", "pay", "--config", "../config.toml", "--json").stdout)
    finally:
        lock.release()
    assert found.returncode == 0
    assert "sightline sync" in found.stderr
    assert body["metadata"]["freshness_status"] == "syncing"
