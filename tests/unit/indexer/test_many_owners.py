"""Many processes on one index: one writes at a time, all read, none fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.index_kit import opened, paths_with_word, run, write_tree

PROCESSES = 8
PROGRAM = """
import sys
from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.paths import RepoRoot
from sightline_indexer.workspace_index import WorkspaceIndex
index = WorkspaceIndex(RepoRoot(sys.argv[1]), sys.argv[2], DEFAULT_LIMITS, watch=False)
index.open()
job = index.start_job(mode=None, force=False, reason="start")
assert job.wait(60), "not finished"
with index.snapshot() as snapshot:
    found = len(snapshot.files_with_word("shared").file_ids)
index.close()
print(job.state.value, job.changed_files, found)
"""


def test_processes_that_start_at_once_index_once(tmp_path: Path) -> None:
    root, folder = tmp_path / "tree", tmp_path / "index"
    write_tree(root, {f"f{n}.py": f"word{n} = shared\n" for n in range(50)})
    command = [sys.executable, "-c", PROGRAM, str(root), str(folder)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(PROCESSES)
    ]
    answers = []
    for process in running:
        out, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        answers.append(out.split())
    assert {(state, found) for state, _, found in answers} == {("published", "50")}
    assert sorted(int(changed) for _, changed, _ in answers) == [0] * (PROCESSES - 1) + [50]
    with opened(root, folder) as index:
        assert run(index).changed_files == 0
        with index.snapshot() as snapshot:
            assert paths_with_word(snapshot, "word7") == {"f7.py"}
