"""The table of names: records by key, in buckets whose parts are joined now and then."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline_core.limits import DEFAULT_LIMITS
from sightline_indexer import name_table
from sightline_indexer.name_keys import BUCKETS, bucket_and_needle, case_mark, owner_mark, pack_keys
from sightline_indexer.name_table import NameTableWriter, find_records
from sightline_indexer.records import SymbolEntry

LIMITS = replace(DEFAULT_LIMITS, max_name_parts=3)


@pytest.fixture
def database():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(name_table.TABLE + "CREATE TABLE files (id INTEGER PRIMARY KEY);")
    yield connection
    connection.close()


def entry(name: str, line: int = 1, container: str = "") -> SymbolEntry:
    return SymbolEntry(name, "", container, 5, line, 1, line, 1, line, 5)


def put(database, writer: NameTableWriter, file_id: int, entries: list[SymbolEntry]) -> None:
    database.execute("INSERT OR REPLACE INTO files VALUES (?)", (file_id,))
    writer.add(pack_keys(entries), file_id)


def places(database, name: str) -> set[tuple[int, int, int]]:
    return {(file_id, ordinal, line) for file_id, ordinal, _, line, _ in find_records(database, name)}


def parts(database) -> list[int]:
    return [row[0] for row in database.execute("SELECT id >> 32, count(*) FROM names GROUP BY 1 HAVING count(*) > 3")]


def test_a_name_is_found_in_any_case_and_marks_tell_cases_and_owners_apart(database) -> None:
    writer = NameTableWriter(database, LIMITS)
    put(database, writer, 7, [entry("Pod", 3), entry("pod", 9, "pkg.Spec"), entry("Node", 12)])
    writer.flush()
    assert places(database, "POD") == {(7, 0, 3), (7, 1, 9)}
    assert {record[4] for record in find_records(database, "pod", case=case_mark("Pod"))} == {False}
    assert [record[3] for record in find_records(database, "pod", case=case_mark("pod"))] == [9]
    assert [record[3] for record in find_records(database, "pod", owner=owner_mark("spec"))] == [3, 9]
    assert [record[3] for record in find_records(database, "pod", owner=owner_mark("pkg"))] == [3]
    assert {record[2] for record in find_records(database, "pod")} == {5}
    assert places(database, "Pods") == set()


def test_records_of_files_that_are_gone_leave_when_parts_are_joined(database) -> None:
    writer = NameTableWriter(database, LIMITS)
    for file_id in range(1, 12):
        put(database, writer, file_id, [entry("run", file_id)])
        writer.flush()
        database.execute("DELETE FROM files WHERE id < ?", (file_id,))
    found = {file_id for file_id, _, _ in places(database, "run")}
    assert 11 in found
    assert len(found) <= LIMITS.max_name_parts + 1


def test_what_was_rolled_back_is_forgotten(database) -> None:
    writer = NameTableWriter(database, LIMITS)
    put(database, writer, 1, [entry("kept")])
    writer.flush()
    database.execute("BEGIN")
    put(database, writer, 2, [entry("lost")])
    writer.flush()
    database.execute("ROLLBACK")
    writer.forget()
    put(database, writer, 3, [entry("later")])
    writer.flush()
    assert [bool(places(database, name)) for name in ("kept", "lost", "later")] == [True, False, True]


@settings(max_examples=30)
@given(st.lists(st.lists(st.sampled_from(["run", "Run", "x", "été", "operator=="]), max_size=6), max_size=12))
def test_every_definition_is_found_whatever_was_joined(generations) -> None:
    with sqlite3.connect(":memory:", isolation_level=None) as database:
        database.executescript(name_table.TABLE + "CREATE TABLE files (id INTEGER PRIMARY KEY);")
        writer = NameTableWriter(database, LIMITS)
        expected: dict[str, set[tuple[int, int, int]]] = {}
        for file_id, names in enumerate(generations, 1):
            put(database, writer, file_id, [entry(name, line) for line, name in enumerate(names, 1)])
            writer.flush()
            for at, name in enumerate(names):
                expected.setdefault(name.lower(), set()).add((file_id, at, at + 1))
        for name, found in expected.items():
            assert places(database, name) == found
        assert parts(database) == []
    database.close()


def test_names_spread_over_all_buckets() -> None:
    used = {bucket_and_needle(f"name{number}")[0] for number in range(20 * BUCKETS)}
    assert used == set(range(BUCKETS))
