"""A walk finds what belongs into the index, each file once, and says what it left out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.paths import RepoRoot
from sightline_indexer.path_filter import PathFilter
from sightline_indexer.walk import SkipReason, Walk, walk_files

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
CACHE_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# made by a test\n"


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, env=ENVIRONMENT)


def make(root: Path, *files: str, **contents: str) -> None:
    for name, content in {**dict.fromkeys(files, "x"), **contents}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def walk(root: Path, limits: Limits = DEFAULT_LIMITS) -> Walk:
    return walk_files(RepoRoot(str(root)), limits)


def found(root: Path) -> list[str]:
    """The paths of a walk; every one of them, and no skipped one, is accepted by the filter for single paths."""
    paths = [file.relative for file in walk(root).files]
    path_filter = PathFilter(RepoRoot(str(root)), DEFAULT_LIMITS)
    everything = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
    assert sorted(path for path in everything if path_filter.accepts(path) is None) == paths
    return paths


def test_files_come_sorted_with_their_stat(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/z.py", "a-b.py", "a.py")
    result = walk(tmp_path)
    assert [file.relative for file in result.files] == ["a-b.py", "a.py", "a/z.py", "b.py"]
    info = (tmp_path / "b.py").stat()
    last = result.files[-1]
    assert (last.size, last.mtime_ns, last.inode) == (info.st_size, info.st_mtime_ns, info.st_ino)
    assert result.directories == ("", "a")
    assert not result.skipped and not result.unreadable and not result.cancelled


def test_ignore_files_work_outside_git(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "a.py", "sub/b.log", "sub/keep.log")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "sub/.gitignore").write_text("!keep.log\n")
    assert found(tmp_path) == [".gitignore", "a.py", "sub/.gitignore", "sub/keep.log"]
    assert walk(tmp_path).skipped == {SkipReason.IGNORED: 2}


def test_built_in_directories_are_skipped_and_counted_once(tmp_path: Path) -> None:
    for directory in ("node_modules", "__pycache__", ".tox", ".venv"):
        make(tmp_path, f"{directory}/a/b.py", f"deep/{directory}/c.py")
    make(tmp_path, ".cache/x.py", "src/a.py", **{"venv/pyvenv.cfg": "home = /usr", "venv/lib/y.py": "x"})
    assert found(tmp_path) == ["src/a.py"]
    assert walk(tmp_path).skipped == {SkipReason.BUILT_IN: 9, SkipReason.HIDDEN: 1}


@pytest.mark.parametrize("name", ["build", "dist", "target", "vendor"])
def test_output_directories_are_skipped_only_when_git_ignores_them(tmp_path: Path, name: str) -> None:
    make(tmp_path, f"{name}/a.py")
    assert found(tmp_path) == [f"{name}/a.py"]
    (tmp_path / ".gitignore").write_text(f"/{name}/\n")
    assert found(tmp_path) == [".gitignore"]


def test_cache_directories_are_known_by_their_signature(tmp_path: Path) -> None:
    make(tmp_path, "cache/a.py", "fake/a.py", **{"cache/CACHEDIR.TAG": CACHE_TAG, "fake/CACHEDIR.TAG": "no cache"})
    assert found(tmp_path) == ["fake/CACHEDIR.TAG", "fake/a.py"]
    assert walk(tmp_path).skipped == {SkipReason.CACHE: 1}


def test_large_files_links_and_devices_are_left_out_and_counted(tmp_path: Path) -> None:
    make(tmp_path, "ok.py", "real/x.py", big="y" * 101, exact="y" * 100)
    (tmp_path / "link.py").symlink_to("ok.py")
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "outside").symlink_to("/etc")
    os.mkfifo(tmp_path / "fifo")
    result = walk(tmp_path, Limits(max_file_bytes=100))
    assert [file.relative for file in result.files] == ["exact", "ok.py", "real/x.py"]
    assert result.skipped == {SkipReason.TOO_LARGE: 1, SkipReason.SYMLINK: 3, SkipReason.NOT_REGULAR: 1}
    path_filter = PathFilter(RepoRoot(str(tmp_path)), Limits(max_file_bytes=100))
    assert path_filter.accepts("big") is SkipReason.TOO_LARGE
    assert path_filter.accepts("link.py") is SkipReason.SYMLINK
    assert path_filter.accepts("linked/x.py") is SkipReason.SYMLINK
    assert path_filter.accepts("fifo") is SkipReason.NOT_REGULAR


def test_names_that_are_no_text_are_counted(tmp_path: Path) -> None:
    with open(os.path.join(os.fsencode(tmp_path), b"bad\xff.py"), "wb"):
        pass
    os.mkdir(os.path.join(os.fsencode(tmp_path), b"dir\xff"))
    make(tmp_path, "ünï.py", "new\nline.py")
    assert [file.relative for file in walk(tmp_path).files] == ["new\nline.py", "ünï.py"]
    assert walk(tmp_path).skipped == {SkipReason.BAD_NAME: 2}
    assert PathFilter(RepoRoot(str(tmp_path)), DEFAULT_LIMITS).accepts("bad\udcff.py") is SkipReason.BAD_NAME


def test_tracked_files_are_found_though_ignored_or_hidden(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    make(tmp_path, "out/kept.py", "out/deep/kept.py", ".github/ci.yml", ".hid/no.py", "kept.log", "a.py")
    git(tmp_path, "add", "out/kept.py", "out/deep/kept.py", ".github/ci.yml", "kept.log")
    make(tmp_path, "out/lost.py", "out/other/lost.py", "lost.log", ".github/new.yml")
    (tmp_path / ".gitignore").write_text("out/\n*.log\n")
    assert found(tmp_path) == [
        ".github/ci.yml", ".github/new.yml", ".gitignore", "a.py", "kept.log", "out/deep/kept.py", "out/kept.py",
    ]  # fmt: skip


def test_own_ignore_file_overrides_git_and_tracking(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    make(tmp_path, "gen/a.py", "big/data.py", "big/sub/keep.py", "x.log", "y.log")
    git(tmp_path, "add", "-f", ".")
    make(tmp_path, "gen/untracked.py")
    (tmp_path / ".gitignore").write_text("gen/\n*.log\n")
    (tmp_path / ".sightlineignore").write_text("/big/*\n!/big/sub/\n!gen/\nx.log\n!z.log\n")
    make(tmp_path, "z.log")
    assert found(tmp_path) == [
        ".gitignore", ".sightlineignore", "big/sub/keep.py", "gen/a.py", "gen/untracked.py", "y.log", "z.log",
    ]  # fmt: skip


def test_nested_repository_has_its_own_rules(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    nested = tmp_path / "libs/inner"
    make(tmp_path, "libs/inner/a.py", "libs/inner/a.tmp", "libs/inner/b.own", "a.tmp", "b.own", "ignored/c/x.py")
    git(nested, "init", "-q")
    git(tmp_path / "ignored/c", "init", "-q")
    (tmp_path / ".gitignore").write_text("*.tmp\nignored/\n")
    (nested / ".gitignore").write_text("*.own\n")
    assert found(tmp_path) == [".gitignore", "b.own", "libs/inner/.gitignore", "libs/inner/a.py", "libs/inner/a.tmp"]


def test_linked_work_tree_is_walked_as_a_root_and_skipped_inside_its_own_repository(tmp_path: Path) -> None:
    main = tmp_path / "main"
    make(main, "a.py", "out/t.py")
    git(main, "init", "-q")
    git(main, "add", ".")
    git(main, "commit", "-qm", "x")
    git(main, "worktree", "add", "-q", "copy")
    (main / ".git/info/exclude").write_text("*.skip\nout/\n")
    make(main, "b.skip", "copy/b.skip", "copy/out/u.py")
    assert found(main) == ["a.py", "out/t.py"]
    assert found(main / "copy") == ["a.py", "out/t.py"]


def test_root_inside_a_repository_gets_the_rules_above(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    root = tmp_path / "pkg/app"
    make(root, "a.py", "a.log", "gen/x.py", "top.txt", "tracked.log", ".ci/t.yml")
    git(tmp_path, "add", "-f", "pkg/app/tracked.log", "pkg/app/.ci/t.yml")
    (tmp_path / ".gitignore").write_text("*.log\n/pkg/app/top.txt\n")
    (tmp_path / "pkg/.gitignore").write_text("app/gen\n")
    assert found(root) == [".ci/t.yml", "a.py", "tracked.log"]


def test_repository_that_ignores_the_root_has_no_say(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("*\n")
    root = tmp_path / "code/project"
    make(root, "a.py")
    assert found(root) == ["a.py"]


@pytest.mark.parametrize("settings", [("index.version", "2"), ("index.version", "4"), ("core.splitIndex", "true")])
def test_every_form_of_git_index_tells_what_is_tracked(tmp_path: Path, settings: tuple[str, str]) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", *settings)
    make(tmp_path, *(f"out/{'d' * n}/f{n}.py" for n in range(40)))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "x")
    git(tmp_path, "update-index", "--index-version", settings[1]) if settings[0] == "index.version" else None
    make(tmp_path, "out/late.py")
    git(tmp_path, "add", "out/late.py")
    make(tmp_path, "out/intended.py")
    git(tmp_path, "add", "-N", "-f", "out/intended.py")
    git(tmp_path, "rm", "-q", "--cached", "out/d/f1.py")
    git(tmp_path, "rm", "-q", "--cached", "out/dd/f2.py")
    (tmp_path / ".gitignore").write_text("out/\n")
    listed = subprocess.run(["git", "ls-files", "out"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found(tmp_path) == [".gitignore", *sorted(listed.stdout.splitlines())]
    assert len(listed.stdout.splitlines()) == 40
    assert bool(list((tmp_path / ".git").glob("sharedindex.*"))) is (settings[0] == "core.splitIndex")


def test_sha256_repository_and_empty_index(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256")
    make(tmp_path, "out/a.py")
    git(tmp_path, "add", ".")
    (tmp_path / ".gitignore").write_text("out/\n")
    assert found(tmp_path) == [".gitignore", "out/a.py"]
    git(tmp_path, "rm", "-rq", "--cached", ".")
    assert found(tmp_path) == [".gitignore"]
    assert walk(tmp_path).unreadable == ()


@pytest.mark.parametrize(
    "content", [b"", b"DIRC", b"DIRC" + b"\xff" * 60, b"DIRC\0\0\0\2\0\0\xff\xff" + b"\0" * 99, b"x" * 999]
)
def test_damaged_index_is_reported_and_breaks_nothing(tmp_path: Path, content: bytes) -> None:
    git(tmp_path, "init", "-q")
    make(tmp_path, "a.py")
    (tmp_path / ".git/index").write_bytes(content)
    result = walk(tmp_path)
    assert [file.relative for file in result.files] == ["a.py"]
    assert result.unreadable == (str(tmp_path / ".git/index"),)


def test_hostile_git_files_break_nothing(tmp_path: Path) -> None:
    make(tmp_path, "a/x.py", "b/x.py", "c/x.py", **{"a/.git": "gitdir: /dev/zero", "b/.git": "gitdir: \0\n"})
    os.mkfifo(tmp_path / "c/.git")
    os.mkfifo(tmp_path / "c/.gitignore")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main\n")
    os.mkfifo(tmp_path / ".git/index")
    result = walk(tmp_path)
    assert [file.relative for file in result.files] == ["a/x.py", "b/x.py", "c/x.py"]
    assert result.unreadable == (str(tmp_path / ".git/index"), "c/.gitignore")


def test_very_deep_tree_is_walked_to_its_bound(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(30):
        deep = deep / "d"
    make(deep, "x.py")
    make(tmp_path, "y.py")
    assert found(tmp_path) == ["d/" * 30 + "x.py", "y.py"]
    result = walk(tmp_path, Limits(max_directory_depth=10))
    assert [file.relative for file in result.files] == ["y.py"]
    assert result.skipped == {SkipReason.TOO_DEEP: 1}


def test_unreadable_directory_is_named(tmp_path: Path) -> None:
    make(tmp_path, "closed/x.py", "open.py")
    (tmp_path / "closed").chmod(0)
    try:
        if os.access(tmp_path / "closed", os.R_OK):
            pytest.skip("this user reads everything")
        result = walk(tmp_path)
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert result.unreadable == ("closed",)
    assert result.skipped == {SkipReason.UNREADABLE: 1}


def test_progress_and_cancel_reach_a_running_walk(tmp_path: Path) -> None:
    make(tmp_path, *(f"d{n}/f.py" for n in range(20)))
    counts: list[int] = []
    root, limits = RepoRoot(str(tmp_path)), Limits(walk_progress_files=5)
    assert len(walk_files(root, limits, on_progress=counts.append).files) == 20
    assert counts == [5, 10, 15, 20, 20]
    stopped = walk_files(root, limits, cancelled=lambda: len(counts) == 5)
    assert stopped.cancelled and len(stopped.files) < 20


def test_vanished_root_is_an_error(tmp_path: Path) -> None:
    root = RepoRoot(str(tmp_path))
    tmp_path.rmdir()
    with pytest.raises(SightlineError) as caught:
        walk_files(root, DEFAULT_LIMITS)
    assert caught.value.code is ErrorCode.FILE_NOT_FOUND


def test_searched_repository_starts_nothing(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    canary = tmp_path.parent / f"{tmp_path.name}-ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {canary}\n")
    program.chmod(0o755)
    make(tmp_path, "out/a.py")
    git(tmp_path, "add", "out/a.py")
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor"):
        git(tmp_path, "config", key, str(program))
    git(tmp_path, "config", "core.hooksPath", str(tmp_path))
    (tmp_path / ".gitignore").write_text("out/\n")
    assert "out/a.py" in found(tmp_path)
    assert not canary.exists()
