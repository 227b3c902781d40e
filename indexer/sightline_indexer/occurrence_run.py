"""Occurrences of a name in many files, found by a process that can be killed.

**Invariant**: a file that hangs or kills the parser costs itself alone and is told of; nothing outlives the deadline.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from sightline_core.limits import Limits
from sightline_indexer.occurrence_process import FileAnswer, Question
from sightline_indexer.occurrences import Occurrence


@dataclass(frozen=True, slots=True)
class OccurrenceRun:
    """What was found by path; `failed` are files that could not be read or parsed, `cut` when time was over."""

    found: Mapping[str, tuple[Occurrence, ...]]
    failed: tuple[str, ...] = ()
    cut: bool = False


def occurrences_in(
    root: str, files: Sequence[tuple[str, str]], name: str, limits: Limits, timeout_s: float
) -> OccurrenceRun:
    """Where `name` stands in files, given as path and language, in their order. Blocks; use a thread."""
    deadline = time.monotonic() + timeout_s
    found: dict[str, tuple[Occurrence, ...]] = {}
    failed: list[str] = []
    left = list(files)
    while left:
        answers = _ask(Question(root, name, tuple(left), limits), deadline)
        for (path, _), answer in zip(left, answers, strict=False):
            if not answer.read:
                failed.append(path)
            elif answer.occurrences:
                found[path] = answer.occurrences
        left = left[len(answers) :]
        if left and time.monotonic() >= deadline:
            return OccurrenceRun(found, tuple(failed), cut=True)
        if left:
            # The process died at the first file without an answer.
            failed.append(left.pop(0)[0])
    return OccurrenceRun(found, tuple(failed))


def _ask(question: Question, deadline: float) -> list[FileAnswer]:
    process = subprocess.Popen(
        # -P and the directory: nothing that lies in a searched repository is ever imported.
        [sys.executable, "-P", "-m", "sightline_indexer.occurrence_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=os.sep,
        start_new_session=True,
    )
    with process:
        try:
            output, _ = process.communicate(msgspec.msgpack.encode(question), max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
        finally:
            process.kill()
    decoder = msgspec.json.Decoder(FileAnswer)
    # What follows the last line break was being written when the process died.
    return [decoder.decode(line) for line in output.split(b"\n")[:-1]]
