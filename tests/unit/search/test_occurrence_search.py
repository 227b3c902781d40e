"""References by words and syntax, parsed in processes that can be killed."""

from __future__ import annotations

import dataclasses
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.types import Note
from sightline_indexer.occurrence_process import FindRequest
from sightline_indexer.occurrence_workers import OccurrenceWorkers
from sightline_indexer.occurrences import OccurrenceRole
from sightline_search.occurrence_search import Reference, find_references
from support.scan_kit import Tree, make_tree

FILES = {
    "shop/cart.py": b"def total(items):\n    '''total of items'''\n    return sum(items)  # total\n",
    "shop/page.py": b"from shop.cart import total\n\n\nclass Page:\n    def show(self):\n        return total([1])\n",
    "tests/test_cart.py": b"from shop.cart import total\n\n\ndef test_total():\n    assert total([]) == 0\n",
    "web/app.go": b"package web\n\nfunc total() int { return 1 }\n",
    "README.md": b"call total(items)\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    made = make_tree(tmp_path_factory.mktemp("occurrences"), FILES)
    yield made
    made.store.close()


@pytest.fixture(scope="module")
def workers(tree: Tree) -> Iterator[OccurrenceWorkers]:
    made = OccurrenceWorkers(tree.root, DEFAULT_LIMITS, 2)
    yield made
    made.close()


def ask(
    tree: Tree, workers: OccurrenceWorkers, name: str, *, language: str = "", limits: Limits = DEFAULT_LIMITS
) -> tuple[tuple[Reference, ...], tuple[Note, ...]]:
    with tree.store.snapshot() as snapshot:
        deadline = time.monotonic() + 20
        return find_references(snapshot, workers, name, language=language, limits=limits, deadline=deadline)


def test_uses_are_found_with_role_and_enclosing_definition(tree: Tree, workers: OccurrenceWorkers) -> None:
    references, notes = ask(tree, workers, "total", language="python")
    assert notes == ()
    assert [(one.path, one.line, one.column, one.role.value, one.symbol) for one in references] == [
        ("shop/cart.py", 1, 5, "definition", "total"),
        ("shop/page.py", 1, 23, "import", ""),
        ("shop/page.py", 6, 16, "call", "Page.show"),
        ("tests/test_cart.py", 1, 23, "import", ""),
        ("tests/test_cart.py", 5, 12, "call", "test_total"),
    ]
    assert references[2].text == "        return total([1])"


def test_equal_names_of_other_languages_are_found_unless_left_out(tree: Tree, workers: OccurrenceWorkers) -> None:
    references, _ = ask(tree, workers, "total")
    assert {one.path for one in references if one.role is OccurrenceRole.DEFINITION} == {"shop/cart.py", "web/app.go"}


@pytest.mark.parametrize("name", ["nowhere", "", "\x00", "x" * 100_000])
def test_a_name_that_is_nowhere_has_no_uses(tree: Tree, workers: OccurrenceWorkers, name: str) -> None:
    assert ask(tree, workers, name) == ((), ())


def test_bounds_are_told(tree: Tree, workers: OccurrenceWorkers) -> None:
    few_files = dataclasses.replace(DEFAULT_LIMITS, max_reference_files=1)
    assert [note.code for note in ask(tree, workers, "total", limits=few_files)[1]] == ["references_files_cut"]
    few = dataclasses.replace(DEFAULT_LIMITS, max_references=1)
    references, notes = ask(tree, workers, "total", limits=few)
    assert len(references) == 1
    assert [note.code for note in notes] == ["references_cut"]
    hurried = dataclasses.replace(DEFAULT_LIMITS, references_budget_s=0.0)
    assert [note.code for note in ask(tree, workers, "total", limits=hurried)[1]] == ["references_deadline"]


def test_a_file_whose_parser_does_not_return_costs_that_file_alone(tmp_path: Path) -> None:
    deep = b"total(" * 150_000 + b"1" + b")" * 150_000
    slow = dataclasses.replace(DEFAULT_LIMITS, max_parse_ms=1, max_file_bytes=4 * 1024 * 1024)
    tree = make_tree(tmp_path, {"deep.py": b"x = 1\n", "good.py": FILES["shop/cart.py"]})
    Path(tree.root.path, "deep.py").write_bytes(deep)
    workers = OccurrenceWorkers(tree.root, slow, 1)
    try:
        requests = [FindRequest("deep.py", "python", "total"), FindRequest("good.py", "python", "total")]
        found = {one.answer.path: one for one in workers.find(requests, time.monotonic() + 20)}
    finally:
        workers.close()
    assert found["deep.py"].unparsable
    assert found["good.py"].unparsable or len(found["good.py"].answer.found) == 1
    assert set(found) == {"deep.py", "good.py"}


def test_files_outside_the_root_are_not_read(tree: Tree, workers: OccurrenceWorkers, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_bytes(b"total = 1\n")
    link = Path(tree.root.path, "link.py")
    link.symlink_to(tmp_path / "secret.py")
    requests = [
        FindRequest(path, "python", "total") for path in ("link.py", "../secret.py", "/etc/passwd", "gone.py")
    ]
    found = list(workers.find(requests, time.monotonic() + 20))
    link.unlink()
    assert [one.answer.readable for one in found] == [False] * 4


def test_a_call_ends_at_its_deadline_and_leaves_no_process(tmp_path: Path) -> None:
    big = b"total(1)\n" * 100_000
    tree = make_tree(tmp_path, {"a.py": b"x = 1\n"})
    for number in range(20):
        Path(tree.root.path, f"f{number}.py").write_bytes(big)
    workers = OccurrenceWorkers(tree.root, DEFAULT_LIMITS, 1)
    started = time.monotonic()
    requests = [FindRequest(f"f{number}.py", "python", "total") for number in range(20)]
    found = list(workers.find(requests, started + 0.7))
    assert len(found) < 20
    assert time.monotonic() - started < 5
    # The process that was at work is gone, so that the next call does not wait for it.
    assert workers._processes == []
    workers.close()


def test_calls_from_several_threads_take_turns(tree: Tree, workers: OccurrenceWorkers) -> None:
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda: answers.append(len(ask(tree, workers, "total", language="python")[0])))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert answers == [5, 5, 5, 5]
    assert signal.getsignal(signal.SIGPROF) == signal.SIG_DFL
