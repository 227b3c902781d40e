"""The process that is killed: changes a tree step by step, indexes each step, and says what it was promised.

Each file holds its number and version as words and as a symbol, so that whoever looks at the index later can tell
which version of which file every part of it speaks of.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.paths import RepoRoot
from sightline_core.types import JobState
from sightline_indexer.workspace_index import WorkspaceIndex

FILES = 90
STRIDE = 7
# Publishes in the middle of a pass too, as it happens with trees a thousand times as large.
LIMITS = replace(DEFAULT_LIMITS, index_first_commit_s=0.02, index_commit_factor=1.2, worker_batch_files=8)


def content(number: int, version: int) -> str:
    return f"def symbol{number}x{version}():\n    return word{number}x{version}  # file{number}\n" * 3


def effect(step: int) -> tuple[list[int], int]:
    """The files that a step gives its number as version, and the one that it removes."""
    changed = [number for number in range(FILES) if (number + step) % STRIDE == 0 or (step == 0 and number != 1)]
    return changed, step % FILES


def name_of(number: int) -> str:
    return f"d{number % 5}/f{number}.py"


def change(root: Path, step: int) -> None:
    changed, removed = effect(step)
    for number in changed:
        path = root / name_of(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".tmp")
        temporary.write_text(content(number, step))
        temporary.replace(path)
    (root / name_of(removed)).unlink(missing_ok=True)


def main() -> None:
    root, folder, first, kill_between = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    commits = 0

    def between() -> None:
        nonlocal commits
        commits += 1
        if commits == kill_between:
            os.kill(os.getpid(), signal.SIGKILL)

    index = WorkspaceIndex(RepoRoot(str(root)), folder, LIMITS, watch=False, between_commits=between)
    index.open()
    print("ready", flush=True)
    step = first
    while True:
        change(root, step)
        job = index.start_job(mode=None, force=step % 11 == 10, reason="crash")
        job.wait(60)
        if job.state is not JobState.PUBLISHED:
            raise SystemExit(f"step {step}: {job.error}")
        print(f"published {step}", flush=True)
        step += 1


if __name__ == "__main__":
    main()
