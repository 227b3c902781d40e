"""The pool with fake servers: what is started, asked, told and remembered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.types import Position, SourceStatus
from sightline_lsp.answers import DiagnosticsOutcome, ServerState
from sightline_lsp.diagnostics import DiagnosticStore
from sightline_lsp.pool import Root
from sightline_lsp.shapes import WirePublished
from sightline_lsp.watched_files import ChangeKind, FileChange
from support.fake_pool import QUICK, Fake, fake_pool, journal, make_root

AT = Position(1, 5)
HANG = {"do": "hang"}


async def until(fact: Callable[[], Any]) -> Any:
    """Wait for a fact, looking again whenever the loop turns; bounded."""
    with anyio.fail_after(10):
        while not (value := fact()):
            await anyio.wait_all_tasks_blocked()
            await anyio.to_thread.run_sync(lambda: None)
        return value


def received(path: Path, method: str) -> list[dict[str, Any]]:
    return [message for message in journal(path) if message.get("method") == method]


def state(fake: Fake) -> ServerState:
    return fake.pool.status()[0].state


async def test_a_cancelled_question_is_withdrawn_from_the_server(tmp_path: Path) -> None:
    log = tmp_path / "journal"
    script = {"journal": str(log), "on": {"textDocument/hover": [{"do": "nothing"}]}}
    async with fake_pool(tmp_path, python=script) as fake:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fake.pool.hover, fake.root, fake.file(), AT, 30)
            (asked,) = await until(lambda: received(log, "textDocument/hover"))
            tasks.cancel_scope.cancel()
        (withdrawn,) = await until(lambda: received(log, "$/cancelRequest"))
    assert withdrawn["params"] == {"id": asked["id"]}


async def test_an_answer_too_late_for_its_box_serves_the_same_query_again(tmp_path: Path) -> None:
    log = tmp_path / "journal"
    slow = [{"do": "sleep", "s": 0.4}, {"do": "healthy", "method": "workspace/symbol"}]
    script = {"journal": str(log), "on": {"workspace/symbol": slow}}
    async with fake_pool(tmp_path, python=script) as fake:
        await fake.pool.hover(fake.root, fake.file(), AT, 10)
        first = await fake.pool.workspace_symbols(fake.root, "alpha", ["python"], 0.05)
        assert (first.symbols, first.sources[0].status) == ((), SourceStatus.TIMEOUT)
        second = await fake.pool.workspace_symbols(fake.root, "alpha", ["python"], 10)
        third = await fake.pool.workspace_symbols(fake.root, "alpha", ["python"], 0.05)
        assert [s.name for s in second.symbols] == [s.name for s in third.symbols] == ["alpha"]
        assert len(received(log, "workspace/symbol")) == 1
        fake.pool.file_changed(fake.root, [FileChange(f"{fake.root}/main.py", ChangeKind.CHANGED)])
        changed = await fake.pool.workspace_symbols(fake.root, "alpha", ["python"], 0.05)
        assert changed.sources[0].status is SourceStatus.TIMEOUT


async def test_an_empty_query_is_never_sent(tmp_path: Path) -> None:
    log = tmp_path / "journal"
    async with fake_pool(tmp_path, python={"journal": str(log)}) as fake:
        await fake.pool.hover(fake.root, fake.file(), AT, 10)
        assert (await fake.pool.workspace_symbols(fake.root, "  ", ["python"], 1)).symbols == ()
    assert received(log, "workspace/symbol") == []


async def test_a_crash_loop_ends_after_five_starts_until_restarted_by_hand(tmp_path: Path) -> None:
    async with fake_pool(tmp_path, python={"start": [{"do": "exit", "code": 7}]}) as fake:
        for _ in range(8):
            with pytest.raises(SightlineError) as caught:
                await fake.pool.hover(fake.root, fake.file(), AT, 10)
            assert caught.value.code is ErrorCode.LSP_UNAVAILABLE
        assert (fake.pool.status()[0].starts, state(fake)) == (5, ServerState.DOWN)
        assert fake.pool.sources(fake.root, ["python"])[0].status is SourceStatus.DOWN
        await fake.pool.restart("python")
        with pytest.raises(SightlineError):
            await fake.pool.hover(fake.root, fake.file(), AT, 10)
        assert fake.pool.status()[0].starts == 6


async def test_a_server_that_died_is_back_at_the_next_request(tmp_path: Path) -> None:
    die = [{"do": "stderr", "text": "the reason"}, {"do": "exit", "code": 9}]
    async with fake_pool(tmp_path, python={"on": {"textDocument/definition": die}}) as fake:
        with pytest.raises(SightlineError) as caught:
            await fake.pool.definition(fake.root, fake.file(), AT, 10)
        assert "exit code 9" in caught.value.message
        assert "the reason" in caught.value.data["detail"]
        assert (await fake.pool.hover(fake.root, fake.file(), AT, 10)).source.status is SourceStatus.OK


async def test_an_idle_server_stops_and_comes_back(tmp_path: Path) -> None:
    limits = replace(QUICK, lsp_idle_stop_s=0.2)
    async with fake_pool(tmp_path, limits, python={}) as fake:
        await fake.pool.hover(fake.root, fake.file(), AT, 10)
        await until(lambda: state(fake) is ServerState.STOPPED)
        assert (await fake.pool.hover(fake.root, fake.file(), AT, 10)).value is not None


async def test_a_change_of_roots_is_one_message_to_a_live_server(tmp_path: Path) -> None:
    log = tmp_path / "journal"
    async with fake_pool(tmp_path, python={"journal": str(log)}) as fake:
        await fake.pool.hover(fake.root, fake.file(), AT, 10)
        others = [make_root(tmp_path / name) for name in ("b", "c")]
        await fake.pool.set_roots([Root(path, True) for path in others])
        (message,) = await until(lambda: received(log, "workspace/didChangeWorkspaceFolders"))
        await fake.pool.set_roots([Root(path, True) for path in others])
        await fake.pool.capabilities(others[0], "python", 5)
    event = message["params"]["event"]
    assert [len(event["added"]), len(event["removed"])] == [2, 1]
    assert len(received(log, "workspace/didChangeWorkspaceFolders")) == 1


async def test_a_server_of_one_root_gets_a_process_per_root(tmp_path: Path) -> None:
    async with fake_pool(tmp_path, fields={"multi_root": False}, python={}) as fake:
        other = make_root(tmp_path / "other")
        await fake.pool.set_roots([Root(fake.root, True), Root(other, True)])
        for root in (fake.root, other):
            found = await fake.pool.workspace_symbols(root, "alpha", ["python"], 10)
            assert [symbol.location.in_root for symbol in found.symbols] == [root]
        pids = {status.pid for status in fake.pool.status()}
        assert len(pids) == 2
        await fake.pool.set_roots([Root(other, True)])
        assert [status.roots for status in fake.pool.status()] == [(other,)]


async def test_an_untrusted_root_keeps_servers_that_run_its_code_off(tmp_path: Path) -> None:
    async with fake_pool(tmp_path, trusted=False, fields={"runs_workspace_code": True}, python={}) as fake:
        (source,) = (await fake.pool.workspace_symbols(fake.root, "alpha", ["python"], 1)).sources
        assert (source.status, source.expected) == (SourceStatus.UNTRUSTED, True)
        with pytest.raises(SightlineError) as caught:
            await fake.pool.hover(fake.root, fake.file(), AT, 5)
        assert caught.value.data["status"] == "untrusted"
        assert fake.pool.status() == ()
        await fake.pool.set_roots([Root(fake.root, True)])
        assert (await fake.pool.hover(fake.root, fake.file(), AT, 10)).value is not None


async def test_a_loading_server_is_waited_for_and_labelled(tmp_path: Path) -> None:
    def progress(kind: str) -> dict[str, Any]:
        value = {"kind": kind, "title": "Loading"}
        return {"do": "notify", "method": "$/progress", "params": {"token": 1, "value": value}}

    empty = {"do": "reply", "result": []}
    loading = {"initialized": [progress("begin")], "on": {"workspace/symbol": [empty]}}
    async with fake_pool(tmp_path, python=loading) as fake:
        (source,) = (await fake.pool.workspace_symbols(fake.root, "alpha", ["python"], 0.6)).sources
        assert source.status is SourceStatus.INDEXING
    loaded = {"initialized": [progress("begin"), {"do": "sleep", "s": 0.1}, progress("end")]}
    async with fake_pool(tmp_path, python=loaded) as fake:
        found = await fake.pool.workspace_symbols(fake.root, "alpha", ["python"], 10)
        assert (len(found.symbols), found.sources[0].status) == (1, SourceStatus.OK)


async def test_diagnostics_say_how_they_came_about(tmp_path: Path) -> None:
    async with fake_pool(tmp_path, python={"on": {"textDocument/didOpen": [{"do": "exit"}]}}) as fake:
        answer = await fake.pool.diagnostics(fake.root, fake.file(), 10)
        assert answer.outcome is DiagnosticsOutcome.SERVER_DIED
    log = tmp_path / "journal"
    async with fake_pool(tmp_path, python={"journal": str(log)}) as fake:
        assert (await fake.pool.diagnostics(fake.root, fake.file(), 10)).outcome is DiagnosticsOutcome.INACTIVE
    assert len(received(log, "textDocument/didSave")) == 3


async def test_watched_files_arrive_as_one_batch_of_what_was_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "journal"
    options = {"watchers": [{"globPattern": "**/*.{py,toml}"}]}
    registration = {"id": "w", "method": "workspace/didChangeWatchedFiles", "registerOptions": options}
    register = {"do": "request", "method": "client/registerCapability", "params": {"registrations": [registration]}}
    script = {"journal": str(log), "on": {"textDocument/hover": [register, {"do": "healthy", "method": "textDocument/hover"}]}}  # fmt: skip  # noqa: E501
    async with fake_pool(tmp_path, python=script) as fake:
        await fake.pool.hover(fake.root, fake.file(), AT, 10)
        for name in ("a.py", "b.toml", "c.md", "a.py"):
            fake.pool.file_changed(fake.root, [FileChange(f"{fake.root}/{name}", ChangeKind.CHANGED)])
        (message,) = await until(lambda: received(log, "workspace/didChangeWatchedFiles"))
    assert [change["uri"].rsplit("/", 1)[1] for change in message["params"]["changes"]] == ["a.py", "b.toml"]


async def test_open_documents_follow_the_disk_before_every_question(tmp_path: Path) -> None:
    log = tmp_path / "journal"
    async with fake_pool(tmp_path, python={"journal": str(log)}) as fake:
        await fake.pool.hover(fake.root, fake.file(), AT, 10)
        await fake.pool.hover(fake.root, fake.file(), AT, 10)
        file = Path(fake.file().absolute)
        file.write_text("def beta(): pass\n")
        await fake.pool.hover(fake.root, fake.file(), AT, 10)
        file.unlink()
        with pytest.raises(SightlineError) as caught:
            await fake.pool.hover(fake.root, fake.file(), AT, 10)
    assert caught.value.code is ErrorCode.FILE_NOT_FOUND
    assert len(received(log, "textDocument/didOpen")) == 1
    (change,) = received(log, "textDocument/didChange")
    assert change["params"]["contentChanges"] == [{"text": "def beta(): pass\n"}]
    assert change["params"]["textDocument"]["version"] > 1


async def test_the_least_recently_used_document_is_closed(tmp_path: Path) -> None:
    log = tmp_path / "journal"
    limits = replace(QUICK, lsp_max_open_documents=2)
    async with fake_pool(tmp_path, limits, python={"journal": str(log)}) as fake:
        for name in ("a.py", "b.py", "c.py"):
            path = Path(fake.root, name)
            path.write_text("x = 1\n")
            await fake.pool.hover(fake.root, replace(fake.file(), relative=name), AT, 10)
        (closed,) = await until(lambda: received(log, "textDocument/didClose"))
    assert closed["params"]["textDocument"]["uri"].endswith("/a.py")


async def test_ran_before_and_first_runs_are_told(tmp_path: Path) -> None:
    async with fake_pool(tmp_path, python={}) as fake:
        told: list[tuple[str, str]] = []
        fake.pool._on_first_run = lambda root, server: told.append((root, server))
        await fake.pool.hover(fake.root, fake.file(), AT, 10)
        assert told == [(fake.root, "fake-python")]


async def test_a_server_that_reads_nothing_costs_no_more_than_the_deadline(tmp_path: Path) -> None:
    limits = replace(QUICK, lsp_write_timeout_s=60.0, lsp_max_queued_messages=1)
    async with fake_pool(tmp_path, limits, python={"initialized": [HANG]}) as fake:
        for name in ("a.py", "b.py", "c.py"):
            Path(fake.root, name).write_text("x = 1  # long\n" * 100_000)
            with anyio.fail_after(10), pytest.raises(SightlineError) as caught:
                await fake.pool.hover(fake.root, replace(fake.file(), relative=name), AT, 0.4)
            assert caught.value.code is ErrorCode.LSP_TIMEOUT


async def test_findings_are_bounded_in_files_and_bytes(tmp_path: Path) -> None:
    limits = replace(QUICK, lsp_max_diagnostic_files=3, lsp_max_diagnostic_bytes=1000)
    store = DiagnosticStore(limits)
    for number in range(10):
        store.publish(WirePublished(f"file:///{number}", []), 10)
    assert len(store) == 3
    store.publish(WirePublished("file:///big", []), 2000)
    assert (len(store), store.get("/big") is not None, store.generation) == (1, True, 11)
