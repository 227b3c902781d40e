"""A workspace's index through its facade: jobs, snapshots, staying current."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.paths import RepoRoot
from sightline_core.progress import STAGE_SPANS
from sightline_core.types import Freshness, IndexingStatus, JobMode, JobState, SchemaStatus
from sightline_indexer.workspace_index import WorkspaceIndex
from support.index_kit import WAIT_S, opened, paths_with_word, picture, run, write_tree

TREE = {
    "app/main.py": "class Server:\n    def start(self):\n        return alpha\n",
    "app/util.py": "def helper():\n    return beta\n",
    "README.md": "alpha and beta\n",
    "logo.bin": b"\0\1\2\3",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "tree"
    write_tree(path, TREE)
    return path


def test_an_indexed_tree_answers_for_files_words_and_symbols(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index:
        job = run(index)
        assert job.mode is JobMode.FULL
        with index.snapshot() as snapshot:
            assert paths_with_word(snapshot, "ALPHA") == {"app/main.py", "README.md"}
            (found,) = snapshot.symbols_named("start")
            assert (found.path, found.symbol.qualified_name) == ("app/main.py", "Server.start")
            assert found.symbol.signature
            assert [item.symbol.name for item in snapshot.symbols_with_prefix("SER")] == ["Server"]
            assert snapshot.symbols_named("server") == []
            assert len(snapshot.symbols_named("server", match_case=False)) == 1
            assert snapshot.near_names("Sevrer", 5) == ["Server"]
            assert snapshot.complete
        state = index.status()
    assert state.indexing_status is IndexingStatus.READY
    assert state.schema_status is SchemaStatus.COMPATIBLE
    assert state.freshness is Freshness.FRESH
    assert (state.file_count, state.languages["python"], state.skipped["binary"]) == (3, 2, 1)
    assert state.recovery is None


def test_what_every_answer_says_is_what_the_status_says(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "index"

    def agreed(index: WorkspaceIndex) -> IndexingStatus:
        state = index.status()
        shown = (state.indexing_status, state.schema_status, state.freshness, state.ref)
        standing = index.standing()
        assert (standing.indexing_status, standing.schema_status, standing.freshness, standing.ref) == shown
        assert index.freshness() is state.freshness
        return state.indexing_status

    with opened(root, folder) as index:
        assert agreed(index) is IndexingStatus.NOT_INDEXED
        run(index)
        assert agreed(index) is IndexingStatus.READY
        write_tree(root, {"app/more.py": "def more():\n    pass\n"})
        run(index)
        assert agreed(index) is IndexingStatus.READY
        run(index, force=True)
        assert agreed(index) is IndexingStatus.READY
        # What another process does to the folder is seen by the next answer.
        (folder / "current").write_text("nonsense", "utf-8")
        assert agreed(index) is IndexingStatus.FAILED
        shutil.rmtree(folder)
        agreed(index)


def test_without_an_index_there_is_no_snapshot(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index:
        with pytest.raises(SightlineError) as caught:
            index.snapshot()
        assert caught.value.code is ErrorCode.INDEX_NOT_READY
        assert index.status().indexing_status is IndexingStatus.NOT_INDEXED


def test_an_empty_tree_is_a_ready_index(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    with opened(tmp_path / "tree", tmp_path / "index") as index:
        run(index)
        assert index.status().indexing_status is IndexingStatus.READY


def test_readers_of_a_busy_moment_are_closed_again(root: Path, tmp_path: Path) -> None:
    limits = replace(DEFAULT_LIMITS, idle_reader_s=0.0)

    def readers() -> int:
        # Not by descriptors: SQLite keeps those of closed connections while another one holds a lock.
        return sum(isinstance(thing, sqlite3.Connection) for thing in gc.get_objects())

    with opened(root, tmp_path / "index", limits=limits) as index:
        run(index)
        snapshots = [index.snapshot() for _ in range(6)]
        busy = readers()
        for snapshot in snapshots:
            snapshot.close()
        snapshots.clear()
        del snapshot
        for _ in range(6):
            index.snapshot().close()
        assert readers() <= busy - 5


def test_an_engine_that_is_opened_anew_shows_every_save(root: Path, tmp_path: Path) -> None:
    limits = replace(DEFAULT_LIMITS, max_kept_commits=2, max_text_reloads=2)
    index = WorkspaceIndex(RepoRoot(str(root)), str(tmp_path / "index"), limits, watch=True)
    index.open()
    try:
        run(index)
        with index.snapshot() as old:
            for step in range(12):
                write_tree(root, {"app/util.py": f"def helper{step}():\n    return gamma{step}\n"})
                run(index, paths=frozenset({"app/util.py"}))
                with index.snapshot() as new:
                    assert paths_with_word(new, f"gamma{step}") == {"app/util.py"}
                    assert paths_with_word(new, f"gamma{step - 1}") == set()
                    assert [item.path for item in new.symbols_named(f"helper{step}")] == ["app/util.py"]
            assert paths_with_word(old, "beta") == {"app/util.py", "README.md"}
    finally:
        index.close()
    with opened(root, tmp_path / "index") as again, again.snapshot() as new:
        assert paths_with_word(new, "gamma11") == {"app/util.py"}


def test_a_snapshot_stays_as_it_is_while_the_index_moves_on(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index:
        run(index)
        with index.snapshot() as old:
            for step in range(3):
                write_tree(root, {"app/util.py": f"def helper{step}():\n    return gamma{step}\n"})
                run(index)
            assert paths_with_word(old, "beta") == {"app/util.py", "README.md"}
            assert [item.path for item in old.symbols_named("helper")] == ["app/util.py"]
        with index.snapshot() as new:
            assert new.generation > old.generation
            assert paths_with_word(new, "beta") == {"README.md"}
            assert new.symbols_named("helper") == []
            assert len(new.symbols_named("helper2")) == 1


def test_an_incremental_job_reads_only_what_changed(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index:
        run(index)
        (root / "app/util.py").unlink()
        write_tree(root, {"new.py": "delta = 1\n", "README.md": "alpha only\n"})
        job = run(index)
        assert (job.mode, job.changed_files) == (JobMode.INCREMENTAL, 3)
        with index.snapshot() as snapshot:
            assert snapshot.file("app/util.py") is None
            assert paths_with_word(snapshot, "delta") == {"new.py"}
            assert paths_with_word(snapshot, "beta") == set()


def test_a_job_that_finds_nothing_new_publishes_no_generation(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index:
        run(index)
        before = index.status().generation
        os.utime(root / "README.md")
        job = run(index)
        assert job.changed_files == 0
        assert index.status().generation == before


def test_named_paths_are_looked_at_alone(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index:
        run(index)
        write_tree(root, {"app/util.py": "gamma = 1\n", "README.md": "gamma\n"})
        (root / "app/main.py").unlink()
        run(index, paths=frozenset({"app/util.py", "app/main.py", "app/never.py"}))
        with index.snapshot() as snapshot:
            assert paths_with_word(snapshot, "gamma") == {"app/util.py"}
            assert snapshot.file("app/main.py") is None


def test_a_folder_that_went_takes_its_files_along(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index:
        run(index)
        (root / "app").rename(tmp_path / "elsewhere")
        run(index, paths=frozenset({"app"}))
        with index.snapshot() as snapshot:
            assert [file.path for file in snapshot.files()] == ["README.md", "logo.bin"]


def test_a_folder_that_came_back_keeps_what_is_in_it(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index:
        run(index)
        (root / "app/main.py").unlink()
        run(index, paths=frozenset({"app"}))
        with index.snapshot() as snapshot:
            assert snapshot.file("app/main.py") is None
            assert snapshot.file("app/util.py") is not None


def test_a_root_that_was_made_anew_is_read_anew(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index:
        run(index)
        shutil.rmtree(root)
        write_tree(root, {"fresh.py": "def fresh(): pass\n"})
        run(index)
        with index.snapshot() as snapshot:
            assert [file.path for file in snapshot.files()] == ["fresh.py"]


def test_a_change_within_the_same_clock_tick_is_seen(root: Path, tmp_path: Path) -> None:
    path = root / "app/util.py"
    with opened(root, tmp_path / "index") as index:
        run(index)
        info = path.stat()
        path.write_text("def helper():\n    return zeta\n")
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
        assert path.stat().st_size == info.st_size
        run(index)
        with index.snapshot() as snapshot:
            assert paths_with_word(snapshot, "zeta") == {"app/util.py"}


def test_forcing_builds_a_new_index_in_place_of_the_old_one(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index:
        run(index)
        with index.snapshot() as snapshot:
            before, generation = picture(snapshot), snapshot.generation
        job = run(index, force=True)
        assert job.mode is JobMode.FULL
        with index.snapshot() as snapshot:
            assert picture(snapshot) == before
            assert snapshot.generation > generation


def test_requests_join_the_job_that_runs_and_force_is_refused(root: Path, tmp_path: Path) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def pause() -> None:
        reached.set()
        assert go_on.wait(WAIT_S)

    with opened(root, tmp_path / "index", between_commits=pause) as index:
        job = index.start_job(mode=None, force=False, reason="first")
        assert reached.wait(WAIT_S)
        assert index.status().indexing_status is IndexingStatus.INDEXING
        assert index.status().freshness is Freshness.SYNCING
        write_tree(root, {"late.py": "epsilon\n"})
        assert index.start_job(mode=None, force=False, reason="second") is job
        with pytest.raises(SightlineError) as caught:
            index.start_job(mode=JobMode.FULL, force=True, reason="third")
        assert caught.value.code is ErrorCode.INDEX_IN_PROGRESS
        assert caught.value.data["job_id"] == job.job_id
        go_on.set()
        assert job.wait(WAIT_S)
        with index.snapshot() as snapshot:
            assert paths_with_word(snapshot, "epsilon") == {"late.py"}


def test_force_against_a_running_sync_names_the_sync(root: Path, tmp_path: Path) -> None:
    reached, go_on = threading.Event(), threading.Event()
    pausing = False

    def pause() -> None:
        if pausing:
            reached.set()
            assert go_on.wait(WAIT_S)

    with opened(root, tmp_path / "index", between_commits=pause) as index:
        run(index)
        pausing = True
        write_tree(root, {"late.py": "epsilon\n"})
        index.start_job(mode=None, force=False, reason="sync")
        assert reached.wait(WAIT_S)
        with pytest.raises(SightlineError) as caught:
            index.start_job(mode=None, force=True, reason="force")
        go_on.set()
        assert caught.value.code is ErrorCode.SYNC_IN_PROGRESS


def test_a_cancelled_job_keeps_what_was_published(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index:
        run(index)
        write_tree(root, {f"many/{number}.py": f"value{number} = 1\n" for number in range(200)})
        job = index.start_job(mode=None, force=False, reason="test")
        assert index.cancel(job.job_id) is job
        assert job.wait(WAIT_S)
        assert job.state is JobState.CANCELLED
        with index.snapshot() as snapshot:
            assert paths_with_word(snapshot, "alpha") == {"app/main.py", "README.md"}
        run(index)
        with index.snapshot() as snapshot:
            assert paths_with_word(snapshot, "value199") == {"many/199.py"}


def test_an_unknown_job_cannot_be_cancelled(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index, pytest.raises(SightlineError) as caught:
        index.cancel("nope")
    assert caught.value.code is ErrorCode.JOB_NOT_FOUND


def test_progress_goes_through_the_stages_and_never_back(root: Path, tmp_path: Path) -> None:
    write_tree(root, {f"many/{number}.py": f"value{number} = 1\n" for number in range(300)})
    seen = []
    with opened(root, tmp_path / "index") as index:
        job = index.start_job(mode=None, force=False, reason="test")
        job.add_listener(lambda current: seen.append((current.progress, current.state)))
        assert job.wait(WAIT_S)
        run(index)  # the first job's thread has told its last word before it begins the next job
    percentages = [progress.percentage for progress, _ in seen]
    assert percentages == sorted(percentages)
    assert percentages[-1] == 100
    assert seen[-1][0].message.startswith("Indexed 303 files, ")
    assert seen[-1][1] is JobState.PUBLISHED
    stages = [progress.stage for progress, _ in seen]
    assert stages == sorted(stages, key=list(STAGE_SPANS).index)


def test_stale_files_are_found_by_their_stat(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index:
        run(index)
        write_tree(root, {"app/util.py": "something else entirely\n", "new.py": "new\n"})
        (root / "README.md").unlink()
        names = ["app/main.py", "app/util.py", "new.py", "README.md", "never.py"]
        assert index.check_stale(names) == {"app/util.py", "new.py", "README.md"}


def test_a_second_owner_of_the_index_reads_and_writes_in_its_turn(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as first, opened(root, tmp_path / "index") as second:
        run(first)
        with second.snapshot() as snapshot:
            assert paths_with_word(snapshot, "beta") == {"app/util.py", "README.md"}
        write_tree(root, {"new.py": "delta\n"})
        run(second)
        with first.snapshot() as snapshot:
            assert paths_with_word(snapshot, "delta") == {"new.py"}
        run(first, force=True)
        with second.snapshot() as snapshot:
            assert paths_with_word(snapshot, "delta") == {"new.py"}
        assert run(second).changed_files == 0


def test_the_index_holds_no_text_of_the_files(root: Path, tmp_path: Path) -> None:
    write_tree(root, {"secret.txt": "zebra giraffe elephant walrus\n"})
    with opened(root, tmp_path / "index") as index:
        run(index)
    for path in (tmp_path / "index").rglob("*"):
        if path.is_file():
            assert b"zebra giraffe" not in path.read_bytes(), path


def test_after_a_cancelled_sync_the_index_calls_itself_stale_until_a_good_one(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "index") as index:
        run(index)
        assert index.status().freshness is Freshness.FRESH
        write_tree(root, {f"new{number}.py": "delta = 1\n" for number in range(2000)})
        job = index.start_job(mode=None, force=False, reason="test")
        index.cancel(job.job_id)
        assert job.wait(WAIT_S)
        assert job.state is JobState.CANCELLED
        assert index.status().freshness is Freshness.STALE
        run(index, paths=frozenset({"README.md"}))
        assert index.status().freshness is Freshness.STALE
        run(index)
        assert index.status().freshness is Freshness.FRESH
