"""Quoted phrases: words narrow, the text decides, and what was not looked at is said."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.paths import RepoRoot
from sightline_search.phrases import PhraseFiles, find_phrases
from support.indexed import index_tree, snapshot_of, write_tree

TREE = {
    "a.py": "# the quick\n# Brown fox\n",
    "b.py": "brown_fox = quick_brown\n",
    "c.md": "A fox, brown and quick. Not a brown-fox? Quick brown  fox!\n",
    "d.txt": "Le café noir, pas la noir café\n",
    "e.txt": "naïvebrown fox\n",
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("tree")
    write_tree(str(root), TREE)
    folder = index_tree(RepoRoot(str(root)), str(tmp_path_factory.mktemp("index")))
    return root, folder


@contextmanager
def phrases(asked: tuple[Path, str], *texts: str, limits: Limits = DEFAULT_LIMITS) -> Iterator[PhraseFiles]:
    root, folder = asked
    with snapshot_of(folder) as snapshot:
        yield find_phrases(snapshot, RepoRoot(str(root)), texts, limits, time.monotonic() + 60)


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("brown fox", {"a.py", "c.md"}),
        ("Quick, BROWN", {"a.py", "c.md"}),
        ("café noir", {"d.txt"}),
        ("Noir Café", {"d.txt"}),
        ("brown_fox", {"b.py"}),
        ("fox", {"a.py", "c.md", "e.txt"}),
    ],
)
def test_words_must_follow_each_other_as_whole_words(asked, phrase: str, expected: set[str]) -> None:
    with phrases(asked, phrase) as found:
        assert [set(paths) for paths in found.required] == [expected]
        assert (found.missing, found.cuts) == ((), ())


def test_a_phrase_that_no_file_holds_is_missing(asked) -> None:
    with phrases(asked, "quick and", "never written", "brown fox", "?!") as found:
        assert found.missing == ("quick and", "never written")
        assert len(found.required) == 1
        assert found.cuts == ()


def test_files_that_were_not_looked_at_are_told_and_nothing_is_called_missing(asked) -> None:
    with phrases(asked, "fox quick", limits=replace(DEFAULT_LIMITS, max_phrase_files=1)) as found:
        assert found.missing == ()
        assert [note.code for note in found.cuts] == ["phrase_cut"]
