"""Every row of the completeness table, each fault beside the healthy twin that must stay `complete`."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from sightline_core.errors import ErrorCode
from sightline_core.types import Completeness, Note, Source, SourceStatus
from sightline_server.completeness import Facts, ToolKind, decide

CUT = Note("max_tokens", "Cut at 100 tokens.")
HOLE = Note("first_index", "The first index is still running.")
REMARK = Note("drift", "A file changed since it was indexed.")
SILENT = ("starting", "indexing", "timeout", "down", "untrusted")
COMPLETE, PARTIAL, TRUNCATED = Completeness.COMPLETE, Completeness.PARTIAL, Completeness.TRUNCATED
INDEX, SEARCH, NAVIGATION = ToolKind.INDEX, ToolKind.SEARCH, ToolKind.NAVIGATION


def facts(*sources: Source, cuts: int = 0, holes: int = 0, notes: int = 0) -> Facts:
    return Facts((CUT,) * cuts, (HOLE,) * holes, (REMARK,) * notes, sources or None)


def server(status: str, language: str = "python", *, expected: bool = True) -> Source:
    return Source(language, SourceStatus(status), server="ty", expected=expected)


@dataclass(frozen=True)
class Row:
    """One situation of the contract: the fault, the label it must have, and its healthy twin."""

    situation: str
    kind: ToolKind
    fault: Facts
    label: Completeness
    twin: Facts
    codes: tuple[str, ...] = ()


OK = server("ok")
ROWS = [
    Row("the first index is running", INDEX, facts(holes=1), PARTIAL, facts(), ("first_index",)),
    Row("the first index is running, servers fine", SEARCH, facts(OK, holes=1), PARTIAL, facts(OK), ("first_index",)),
    Row("a file could not be read", NAVIGATION, facts(OK, holes=1), PARTIAL, facts(OK), ("first_index",)),
    *(
        Row(f"an expected server is {status}", kind, facts(server(status)), PARTIAL, facts(OK), (f"lsp_{status}",))
        for status in SILENT
        for kind in (SEARCH, NAVIGATION)
    ),
    *(
        Row(
            f"one of two servers is {status}",
            SEARCH,
            facts(OK, server(status, "go")),
            PARTIAL,
            facts(OK, server("ok", "go")),
            (f"lsp_{status}",),
        )
        for status in SILENT
    ),
    *(
        Row(
            f"navigation falls back: {status}",
            NAVIGATION,
            facts(server(status, expected=False)),
            PARTIAL,
            facts(OK),
            (f"lsp_{status}",),
        )
        for status in ("not_installed", "off", "unsupported", *SILENT)
    ),
    Row("cut", INDEX, facts(cuts=1), TRUNCATED, facts(), ("max_tokens",)),
    Row("cut search", SEARCH, facts(OK, cuts=1), TRUNCATED, facts(OK), ("max_tokens",)),
    Row("cut navigation", NAVIGATION, facts(OK, cuts=1), TRUNCATED, facts(OK), ("max_tokens",)),
    Row(
        "cut wins over a hole",
        SEARCH,
        facts(OK, cuts=1, holes=1),
        TRUNCATED,
        facts(OK),
        ("max_tokens", "first_index"),
    ),
    Row(
        "cut wins over a server",
        SEARCH,
        facts(server("down"), cuts=1),
        TRUNCATED,
        facts(OK),
        ("max_tokens", "lsp_down"),
    ),
]

# What must not be labelled: a label that is always on is worthless.
HEALTHY = [
    ("nothing happened", INDEX, facts()),
    ("every server answered", SEARCH, facts(OK, server("ok", "go"))),
    ("every server answered", NAVIGATION, facts(OK)),
    ("a remark alone", SEARCH, facts(OK, notes=1)),
    *((f"search does not count on it: {status}", SEARCH, facts(server(status, expected=False))) for status in SILENT),
    *(
        (f"the index is the product: {status}", SEARCH, facts(server(status, expected=expected)))
        for status in ("not_installed", "off", "unsupported")
        for expected in (True, False)
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.kind}: {row.situation}")
def test_a_fault_is_labelled_and_its_healthy_twin_is_complete(row: Row) -> None:
    label, warnings = decide(row.kind, row.fault)
    assert label is row.label
    assert tuple(note.code for note in warnings) == row.codes
    assert decide(row.kind, row.twin) == (COMPLETE, ())


@pytest.mark.parametrize(("situation", "kind", "healthy"), HEALTHY)
def test_what_is_no_fault_stays_complete(situation: str, kind: ToolKind, healthy: Facts) -> None:
    assert decide(kind, healthy)[0] is COMPLETE, situation


@pytest.mark.parametrize("status", [status for status in SourceStatus if status is not SourceStatus.OK])
def test_a_warning_names_the_language_that_did_not_answer(status: SourceStatus) -> None:
    source = Source("go", status, server="gopls", detail="exit 1", expected=True)
    _, warnings = decide(NAVIGATION, facts(OK, source))
    (note,) = warnings
    assert (note.language, note.code) == ("go", f"lsp_{status.value}")
    assert note.message.startswith("[go] ")
    assert "exit 1" in note.message


def test_every_kind_and_status_is_decided() -> None:
    for kind in ToolKind:
        for status in SourceStatus:
            for expected in (True, False):
                decide(kind, facts(server(status.value, expected=expected)))


def test_warnings_come_cuts_first_then_holes_then_servers_then_remarks() -> None:
    _, warnings = decide(SEARCH, facts(server("down"), cuts=1, holes=1, notes=1))
    assert [note.code for note in warnings] == ["max_tokens", "first_index", "lsp_down", "drift"]


@pytest.mark.parametrize("code", ErrorCode)
def test_a_call_that_failed_never_says_that_its_answer_is_complete(code: ErrorCode) -> None:
    label, warnings = decide(INDEX, Facts(failure=code))
    assert label is (TRUNCATED if code is ErrorCode.DEADLINE_EXCEEDED else PARTIAL)
    assert not warnings
