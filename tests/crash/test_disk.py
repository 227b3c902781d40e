"""A full or failing disk: the old index still answers, and the error names the cause."""

from __future__ import annotations

import resource
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.types import JobState, SchemaStatus
from support.index_kit import WAIT_S, opened, paths_with_word, run, write_tree

SMALL = {f"f{n}.py": f"def symbol{n}():\n    return word{n} + shared\n" for n in range(20)}
LARGE = {f"big{n}.py": f"unique{n} = 1\n" + "".join(f"def name{i}(): pass\n" for i in range(1500)) for n in range(60)}


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(path)], capture_output=True)
    if made.returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def check_old_index_answers(index) -> None:
    with index.snapshot() as snapshot:
        assert len(paths_with_word(snapshot, "shared")) == len(SMALL)
        assert {item.path for item in snapshot.symbols_named("symbol7")} == {"f7.py"}


def test_a_full_disk_fails_the_job_and_not_the_index(tmp_path: Path, tiny_disk: Path) -> None:
    root = tmp_path / "tree"
    write_tree(root, SMALL)
    # What a slow job publishes before it fails fills the disk for good, and then nothing can be written any more.
    limits = replace(DEFAULT_LIMITS, index_first_commit_s=WAIT_S)
    with opened(root, tiny_disk / "index", limits=limits) as index:
        run(index)
        for _ in range(3):
            write_tree(root, LARGE)
            job = index.start_job(mode=None, force=False, reason="test")
            assert job.wait(WAIT_S)
            assert job.state is JobState.FAILED
            assert job.error.code in (ErrorCode.INTERNAL_ERROR, ErrorCode.INDEX_INCOMPATIBLE)
            assert "space" in job.error.message or "full" in job.error.message
            check_old_index_answers(index)
    with opened(root, tiny_disk / "index") as index:
        check_old_index_answers(index)
        for name in LARGE:
            (root / name).unlink()
        write_tree(root, {"after.py": "def recovered(): pass\n"})
        run(index)
        check_old_index_answers(index)
        with index.snapshot() as snapshot:
            assert snapshot.symbols_named("recovered")


def test_a_new_process_on_a_full_disk_does_not_call_the_index_damaged(tmp_path: Path, tiny_disk: Path) -> None:
    root = tmp_path / "tree"
    write_tree(root, SMALL)
    with opened(root, tiny_disk / "index") as index:
        run(index)
    filler = tiny_disk / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="space"):
        while True:
            file.write(b"x" * 4096)
    with opened(root, tiny_disk / "index") as index:
        # Either it answers, or it says that the disk is full; that it must be built anew would be wrong.
        try:
            check_old_index_answers(index)
        except SightlineError as error:
            assert error.code is ErrorCode.INTERNAL_ERROR
        assert index.status().schema_status is SchemaStatus.COMPATIBLE
        job = None
        try:
            job = index.start_job(mode=None, force=False, reason="test")
            assert job.wait(WAIT_S)
        except SightlineError as error:
            assert error.code is ErrorCode.INTERNAL_ERROR
        assert job is None or job.error is None or job.error.code is ErrorCode.INTERNAL_ERROR
        filler.unlink()
        check_old_index_answers(index)
        run(index)
    with opened(root, tiny_disk / "index") as index:
        check_old_index_answers(index)


def test_writes_that_fail_at_any_size_leave_the_old_index(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    write_tree(root, SMALL)
    with opened(root, tmp_path / "index") as index:
        run(index)
        write_tree(root, LARGE)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            for size in (1_000, 20_000, 60_000, 120_000, 250_000):
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
                job = index.start_job(mode=None, force=False, reason="test")
                assert job.wait(WAIT_S)
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
                assert job.state is JobState.FAILED, size
                check_old_index_answers(index)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, ignored)
        run(index)
        check_old_index_answers(index)
        with index.snapshot() as snapshot:
            assert paths_with_word(snapshot, "unique7") == {"big7.py"}


def test_commits_that_fail_again_and_again_do_not_fill_the_disk(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    write_tree(root, SMALL)
    broken = False

    def fail() -> None:
        if broken:
            raise OSError(5, "Input/output error")

    with opened(root, tmp_path / "index", between_commits=fail) as index:
        run(index)
        broken = True
        write_tree(root, LARGE)
        sizes = []
        for _ in range(4):
            job = index.start_job(mode=None, force=False, reason="test")
            assert job.wait(WAIT_S)
            assert job.state is JobState.FAILED
            assert "Input/output error" in job.error.message
            sizes.append(next((tmp_path / "index").glob("index-*/vocabulary")).stat().st_size)
        check_old_index_answers(index)
        broken = False
        run(index)
        # Which words a failed job got to depends on the moment; together they are never more than a good job needs.
        assert max(sizes) <= next((tmp_path / "index").glob("index-*/vocabulary")).stat().st_size
        with index.snapshot() as snapshot:
            assert snapshot.candidate_files("nique7 ") is not None
            assert paths_with_word(snapshot, "unique7") == {"big7.py"}
