"""Whatever is edited, what the watcher reports adds up to the tree."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import threading
from pathlib import Path
from random import Random

import pytest

from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.paths import RepoRoot
from sightline_indexer.path_filter import PathFilter
from sightline_indexer.walk import FoundFile, walk_files
from sightline_indexer.watch import Changes, Watcher

DEADLINE_S = 10


class Mirror:
    """An owner of an index as small as can be: path to stat, kept current by what the watcher says."""

    def __init__(self, root: RepoRoot) -> None:
        self.root = root
        self.filter = PathFilter(root, DEFAULT_LIMITS)
        self.files: dict[str, FoundFile] = {}

    def apply(self, changes: Changes) -> None:
        if changes.paths is None:
            self.filter.reset()
            self.files = {file.relative: file for file in walk_files(self.root, DEFAULT_LIMITS).files}
            return
        below = {known for path in changes.paths for known in self.files if known.startswith(path + "/")}
        for path in changes.paths | below:
            self.files.pop(path, None)
            full = os.path.join(self.root.path, path)
            if self.filter.accepts(path) is not None:
                continue
            # The tree goes on changing: what is gone by now is reported again.
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                info = os.lstat(full)
                if not stat.S_ISREG(info.st_mode):
                    continue
                self.files[path] = FoundFile(path, info.st_size, info.st_mtime_ns, info.st_ino)


def random_change(random: Random, root: Path, number: int, actions: int) -> None:
    directories = [root, *(path for path in root.rglob("*") if path.is_dir() and not path.is_symlink())]
    files = [path for path in root.rglob("*") if path.is_file() and path.name != "end"]
    where = random.choice(directories)
    action = random.randrange(actions)
    if action < 4:
        (where / f"f{number % 9}.{random.choice(['py', 'log'])}").write_text("x" * random.randrange(50))
    elif action < 6:
        (where / f"d{number % 4}/e{number % 3}").mkdir(parents=True, exist_ok=True)
        (where / f"d{number % 4}/e{number % 3}/g{number}.py").write_text("x")
    elif action == 6 and files:
        random.choice(files).unlink()
    elif action == 7 and files:
        random.choice(files).replace(where / f"moved{number % 5}.py")
    elif action == 8 and where != root:
        shutil.rmtree(where)
    elif action == 9 and files:
        target = random.choice(files)
        temporary = target.with_name(".tmp-" + target.name)
        temporary.write_text("new")
        temporary.rename(target)
    elif action == 10 and where != root:
        where.rename(root / f"renamed{number}")
    elif action == 11:
        (where / ".gitignore").write_text(random.choice(["*.log\n", "d1/\n", "", "!*.log\n", "/g*\n"]))


# The last two actions, a renamed directory and an edited rule file, end in a reconcile that would hide other faults.
@pytest.mark.parametrize("actions", [10, 12])
@pytest.mark.parametrize("seed", range(4))
def test_after_any_edits_what_was_reported_adds_up_to_the_tree(tmp_path: Path, seed: int, actions: int) -> None:
    root = RepoRoot(str(tmp_path))
    mirror = Mirror(root)
    reached = threading.Event()

    def apply(changes: Changes) -> None:
        mirror.apply(changes)
        if "end" in mirror.files:
            reached.set()

    watcher = Watcher(root, PathFilter(root, DEFAULT_LIMITS), apply, DEFAULT_LIMITS)
    watcher.start()
    try:
        random = Random(seed)
        for number in range(150):
            random_change(random, tmp_path, number, actions)
        (tmp_path / "end").write_text("x")
        assert reached.wait(DEADLINE_S)
    finally:
        watcher.stop()
    assert mirror.files == {file.relative: file for file in walk_files(root, DEFAULT_LIMITS).files}


def test_files_of_a_directory_that_came_and_went_before_it_was_watched_are_not_kept(tmp_path: Path) -> None:
    root = RepoRoot(str(tmp_path))
    mirror = Mirror(root)
    reached = threading.Event()

    def apply(changes: Changes) -> None:
        is_first = not mirror.files
        if is_first:
            # All watches are set by now, and none of their events is looked at before this returns.
            (tmp_path / "folder").mkdir()
            (tmp_path / "folder" / "old.py").write_text("x")
        mirror.apply(changes)
        if is_first:
            assert "folder/old.py" in mirror.files
            shutil.rmtree(tmp_path / "folder")
            (tmp_path / "folder").mkdir()
            (tmp_path / "folder" / "end").write_text("x")
        elif "folder/end" in mirror.files:
            reached.set()

    watcher = Watcher(root, PathFilter(root, DEFAULT_LIMITS), apply, DEFAULT_LIMITS)
    watcher.start()
    try:
        assert reached.wait(DEADLINE_S)
    finally:
        watcher.stop()
    assert set(mirror.files) == {"folder/end"}
