"""The watcher reports every kind of change, or asks for a reconcile."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_indexer import watch as watch_module
from sightline_indexer.path_filter import PathFilter
from sightline_indexer.walk import walk_files
from sightline_indexer.watch import Changes, Watcher, WatcherState
from sightline_indexer.watch_inotify import InotifySource
from sightline_indexer.watch_portable import PortableSource

DEADLINE_S = 10
LIMITS = Limits()
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


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, env=ENVIRONMENT)


class Heard:
    """What a watcher said so far, with waits that end on facts."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.paths: set[str] = set()
        self.reconciles = 0
        self.calls = 0

    def __call__(self, changes: Changes) -> None:
        with self._changed:
            self.calls += 1
            if changes.paths is None:
                self.reconciles += 1
            else:
                self.paths |= changes.paths
            self._changed.notify_all()

    def wait_for(self, met: Callable[[], object]) -> None:
        with self._changed:
            assert self._changed.wait_for(met, DEADLINE_S), f"heard {self.paths} and {self.reconciles} reconciles"

    def path(self, *wanted: str) -> None:
        self.wait_for(lambda: self.paths.issuperset(wanted))

    def reconcile(self, count: int) -> None:
        self.wait_for(lambda: self.reconciles >= count)


class Watched:
    """A root with a running watcher that has said its first word."""

    def __init__(self, root: Path, limits: Limits = LIMITS) -> None:
        self.root = root
        self.heard = Heard()
        repo = RepoRoot(str(root))
        self.watcher = Watcher(repo, PathFilter(repo, limits), self.heard, limits)
        self.watcher.start()
        self.heard.reconcile(1)

    def sync(self) -> None:
        """Wait until everything that happened before this call was reported."""
        marks = [int(path[4:]) for path in self.heard.paths if path.startswith("mark")]
        mark = f"mark{max(marks, default=0) + 1}"
        before = self.heard.reconciles
        (self.root / mark).write_text("x")
        self.heard.wait_for(lambda: mark in self.heard.paths or self.heard.reconciles > before)

    def other_paths(self) -> set[str]:
        return {path for path in self.heard.paths if not path.startswith("mark")}


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Callable[..., Watched]]:
    running: list[Watched] = []

    def start(root: Path = tmp_path, limits: Limits = LIMITS) -> Watched:
        running.append(Watched(root, limits))
        return running[-1]

    yield start
    for one in running:
        one.watcher.stop()
        assert one.watcher.state in (WatcherState.OFF, WatcherState.FAILED)
    assert not [thread for thread in threading.enumerate() if thread.name == "sightline-watch"]


def save_by_truncating(path: Path) -> None:
    with path.open("w") as file:
        file.write("new")


def save_by_renaming(path: Path) -> None:
    temporary = path.with_name(".tmp-" + path.name)
    temporary.write_text("new")
    temporary.rename(path)


def save_with_backup(path: Path) -> None:
    path.rename(path.with_name(path.name + "~"))
    path.write_text("new")


def save_by_link(path: Path) -> None:
    temporary = path.with_name("x.swap")
    temporary.write_text("new")
    path.unlink()
    os.link(temporary, path)
    temporary.unlink()


