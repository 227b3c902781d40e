"""kill -9 at any moment: nothing that was promised is lost, nothing is torn, nothing is stuck.

`CRASH_KILLS` sets how many kills there are, `CRASH_SEED` their moments; `make crash` runs the full number.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from crash.victim import LIMITS, effect, name_of
from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.types import JobState, SchemaStatus
from sightline_indexer.job_log import read_jobs
from sightline_indexer.store import Candidates, Snapshot
from sightline_indexer.workspace_index import WorkspaceIndex
from support.index_kit import opened, paths_of, run

KILLS = int(os.environ.get("CRASH_KILLS", "40"))
SEED = int(os.environ.get("CRASH_SEED", "20"))
LONGEST_LIFE_S = 0.9
VICTIM = Path(__file__).with_name("victim.py")


@dataclass
class Model:
    """What must be true, known without asking the index: path → version, as the steps make it."""

    root: Path
    tree: dict[str, int] = field(default_factory=dict)
    promised: dict[str, int] = field(default_factory=dict)
    next_step: int = 0
    promises: int = 0
    kills_at_work: int = 0

    def take_promise(self, line: str) -> None:
        step = int(line.split()[1])
        changed, removed = effect(step)
        self.tree |= {name_of(number): step for number in changed}
        self.tree.pop(name_of(removed), None)
        self.promised = dict(self.tree)
        self.promises += 1
        self.next_step = step + 1

    def look(self) -> None:
        """The victim is dead, perhaps in the middle of a step: the tree is what the disk holds."""
        self.tree = {}
        for path in self.root.rglob("*.py"):
            found = re.search(r"word\d+x(\d+)", path.read_text())
            self.tree[path.relative_to(self.root).as_posix()] = int(found[1])
        # A step that removed a file may have been indexed without a word about it.
        self.promised = {path: version for path, version in self.promised.items() if path in self.tree}
        self.next_step += 1


def live_and_die(model: Model, folder: Path, chance: random.Random, kill_between: int) -> None:
    """Run the victim until it is killed, and note what it promised."""
    command = [sys.executable, str(VICTIM), str(model.root), str(folder), str(model.next_step), str(kill_between)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as victim:
        assert victim.stdout.readline() == "ready\n", victim.stderr.read()
        try:
            victim.wait(30 if kill_between else chance.uniform(0.0, LONGEST_LIFE_S))
        except subprocess.TimeoutExpired:
            victim.send_signal(signal.SIGKILL)
        for line in victim.stdout:
            model.take_promise(line)
        assert victim.wait() == -signal.SIGKILL, victim.stderr.read()
    model.look()
    model.kills_at_work += any(job.state is JobState.RUNNING for job in read_jobs(str(folder)))


def sources(snapshot: Snapshot, found: Candidates) -> set[str]:
    """The paths of what was found, but for temporary files of saves that a kill cut short: those are there, too."""
    return {path for path in paths_of(snapshot, found.file_ids) if path.endswith(".py")}


def check(snapshot: Snapshot, model: Model) -> None:
    """One generation, whole: rows, symbols and words speak of the same version of every file."""
    seen: dict[str, int] = {}
    for file in snapshot.files():
        if not file.path.endswith(".py"):
            continue
        (name,) = {item.symbol.name for item in snapshot.symbols_in(file)}
        number, version = map(int, re.fullmatch(r"symbol(\d+)x(\d+)", name).groups())
        assert sources(snapshot, snapshot.files_with_word(f"word{number}x{version}")) == {file.path}
        assert sources(snapshot, snapshot.files_with_word(f"file{number}")) == {file.path}
        assert sources(snapshot, snapshot.candidate_files(f"ord{number}x{version} ")) == {file.path}
        assert {item.path for item in snapshot.symbols_named(name)} == {file.path}
        seen[file.path] = version
    for path, version in model.promised.items():
        if path in model.tree:
            assert version <= seen[path] <= model.tree[path], path
    assert snapshot.searcher.num_docs >= len(seen)


def snapshot_of(index: WorkspaceIndex, model: Model) -> Snapshot | None:
    """What a reader gets right after the kill; nothing only when nothing was ever promised."""
    try:
        return index.snapshot()
    except SightlineError as error:
        assert error.code is ErrorCode.INDEX_NOT_READY, error
        assert not model.promised
        return None


@pytest.mark.parametrize("between", [False, True], ids=["any time", "between the two commits"])
def test_kills_lose_tear_and_wedge_nothing(tmp_path: Path, between: bool) -> None:
    chance = random.Random(SEED)
    model = Model(tmp_path / "tree")
    model.root.mkdir()
    folder = tmp_path / "index"
    for number in range(KILLS if not between else max(4, KILLS // 4)):
        if number % 6 == 5:
            shutil.rmtree(folder)
            model.promised = {}
        live_and_die(model, folder, chance, chance.randint(1, 4) if between else 0)
        with opened(model.root, folder, limits=LIMITS) as index:
            state = index.status()
            assert state.schema_status in (SchemaStatus.COMPATIBLE, SchemaStatus.NOT_INDEXED), state.problem
            if (found := snapshot_of(index, model)) is not None:
                with found as snapshot:
                    check(snapshot, model)
            if number % 3 == 2:
                run(index)
                assert index.status().recovery is None
                with index.snapshot() as snapshot:
                    check(snapshot, model)
                    assert {file.path for file in snapshot.files() if file.path.endswith(".py")} == set(model.tree)
    assert model.promises > 0 or between, "no job ever finished: the harness proves nothing"
    assert model.kills_at_work > 0, "no kill hit a running job: the harness proves nothing"


def test_the_next_start_reports_what_was_interrupted_until_a_job_ends_well(tmp_path: Path) -> None:
    model = Model(tmp_path / "tree")
    model.root.mkdir()
    live_and_die(model, tmp_path / "index", random.Random(1), 1)
    with opened(model.root, tmp_path / "index", limits=LIMITS) as index:
        report = index.status().recovery
        assert report is not None
        assert report.detected
        assert len(report.interrupted_jobs) == 1
        assert report.last_interrupted_at
        assert index.status().recent_jobs[0].state is JobState.INTERRUPTED
        run(index)
        assert index.status().recovery is None
