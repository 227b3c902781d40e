"""After any sequence of edits the index answers like a fresh one."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.index_kit import opened, paths_of, paths_with_word, picture, run

NAMES = st.sampled_from(["a.py", "b.py", "d/a.py", "d/e/c.py", "d/b.txt", "x.md"])
WORDS = st.sampled_from(
    ["alpha", "betaGamma", "delta_one", "ÉtéNoir", "\0", "def f(): pass\n", "class K:\n  x = 1\n"]
)
EDITS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.lists(WORDS, max_size=4)),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("remove folder"), st.sampled_from(["d", "d/e"])),
    st.tuples(st.just("sync")),
    st.tuples(st.just("sync paths")),
    st.tuples(st.just("reopen")),
)
PROBES = ("alpha", "betaGamma", "delta_one", "ÉtéNoir", "taGam", "a_on", "tén")


def edit(root: Path, kind: str, *what) -> set[str]:
    """Do one edit; returns the paths it touched, as a watcher would name them."""
    if kind == "write":
        path = root / what[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(" ".join(what[1]))
        return {what[0]}
    if kind == "delete":
        (root / what[0]).unlink(missing_ok=True)
        return {what[0]}
    if kind == "rename" and (root / what[0]).exists():
        (root / what[1]).parent.mkdir(parents=True, exist_ok=True)
        (root / what[0]).replace(root / what[1])
        return {what[0], what[1]}
    if kind == "remove folder":
        shutil.rmtree(root / what[0], ignore_errors=True)
        return {what[0]}
    return set()


def answers(snapshot) -> dict[str, object]:
    found: dict[str, object] = {"files": picture(snapshot)}
    for probe in PROBES:
        candidates = snapshot.candidate_files(probe)
        found[probe] = (
            paths_with_word(snapshot, probe),
            None if candidates is None else paths_of(snapshot, candidates.file_ids),
        )
    found["f"] = [(item.path, item.symbol) for item in snapshot.symbols_named("f")]
    found["K"] = [(item.path, item.symbol) for item in snapshot.symbols_with_prefix("k")]
    return found


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(EDITS, min_size=3, max_size=14))
def test_an_index_that_grew_by_edits_answers_like_a_fresh_one(edits) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "tree"
        root.mkdir()
        folder = Path(place) / "index"
        opening = opened(root, folder)
        index = opening.__enter__()
        try:
            run(index)
            touched: set[str] = set()
            for kind, *what in edits:
                touched |= edit(root, kind, *what)
                if kind == "sync":
                    run(index)
                    touched = set()
                elif kind == "sync paths" and touched:
                    run(index, paths=frozenset(touched))
                    touched = set()
                elif kind == "reopen":
                    opening.__exit__(None, None, None)
                    opening = opened(root, folder)
                    index = opening.__enter__()
            if touched:
                run(index, paths=frozenset(touched))
            with index.snapshot() as grown, opened(root, Path(place) / "fresh") as fresh:
                run(fresh)
                with fresh.snapshot() as new:
                    assert answers(grown) == answers(new)
        finally:
            opening.__exit__(None, None, None)
