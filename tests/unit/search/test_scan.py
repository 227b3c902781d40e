"""Literal and regular-expression search over a real index."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import re2

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS
from sightline_search.model import DetailLevel, FileCount, Filters, Intent
from support.scan_kit import FILES, Tree, generated_files, make_tree


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    made = make_tree(tmp_path_factory.mktemp("scan"), {**FILES, **generated_files(3, 150)})
    yield made
    made.store.close()


def test_a_match_names_its_place_its_line_and_the_definition_around_it(tree: Tree) -> None:
    hit = tree.search(r"data\.split").hits[0]
    assert (hit.path, hit.line, hit.end_line, hit.column, hit.end_column) == ("src/parse.py", 10, 10, 16, 26)
    assert (hit.kind, hit.name, hit.language, hit.symbol) == (
        "text",
        "data.split",
        "python",
        "HTTPParser.parse_request",
    )
    assert hit.signature.strip() == "return data.split('\\r\\n')"
    assert not hit.drifted


def test_columns_count_code_points(tree: Tree) -> None:
    (hit,) = tree.search("world", regex=False).hits
    assert (hit.path, hit.column, hit.end_column) == ("src/unicode.txt", 20, 25)


def test_intent_tells_the_two_modes_apart(tree: Tree) -> None:
    assert tree.search("a.b").intent is Intent.REGEX
    assert tree.search("a.b", regex=False).intent is Intent.LITERAL


def test_case_counts_unless_told_otherwise(tree: Tree) -> None:
    assert tree.search("httpparser", regex=False).hits == ()
    assert len(tree.search("httpparser", regex=False, case_sensitive=False).hits) == 2
    assert len(tree.search("(?i)httpparser").hits) == 2


def test_code_comes_before_tests_and_vendored_files(tree: Tree) -> None:
    paths = [path for path, _, _ in tree.every_match(r"return|assert") if path.startswith(("src", "tests", "v"))]
    places = {path: paths.index(path) for path in paths}
    assert places["src/server.go"] < places["tests/test_parse.py"] < places["vendor/lib/util.go"]


@pytest.mark.parametrize("limit", [1, 7, 100])
def test_pages_join_to_the_whole_without_gap_or_repetition(tree: Tree, limit: int) -> None:
    whole = tree.every_match("return")
    assert len(whole) > 100
    assert tree.every_match("return", limit=limit) == whole


def test_a_cursor_of_another_question_is_refused(tree: Tree) -> None:
    cursor = tree.search("return", limit=1).next_cursor
    for pattern, token in (("import", cursor), ("return", "nonsense"), ("return", cursor + "x")):
        with pytest.raises(SightlineError) as caught:
            tree.search(pattern, limit=1, cursor=token)
        assert caught.value.code is ErrorCode.INVALID_INPUT


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        (Filters(language="go"), {"src/server.go", "vendor/lib/util.go"}),
        (Filters(paths=("src",), language="go"), {"src/server.go"}),
        (Filters(exclude=("d*", "src/")), {"vendor/lib/util.go"}),
        (Filters(exclude=("d?", "vendor"), include_tests=False), {"src/server.go"}),
    ],
)
def test_filters_leave_files_out(tree: Tree, filters: Filters, paths: set[str]) -> None:
    found = {path for path, _, _ in tree.every_match(r"func \w*.*error", filters=filters)}
    assert found == paths


def test_counts_are_those_of_all_matching_lines(tree: Tree) -> None:
    result = tree.search("return", count_only=True)
    whole = tree.every_match("return")
    assert result.hits == ()
    assert {count.path: count.matches for count in result.counts} == {
        path: sum(1 for match in whole if match[0] == path) for path, _, _ in whole
    }
    assert result.total_candidates == len(whole)


def test_matches_span_lines_only_when_the_pattern_asks_for_it(tree: Tree) -> None:
    assert tree.search(r"import os\s+import").hits == ()
    for pattern in (r"import os\nimport sys", r"(?s)import os.import sys"):
        (hit,) = tree.search(pattern).hits
        assert (hit.path, hit.line, hit.end_line, hit.column, hit.end_column) == ("src/parse.py", 1, 2, 1, 11)
    assert len(tree.search("import os\nimport sys", regex=False).hits) == 1


def test_long_lines_are_cut_around_the_match(tree: Tree) -> None:
    (hit,) = tree.search("needle", regex=False, detail=DetailLevel.CONTEXT).hits
    assert "needle" in hit.signature
    assert len(hit.signature) <= DEFAULT_LIMITS.max_line_chars
    assert hit.column == 80_007
    assert [line.number for line in hit.lines] == [1, 2]
    assert "needle" in hit.lines[0].text


def test_context_shows_the_lines_around(tree: Tree) -> None:
    (hit,) = tree.search("http_request", regex=False, detail=DetailLevel.CONTEXT).hits
    assert [line.number for line in hit.lines] == [8, 9, 10, 11, 12]


@pytest.mark.parametrize(
    ("pattern", "word"),
    [("(?=a)b", "(?="), ("(?<!a)b", "(?<!"), (r"(a)\1", r"\1"), ("(a", "missing"), ("[z-a]", "z-a"), ("a**", "**")],
)
def test_a_wrong_pattern_is_refused_naming_the_reason(tree: Tree, pattern: str, word: str) -> None:
    with pytest.raises(SightlineError) as caught:
        tree.search(pattern)
    assert caught.value.code is ErrorCode.INVALID_INPUT
    assert word in caught.value.message


@pytest.mark.parametrize(
    "pattern", ["", "x" * 100_000, "\ud800", r"(?i)\pL{1,900}c", "((a{30}){30}){30}", "(" * 9_000]
)
def test_a_pattern_beyond_the_bounds_is_refused(tree: Tree, pattern: str) -> None:
    with pytest.raises(SightlineError) as caught:
        tree.search(pattern)
    assert caught.value.code is ErrorCode.INVALID_INPUT


def test_the_engine_keeps_no_pattern_of_a_caller(tree: Tree) -> None:
    for number in range(20):
        tree.search(rf"(x+x+)+y{number}")
    assert re2._Regexp._make.cache_info().currsize <= 1


def test_a_bomb_ends_within_the_budget(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, {f"f{n}.txt": b"ab" * 400_000 + b"\n" for n in range(20)})
    started = time.monotonic()
    for pattern in (r"(a|b|ab|ba){1,900}c", r"[ab]{0,1000}c", r"(x+x+)+y", r"(a*)*$c", r".*.*.*.*=.*"):
        tree.search(pattern)
    assert time.monotonic() - started < 5 * 2 * DEFAULT_LIMITS.scan_budget_s


def test_time_that_runs_out_is_told_and_the_next_page_goes_on(tree: Tree) -> None:
    hurried = dataclasses.replace(DEFAULT_LIMITS, scan_budget_s=0.0)
    result = tree.search(r"[a-z]+\d{9}", limits=hurried)
    assert [note.code for note in result.cuts] == ["scan_deadline"]
    assert f"0 of {len(tree.paths())} files" in result.cuts[0].message
    assert tree.search(r"[a-z]+\d{9}", cursor=result.next_cursor).cuts == ()
    counted = tree.search(r"return", limits=hurried, count_only=True)
    assert [note.code for note in counted.cuts] == ["scan_deadline"]


def test_changed_files_are_searched_as_they_are_on_disk(tmp_path: Path) -> None:
    tree = make_tree(
        tmp_path, {"a.py": b"def f():\n    needle = 1\n", "b.py": b"needle = 2\n", "c.py": b"needle = 3\n"}
    )
    root = Path(tree.root.path)
    (root / "a.py").write_bytes(b"\n\ndef f():\n    needle = 1\n")
    (root / "b.py").write_bytes(b"changed = 2\n")
    (root / "c.py").unlink()
    result = tree.search("needle", regex=False)
    assert [(hit.path, hit.line, hit.drifted, hit.symbol) for hit in result.hits] == [("a.py", 4, True, "")]
    assert [note.code for note in result.notes] == ["index_drift"]


def test_a_file_replaced_by_a_link_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_bytes(b"needle outside\n")
    tree = make_tree(tmp_path, {"a.py": b"needle = 1\n", "d/b.py": b"needle = 2\n"})
    root = Path(tree.root.path)
    (root / "a.py").unlink()
    (root / "a.py").symlink_to(secret)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.py").write_bytes(b"needle outside\n")
    (root / "d" / "b.py").unlink()
    (root / "d").rmdir()
    (root / "d").symlink_to(tmp_path / "outside")
    assert tree.search("needle", regex=False).hits == ()
    os.mkfifo(root / "pipe")
    assert tree.search("outside", regex=False).hits == ()


def test_an_unchanged_answer_carries_no_note(tree: Tree) -> None:
    result = tree.search("HTTPParser", regex=False)
    assert (result.cuts, result.holes, result.notes) == ((), (), ())
    assert result.total_candidates == 2


def test_many_files_in_threads_give_the_same_as_one_after_the_other(tree: Tree) -> None:
    alone = dataclasses.replace(DEFAULT_LIMITS, scan_threads=1, scan_first_files=1, scan_batch_files=1)
    crowd = dataclasses.replace(DEFAULT_LIMITS, scan_threads=4, scan_first_files=1, scan_batch_files=2)
    for limit in (3, 50, 1000):
        one = tree.search(r"\w+\d", limit=limit, limits=alone)
        other = tree.search(r"\w+\d", limit=limit, limits=crowd)
        assert one == other
    assert tree.search("x", count_only=True, limits=alone) == tree.search("x", count_only=True, limits=crowd)


def test_counts_beyond_the_bound_are_cut_and_told(tree: Tree) -> None:
    few = dataclasses.replace(DEFAULT_LIMITS, max_counted_files=2)
    result = tree.search("return", count_only=True, limits=few)
    assert len(result.counts) == 2
    assert isinstance(result.counts[0], FileCount)
    assert [note.code for note in result.cuts] == ["counts_cut"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"\Aimport os", {("src/parse.py", 1), ("src/bom.py", 1), ("src/utf16.txt", 1)}),
        (r"\A(import|value) \w+", {("src/parse.py", 1), ("src/bom.py", 1), ("src/utf16.txt", 1)}),
        (r"end'\z", {("src/no_final_newline.py", 2)}),
        (r"(?-m)^package \w+", {("src/server.go", 1), ("vendor/lib/util.go", 1)}),
    ],
)
def test_the_begin_and_the_end_of_a_file_can_be_asked_for(
    tree: Tree, pattern: str, expected: set[tuple[str, int]]
) -> None:
    assert {(path, line) for path, line, _ in tree.every_match(pattern)} == expected
