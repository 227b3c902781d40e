"""Which files a pass reads again although their stat is the one they were indexed under."""

from __future__ import annotations

import pytest

from sightline_core.limits import DEFAULT_LIMITS
from sightline_indexer.manifest import KnownFile
from sightline_indexer.pipeline import Tally, tasks_of
from sightline_indexer.walk import FoundFile

BEGAN_NS = 1_700_000_000_000_000_000
LONG_BEFORE_NS = BEGAN_NS - 900_123_456
JUST_BEFORE_NS = BEGAN_NS - 10_123_456


@pytest.mark.parametrize(
    ("mtime_ns", "read", "racy", "again"),
    [
        (LONG_BEFORE_NS, {"a.py"}, 1, False),
        (LONG_BEFORE_NS, {"b.py"}, 1, True),
        (LONG_BEFORE_NS, set(), 0, False),
        # The clock of the file system may not have moved between the change and the reading.
        (JUST_BEFORE_NS, {"a.py"}, 1, True),
        (BEGAN_NS - 1_000_000_000, {"a.py"}, 1, True),
    ],
)
def test_a_job_does_not_read_again_what_it_has_read_since_it_changed(
    mtime_ns: int, read: set[str], racy: int, again: bool
) -> None:
    known = {"a.py": KnownFile(10, mtime_ns, 7, racy, b"digest")}
    found = {"a.py": FoundFile("a.py", 10, mtime_ns, 7)}
    tally = Tally(read=read, began_ns=BEGAN_NS)
    assert bool(list(tasks_of(found, known, tally, DEFAULT_LIMITS, reread=False))) is again
    assert list(tasks_of(found, known, tally, DEFAULT_LIMITS, reread=True))


def test_a_file_that_looks_different_is_read_again_also_by_the_same_job() -> None:
    known = {"a.py": KnownFile(10, LONG_BEFORE_NS, 7, 1, b"digest")}
    found = {"a.py": FoundFile("a.py", 11, LONG_BEFORE_NS, 7)}
    tally = Tally(read={"a.py"}, began_ns=BEGAN_NS)
    assert list(tasks_of(found, known, tally, DEFAULT_LIMITS, reread=False))
