"""The ref of a work tree is read without running git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sightline_indexer.repo_ref import RefReader, read_ref

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRONMENT).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "feature/näme")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "x")
    return tmp_path


def test_branch_is_named_also_from_below_and_before_the_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "feature/näme")
    (tmp_path / "a/b").mkdir(parents=True)
    assert read_ref(str(tmp_path)) == "feature/näme"
    assert read_ref(str(tmp_path / "a/b")) == "feature/näme"


def test_detached_head_is_a_short_commit(repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach")
    assert read_ref(str(repository)) == git(repository, "rev-parse", "--short=7", "HEAD")


def test_linked_work_tree_has_its_own_branch(repository: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "other", "linked")
    assert read_ref(str(repository / "linked")) == "other"
    assert read_ref(str(repository)) == "feature/näme"


def test_a_reader_follows_every_change_of_the_branch(repository: Path) -> None:
    (repository / "a").mkdir()
    reader = RefReader(str(repository / "a"))
    assert reader.read() == "feature/näme" == reader.read()
    git(repository, "checkout", "-q", "-b", "next")
    assert reader.read() == "next"
    git(repository, "checkout", "-q", "--detach")
    assert reader.read() == git(repository, "rev-parse", "--short=7", "HEAD")
    git(repository / "a", "init", "-q", "-b", "nearer")
    assert reader.read() == "nearer"


def test_a_reader_notices_a_git_directory_that_comes_and_goes(tmp_path: Path) -> None:
    reader = RefReader(str(tmp_path))
    assert reader.read() == "live" == reader.read()
    (tmp_path / ".git").mkdir()
    assert reader.read() == "live"
    # The directory stays the same one while it becomes git's.
    git(tmp_path, "init", "-q", "-b", "made")
    assert reader.read() == "made"
    (tmp_path / ".git").rename(tmp_path / "elsewhere")
    assert reader.read() == "live"


def test_a_reader_follows_a_linked_work_tree(repository: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "other", "linked")
    reader = RefReader(str(repository / "linked"))
    assert reader.read() == "other" == reader.read()
    git(repository / "linked", "checkout", "-q", "-b", "third")
    assert reader.read() == "third"


def test_outside_git_is_live(tmp_path: Path) -> None:
    assert read_ref(str(tmp_path)) == "live"
    assert read_ref(str(tmp_path / "nowhere")) == "live"


@pytest.mark.parametrize(
    "head", ["", "root:x:0:0", "ref: /etc/passwd", "ref: refs/heads/a b", "x" * 5000, "\0", "ab" * 10]
)
def test_a_head_that_git_would_not_write_shows_nothing(tmp_path: Path, head: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text(head)
    assert read_ref(str(tmp_path)) == "live"


def test_fifo_for_head_does_not_block(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git/HEAD")
    assert read_ref(str(tmp_path)) == "live"
