"""Workers: one bad file costs itself, nothing more."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS
from sightline_indexer import workers
from sightline_indexer.outlines import Outline
from sightline_indexer.records import Outcome, Problem, Task
from sightline_indexer.workers import SizedTask, WorkerPool
from support.index_kit import opened, paths_with_word, run, write_tree

LIMITS = replace(DEFAULT_LIMITS, max_parse_ms=300, worker_stall_s=3.0)
# A worker whose parser hangs or dies by the name of what it parses; everything else in it is the real one.
SABOTAGED = """
import os, signal, sys, time
from sightline_indexer import extract, worker_process
real = extract.extract_symbols
def extract_symbols(source, language, limits):
    if b"HANG" in source:
        while True: pass
    if b"SLEEP" in source:
        signal.pause()
    if b"CRASH" in source:
        os.kill(os.getpid(), signal.SIGSEGV)
    return real(source, language, limits)
extract.extract_symbols = extract_symbols
worker_process.main()
"""


@pytest.fixture
def sabotaged(monkeypatch: pytest.MonkeyPatch) -> None:
    real = subprocess.Popen

    def popen(command, **options):
        assert command[:4] == [sys.executable, "-P", "-m", "sightline_indexer.worker_process"]
        return real([sys.executable, "-P", "-c", SABOTAGED, *command[4:]], **options)

    monkeypatch.setattr(workers.subprocess, "Popen", popen)


def extract_all(root: Path, names: list[str], limits=LIMITS, count: int = 2) -> dict[str, object]:
    pool = WorkerPool(str(root), limits, count)
    try:
        tasks = [SizedTask(Task(name), 100) for name in names]
        answers = list(pool.run(tasks, lambda: False))
    finally:
        pool.close()
    files = [file for answer in answers for file in answer.files]
    assert sorted(file.path for file in files) == sorted(names)
    return {file.path: file for file in files}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("HANG = 1\n", Problem.PARSE_TIMEOUT),
        ("SLEEP = 1\n", Problem.PARSE_TIMEOUT),
        ("CRASH = 1\n", Problem.PARSE_CRASH),
    ],
)
def test_a_file_that_hangs_or_kills_its_worker_keeps_its_text(
    tmp_path: Path, sabotaged: None, content: str, problem: Problem
) -> None:
    names = [f"good{number}.py" for number in range(30)]
    write_tree(tmp_path, {name: f"def {name[:-3]}(): pass\n" for name in names} | {"bad.py": content})
    files = extract_all(tmp_path, [*names[:11], "bad.py", *names[11:]])
    assert files["bad.py"].problem is problem
    assert content.split()[0].lower() in files["bad.py"].content
    assert all(files[name].symbol_count == 1 and not files[name].problem for name in names)


def test_a_bad_file_is_listed_and_does_not_stop_the_job(tmp_path: Path, sabotaged: None) -> None:
    root = tmp_path / "tree"
    write_tree(root, {"bad.py": "CRASH = 1\n", "good.py": "def fine(): pass\n"})
    with opened(root, tmp_path / "index", limits=LIMITS) as index:
        run(index)
        assert index.status().skipped == {"parse_crash": 1}
        with index.snapshot() as snapshot:
            assert paths_with_word(snapshot, "crash") == {"bad.py"}
            assert len(snapshot.symbols_named("fine")) == 1
        assert run(index).changed_files == 0


def test_a_worker_reads_nothing_outside_the_root(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    write_tree(root, {"in.txt": "inside\n"})
    write_tree(tmp_path, {"out.txt": "outside\n"})
    (root / "link.txt").symlink_to(tmp_path / "out.txt")
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.txt")
    files = extract_all(root, ["in.txt", "link.txt", "folder/out.txt", "../out.txt", "pipe.txt", "gone.txt"])
    assert files.pop("in.txt").outcome is Outcome.INDEXED
    assert {file.outcome for file in files.values()} == {Outcome.VANISHED}


def test_a_repository_cannot_give_the_worker_its_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    canary = "open('canary', 'w'); raise SystemExit('from the repository')\n"
    write_tree(tmp_path, {"msgspec.py": canary, "sightline_indexer/__init__.py": canary, "a.py": "x = 1\n"})
    monkeypatch.chdir(tmp_path)
    files = extract_all(tmp_path, ["a.py"])
    assert files["a.py"].outcome is Outcome.INDEXED
    assert not (tmp_path / "canary").exists()


def test_workers_that_cannot_start_fail_the_run_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = subprocess.Popen
    command = [sys.executable, "-c", "raise SystemExit('no grammar here')"]
    monkeypatch.setattr(workers.subprocess, "Popen", lambda _, **options: real(command, **options))
    write_tree(tmp_path, {"a.py": "x = 1\n"})
    with pytest.raises(SightlineError) as caught:
        extract_all(tmp_path, ["a.py"])
    assert caught.value.code is ErrorCode.INTERNAL_ERROR
    assert "no grammar here" in caught.value.message


def test_workers_end_with_their_parent_however_it_ends(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "x = 1\n"})
    program = """
import sys
from sightline_core.limits import DEFAULT_LIMITS
from sightline_indexer.records import Task
from sightline_indexer.workers import SizedTask, WorkerPool
pool = WorkerPool(sys.argv[1], DEFAULT_LIMITS, 1)
list(pool.run([SizedTask(Task("a.py"), 10)], lambda: False))
print(pool._workers[0]._process.pid, flush=True)
sys.stdin.read()
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        worker = os.pidfd_open(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
        ended, _, _ = select.select([worker], [], [], 30)
        os.close(worker)
    assert ended


@pytest.mark.parametrize("seed", range(3))
def test_deep_and_strange_files_are_extracted_or_listed(tmp_path: Path, seed: int) -> None:
    strange = {
        "deep.py": "(" * 100_000,
        "deep.js": "[" * 100_000,
        "one_line.js": "var a=1;" * 60_000,
        "nul.py": "x = 1\n" * 2000 + "\0" * 10,
        "surrogate.py": b"x = '\xed\xa0\x80'\n",
        "empty.py": "",
        "bom.py": "\ufeffdef f(): pass\n",
        "utf16.py": "def g(): pass\n".encode("utf-16"),
    }
    write_tree(tmp_path, strange)
    files = extract_all(tmp_path, list(strange), limits=replace(DEFAULT_LIMITS, worker_batch_files=1 + seed))
    assert {file.outcome for file in files.values()} == {Outcome.INDEXED}
    assert Outline(files["bom.py"].outline).names == ["f"]
    assert Outline(files["utf16.py"].outline).names == ["g"]
