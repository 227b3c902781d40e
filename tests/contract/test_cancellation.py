"""A client's cancel reaches the search, the parsers and the language server, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from mcp import Client

from sightline_core.config import Config
from sightline_server.app import open_services
from sightline_server.protocol import single_session
from sightline_server.sessions.session import TransportKind
from support.fake_pool import QUICK, journal, table
from support.raw_stdio import raw_client

pytestmark = pytest.mark.anyio
CANCELS = int(os.environ.get("CANCELS", "50"))


@pytest.fixture
def hanging(config: Config, workspace: Path, tmp_path: Path) -> Config:
    """A server for Python that never answers a hover, and writes down what it was sent."""
    (workspace / "main.py").write_text("def alpha(): pass\nalpha()\n", "utf-8")
    script = {"on": {"textDocument/hover": [{"do": "nothing"}]}, "journal": str(tmp_path / "sent.jsonl")}
    return replace(
        config,
        limits=replace(QUICK, lsp_navigation_timeout_s=30.0),
        language_servers={"python": ("fake",)},
        server_tables={"fake": table(tmp_path, script, "python")},
    )


async def test_cancelled_calls_reach_the_server_within_a_second_and_leave_no_task(
    hanging: Config, tmp_path: Path
) -> None:
    log = tmp_path / "sent.jsonl"
    place = {"path": "main.py", "line": 1, "column": 5}
    async with (
        open_services(hanging, start_directory="/") as services,
        single_session(services, TransportKind.MEMORY) as (server, _),
        Client(server, mode="legacy") as client,
    ):
        await client.call_tool("index_repo", {"wait": True})
        # The first question starts the server, whose tasks stay.
        before = 0
        for _ in range(CANCELS):
            hovers = _count(log, "textDocument/hover")
            cancels = _count(log, "$/cancelRequest")
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "inspect_symbol", place)
                with anyio.fail_after(15):
                    while _count(log, "textDocument/hover") == hovers:
                        await anyio.sleep(0)
                group.cancel_scope.cancel()
            with anyio.fail_after(1):
                while _count(log, "$/cancelRequest") == cancels:
                    await anyio.sleep(0)
            before = before or len(asyncio.all_tasks())
        with anyio.fail_after(5):
            while len(asyncio.all_tasks()) > before or services.active_calls:
                await anyio.sleep(0)


def _count(file: Path, method: str) -> int:
    return sum(1 for message in journal(file) if message.get("method") == method)


def test_a_cancelled_search_frees_its_place(config: Config, workspace: Path) -> None:
    for number in range(2000):
        (workspace / f"m{number}.py").write_text(f"value_{number} = 'aaaaaaaaaaaaaaaaaaab'\n" * 50, "utf-8")
    slow = replace(config, limits=replace(config.limits, scan_budget_s=30.0, search_threads=1))
    with raw_client(slow) as client:
        client.call(1, "index_repo", wait=True)
        scan = {"query": "(a|aa)+[^ab].*x{3}", "mode": "regex"}
        client.send("tools/call", {"name": "search_code", "arguments": scan}, 2)
        client.send("notifications/cancelled", {"requestId": 2})
        client.send("tools/call", {"name": "search_code", "arguments": {"query": "greet"}}, 3)
        assert client.answer(3, seconds=5)["result"]["structuredContent"]["results"]
        assert not any(message.get("id") == 2 and "result" in message for message in client.heard)