def save_in_place_without_closing(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    os.write(descriptor, b"new")
    # Left open on purpose until the process of the test ends, as a log writer would.
    OPEN_DESCRIPTORS.append(descriptor)


def save_by_memory_map_or_touch(path: Path) -> None:
    os.utime(path, (1, 1))


OPEN_DESCRIPTORS: list[int] = []
SAVES = [
    save_by_truncating,
    save_by_renaming,
    save_with_backup,
    save_by_link,
    save_in_place_without_closing,
    save_by_memory_map_or_touch,
]


@pytest.mark.parametrize("save", SAVES)
@pytest.mark.parametrize("where", ["a.py", "deep/er/a.py"])
def test_every_way_of_saving_is_reported(
    tmp_path: Path, watched: Callable[..., Watched], save: Callable[[Path], None], where: str
) -> None:
    path = tmp_path / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("old")
    one = watched()
    assert one.watcher.state is WatcherState.WATCHING
    save(path)
    one.heard.path(where)
    assert one.heard.reconciles == 1


def test_creation_and_deletion_of_files_are_reported(tmp_path: Path, watched: Callable[..., Watched]) -> None:
    (tmp_path / "gone.py").write_text("x")
    one = watched()
    (tmp_path / "gone.py").unlink()
    (tmp_path / "new.py").write_text("x")
    one.heard.path("gone.py", "new.py")


def test_files_in_new_directories_are_reported_however_fast_they_come(
    tmp_path: Path, watched: Callable[..., Watched]
) -> None:
    one = watched()
    wanted: set[str] = set()
    for number in range(50):
        directory = tmp_path / f"n{number}/a/b"
        directory.mkdir(parents=True)
        (directory / "f.py").write_text("x")
        (tmp_path / f"n{number}/g.py").write_text("x")
        wanted |= {f"n{number}/a/b/f.py", f"n{number}/g.py"}
    one.heard.path(*wanted)
    (tmp_path / "n0/a/b/later.py").write_text("x")
    one.heard.path("n0/a/b/later.py")


def test_removed_directory_reports_its_files(tmp_path: Path, watched: Callable[..., Watched]) -> None:
    for name in ("d/a.py", "d/e/b.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    one = watched()
    shutil.rmtree(tmp_path / "d")
    one.heard.path("d/a.py", "d/e/b.py")


def test_renamed_directory_is_reconciled_and_watched_at_its_new_place(
    tmp_path: Path, watched: Callable[..., Watched]
) -> None:
    (tmp_path / "old/in").mkdir(parents=True)
    (tmp_path / "old/in/a.py").write_text("x")
    one = watched()
    (tmp_path / "old").rename(tmp_path / "new")
    one.heard.reconcile(2)
    (tmp_path / "new/in/a.py").write_text("y")
    one.heard.path("new/in/a.py")
    assert "old/in/a.py" not in one.heard.paths


def test_directory_moved_away_and_in_is_noticed(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, watched: Callable[..., Watched]
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (tmp_path / "away").mkdir()
    (tmp_path / "away/a.py").write_text("x")
    (outside / "in").mkdir()
    (outside / "in/b.py").write_text("x")
    one = watched()
    (outside / "in").rename(tmp_path / "in")
    one.heard.path("in/b.py")
    (tmp_path / "away").rename(outside / "away")
    one.heard.reconcile(2)
    (outside / "away/a.py").write_text("y")
    one.sync()
    assert one.other_paths() == {"in/b.py"}


def test_burst_of_five_thousand_files_ends_in_one_reconcile(tmp_path: Path, watched: Callable[..., Watched]) -> None:
    (tmp_path / "d").mkdir()
    one = watched()
    for number in range(5000):
        os.close(os.open(tmp_path / f"d/f{number}.py", os.O_CREAT | os.O_WRONLY))
    one.heard.reconcile(2)
    one.sync()
    assert one.heard.calls < 20


def test_overrun_of_the_queue_ends_in_a_reconcile(tmp_path: Path, watched: Callable[..., Watched]) -> None:
    one = watched(limits=Limits(watch_queue_events=50, watch_burst_paths=1_000_000))
    with one.heard._changed:  # the watcher is held in its callback while events pile up
        (tmp_path / "first.py").write_text("x")
        for number in range(3000):
            (tmp_path / f"f{number}.py").write_text("x")
        (tmp_path / "late/deep").mkdir(parents=True)
    one.heard.reconcile(2)
    (tmp_path / "late/deep/x.py").write_text("x")
    one.heard.path("late/deep/x.py")


def test_overflow_in_the_kernel_is_told_as_lost(tmp_path: Path) -> None:
    capacity = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if capacity > 200_000:
        pytest.skip("this kernel keeps more events than a test should make")
    for name in ("a", "b"):
        (tmp_path / name).write_text("x")
    source = InotifySource(max_queued=10 * capacity)
    try:
        source.add("", str(tmp_path))
        with source._queue._ready:  # holds the reading thread at its first event
            for number in range(capacity):
                os.utime(tmp_path / "a", (number, number))
                os.utime(tmp_path / "b", (number, number))
        lost = False
        for _ in range(1000):
            source.wait(DEADLINE_S)
            lost = lost or source.take().lost
            if lost:
                break
        assert lost
    finally:
        source.close(DEADLINE_S)


def test_ignored_and_built_in_directories_are_not_watched(tmp_path: Path, watched: Callable[..., Watched]) -> None:
    (tmp_path / ".gitignore").write_text("out/\n*.log\n")
    for name in ("node_modules/p", "out/deep", "src", ".hidden"):
        (tmp_path / name).mkdir(parents=True)
    one = watched()
    for name in ("node_modules/p/a.js", "out/deep/a.py", "a.log", ".hidden/x", ".env", "src/id_rsa"):
        (tmp_path / name).write_text("x")
    (tmp_path / "node_modules/q").mkdir()
    (tmp_path / "src/ok.py").write_text("x")
    one.heard.path("src/ok.py")
    one.sync()
    assert one.other_paths() == {"src/ok.py"}
    assert one.watcher._source is not None
    assert set(one.watcher._source.directories) == {"", "src"}


@pytest.mark.parametrize("name", [".gitignore", ".sightlineignore"])
def test_edit_of_a_rule_file_is_reconciled_and_obeyed(
    tmp_path: Path, watched: Callable[..., Watched], name: str
) -> None:
    (tmp_path / "gen").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / name).write_text("gen/\n")
    one = watched()
    (tmp_path / name).write_text("*.tmp\n")
    one.heard.reconcile(2)
    (tmp_path / "gen/a.py").write_text("x")
    (tmp_path / "gen/a.tmp").write_text("x")
    one.heard.path("gen/a.py")
    save_by_renaming(tmp_path / name)
    one.heard.reconcile(3)
    assert one.other_paths() == {"gen/a.py"}


def test_branch_switch_and_tracking_are_reconciled_and_status_is_not(
    tmp_path: Path, watched: Callable[..., Watched]
) -> None:
    git(tmp_path, "init", "-q", "-b", "one")
    (tmp_path / "a.py").write_text("x")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "x")
    one = watched()
    os.utime(tmp_path / "a.py", (1, 1))
    git(tmp_path, "status")
    one.heard.path("a.py")
    one.sync()
    assert one.heard.reconciles == 1
    git(tmp_path, "checkout", "-q", "-b", "two")
    one.heard.reconcile(2)
    (tmp_path / "b.py").write_text("x")
    git(tmp_path, "add", "b.py")
    one.heard.reconcile(3)
    (tmp_path / ".git/info").mkdir(exist_ok=True)
    (tmp_path / ".git/info/exclude").write_text("*.skip\n")
    one.heard.reconcile(4)


def test_repository_made_after_the_start_is_noticed(tmp_path: Path, watched: Callable[..., Watched]) -> None:
    one = watched()
    git(tmp_path, "init", "-q", "-b", "one")
    one.heard.reconcile(2)
    one.sync()
    before = one.heard.reconciles
    git(tmp_path, "symbolic-ref", "HEAD", "refs/heads/two")
    one.heard.reconcile(before + 1)


def test_lost_root_fails_the_watcher_and_asks_for_a_last_look(
    tmp_path: Path, watched: Callable[..., Watched]
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    one = watched(root)
    shutil.rmtree(root)
    one.heard.reconcile(2)
    assert one.watcher._thread is not None
    one.watcher._thread.join(DEADLINE_S)
    assert one.watcher.state is WatcherState.FAILED
    assert one.watcher.reason


def test_timer_asks_for_a_reconcile_when_nothing_is_heard(tmp_path: Path, watched: Callable[..., Watched]) -> None:
    one = watched(limits=Limits(watch_reconcile_interval_s=0.05))
    one.heard.reconcile(4)


def test_system_without_watches_degrades_to_the_timer(
    tmp_path: Path, watched: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int) -> object:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(watch_module, "open_source", refuse)
    one = watched(limits=Limits(watch_degraded_reconcile_interval_s=0.05))
    assert one.watcher.state is WatcherState.DEGRADED
    assert "Too many open files" in one.watcher.reason
    one.heard.reconcile(3)


def test_directories_beyond_the_watch_limit_degrade_the_watcher(
    tmp_path: Path, watched: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Scarce(InotifySource):
        def add(self, directory: str, path: str) -> None:
            if len(list(self.directories)) >= 2:
                raise OSError(28, "inotify watch limit reached")
            super().add(directory, path)

    monkeypatch.setattr(watch_module, "open_source", Scarce)
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    one = watched(limits=Limits(watch_degraded_reconcile_interval_s=0.05))
    assert one.watcher.state is WatcherState.DEGRADED
    assert "limit" in one.watcher.reason
    one.heard.reconcile(3)
    (tmp_path / "top.py").write_text("x")
    one.heard.wait_for(lambda: "top.py" in one.heard.paths or one.heard.reconciles > 4)


def test_stop_is_quick_and_nothing_is_said_afterwards(tmp_path: Path, watched: Callable[..., Watched]) -> None:
    one = watched()
    one.watcher.stop()
    calls = one.heard.calls
    (tmp_path / "a.py").write_text("x")
    assert one.watcher.state is WatcherState.OFF
    assert one.heard.calls == calls


def test_watches_agree_with_a_walk(tmp_path: Path, watched: Callable[..., Watched]) -> None:
    git(tmp_path, "init", "-q")
    for name in ("src/a/x.py", "out/kept/x.py", "out/lost/x.py", ".ci/x.yml", "venv/pyvenv.cfg", "vendor/x.go"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    git(tmp_path, "add", "-f", "out/kept/x.py", ".ci/x.yml")
    (tmp_path / ".gitignore").write_text("out/\n")
    one = watched()
    assert one.watcher._source is not None
    inside = {path for path in one.watcher._source.directories if not path.startswith("//")}
    assert inside == set(walk_files(RepoRoot(str(tmp_path)), LIMITS).directories)


def test_portable_source_reports_saves_new_directories_and_renames(
    tmp_path: Path, watched: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "open_source", PortableSource)
    (tmp_path / "d").mkdir()
    (tmp_path / "node_modules").mkdir()
    one = watched()
    save_by_truncating(tmp_path / "d/a.py")
    save_by_renaming(tmp_path / "b.py")
    (tmp_path / "node_modules/x.js").write_text("x")
    (tmp_path / "n/m").mkdir(parents=True)
    (tmp_path / "n/m/c.py").write_text("x")
    one.heard.path("d/a.py", "b.py", "n/m/c.py")
    (tmp_path / "n").rename(tmp_path / "o")
    one.heard.reconcile(2)
    assert "node_modules/x.js" not in one.heard.paths
