"""Client roots over every transport: asked, followed, bounded, never in the way."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client

from sightline_core.config import Config
from support.clients import TRANSPORTS, memory_client

# The client library warns of what the 2026 version deprecates, and of the roots it would not send itself.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore")]


class Roots:
    """The roots of a client, and how it answers for them."""

    def __init__(self, *uris: str) -> None:
        self.uris = list(uris)
        self.asked = anyio.Event()
        self.may_answer = anyio.Event()
        self.may_answer.set()
        self.questions = 0
        self.fails = False

    async def __call__(self, _context: Any) -> types.ListRootsResult | types.ErrorData:
        self.questions += 1
        self.asked.set()
        uris = list(self.uris)
        await self.may_answer.wait()
        if self.fails:
            return types.ErrorData(code=types.INTERNAL_ERROR, message="no")
        return types.ListRootsResult.model_construct(roots=[types.Root.model_construct(uri=uri) for uri in uris])


async def default_of(client: Client) -> str:
    return str((await client.call_tool("index_status", {})).structured_content["metadata"].get("workspace"))


async def becomes(client: Client, folder: Path) -> None:
    with anyio.fail_after(20):
        while await default_of(client) != str(folder):
            await anyio.sleep(0)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "my project").resolve()
    folder.mkdir()
    (folder / "only_here.py").write_text("def only_here(): ...\n", "utf-8")
    return folder


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_first_valid_root_is_the_default(
    config: Config, project: Path, tmp_path: Path, transport: str
) -> None:
    roots = Roots("https://example.org/x", (tmp_path / "gone").as_uri(), project.as_uri())
    allowed = replace(config, allowed_root=(str(tmp_path),))
    async with TRANSPORTS[transport](allowed, list_roots_callback=roots) as client:
        await becomes(client, project)
        found = await client.call_tool("locate_symbol", {"name": "only_here", "freshness_policy": "strict"})
        assert [hit["path"] for hit in found.structured_content["results"]] == ["only_here.py"]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_changed_roots_are_followed_and_none_leads_back(
    config: Config, project: Path, workspace: Path, tmp_path: Path, transport: str
) -> None:
    other = (tmp_path / "other").resolve()
    other.mkdir()
    roots = Roots(project.as_uri())
    allowed = replace(config, allowed_root=(str(tmp_path),))
    async with TRANSPORTS[transport](allowed, list_roots_callback=roots) as client:
        await becomes(client, project)
        roots.uris = [other.as_uri(), project.as_uri()]
        await client.session.send_roots_list_changed()
        await becomes(client, other)
        roots.uris = []
        await client.session.send_roots_list_changed()
        await becomes(client, workspace)


async def test_over_http_a_root_outside_of_what_was_named_does_not_count(
    config: Config, project: Path, workspace: Path
) -> None:
    roots = Roots(project.as_uri(), (workspace / "pkg").as_uri())
    async with TRANSPORTS["http"](config, list_roots_callback=roots) as client:
        await becomes(client, workspace / "pkg")
        refused = await client.call_tool("index_status", {"workspace": str(project)})
        assert refused.structured_content["error"]["code"] == "workspace_not_registered"


async def test_other_messages_are_served_while_the_roots_are_awaited(
    config: Config, project: Path, workspace: Path
) -> None:
    roots = Roots(project.as_uri())
    roots.may_answer = anyio.Event()
    async with memory_client(config, list_roots_callback=roots) as client:
        await roots.asked.wait()
        assert (await client.list_tools()).tools
        assert await default_of(client) == str(workspace)
        roots.may_answer.set()
        await becomes(client, project)


async def test_changes_while_an_answer_is_awaited_lead_to_one_more_question(config: Config, project: Path) -> None:
    roots = Roots()
    roots.may_answer = anyio.Event()
    async with memory_client(config, list_roots_callback=roots) as client:
        await roots.asked.wait()
        roots.uris = [project.as_uri()]
        for _ in range(5):
            await client.session.send_roots_list_changed()
        await client.list_tools()
        roots.may_answer.set()
        await becomes(client, project)
        assert roots.questions == 2


@pytest.mark.parametrize("answers", [True, False])
async def test_no_answer_and_an_error_leave_the_default(config: Config, workspace: Path, answers: bool) -> None:
    roots = Roots()
    roots.fails = True
    if not answers:
        roots.may_answer = anyio.Event()
    hurried = replace(config, limits=replace(config.limits, roots_timeout_s=0.2))
    async with memory_client(hurried, list_roots_callback=roots) as client:
        await roots.asked.wait()
        assert await default_of(client) == str(workspace)
        # The time is over or the error is in: the next change is asked for anew.
        with anyio.fail_after(5):
            while roots.questions < 2:
                await client.session.send_roots_list_changed()
                await anyio.sleep(0)


async def test_a_root_is_closed_with_its_session_even_when_the_process_ends_then(
    config: Config, project: Path
) -> None:
    before = set(threading.enumerate())
    async with memory_client(config, list_roots_callback=Roots(project.as_uri())) as client:
        await becomes(client, project)
    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert not {name for name in left if name.startswith("sightline-")}


async def test_the_2026_protocol_asks_for_roots_in_the_answer(config: Config, project: Path) -> None:
    roots = Roots(project.as_uri())
    async with memory_client(replace(config, workspace=()), mode="2026-07-28", list_roots_callback=roots) as client:
        assert await default_of(client) == str(project)
        named = await client.call_tool("index_status", {"workspace": str(project)})
        assert named.structured_content["metadata"]["workspace"] == str(project)
