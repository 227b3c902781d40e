"""Resources over every transport: listed, read, completed, subscribed to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from sightline_core.config import Config
from sightline_server.app import open_services
from sightline_server.protocol import single_session
from sightline_server.sessions.session import TransportKind
from support.clients import TRANSPORTS, memory_client

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore")]
OUTLINE = "sightline://outline/pkg/greeting.py"
STATUS = "sightline://status"


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_resources_are_listed_and_say_what_their_tools_say(config: Config, transport: str) -> None:
    async with TRANSPORTS[transport](config) as client:
        await client.call_tool("index_repo", {"wait": True})
        assert [str(row.uri) for row in (await client.list_resources()).resources] == ["sightline://status"]
        templates = (await client.list_resource_templates()).resource_templates
        assert {row.uri_template for row in templates} == {
            "sightline://outline/{path}",
            "sightline://diagnostics/{path}",
            "sightline://symbol/{name}",
        }
        for uri, tool, arguments in (
            (OUTLINE, "get_file_outline", {"path": "pkg/greeting.py"}),
            ("sightline://symbol/greet", "locate_symbol", {"name": "greet"}),
        ):
            (content,) = (await client.read_resource(uri)).contents
            told = (await client.call_tool(tool, arguments)).structured_content
            assert json.loads(content.text) == told
        (status,) = (await client.read_resource("sightline://status")).contents
        assert json.loads(status.text)["status"] in ("ready", "indexing", "warming")


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("sightline://nothing", "invalid_input"),
        ("sightline://outline/", "invalid_input"),
        ("sightline://outline/gone.py", "file_not_found"),
        ("sightline://outline/..%2F..%2Fetc%2Fpasswd", "path_not_allowed"),
        ("file:///etc/passwd", "invalid_input"),
    ],
)
async def test_what_cannot_be_read_is_an_error_with_its_code(config: Config, uri: str, code: str) -> None:
    async with memory_client(config) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        assert caught.value.data["code"] == code


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_arguments_of_templates_are_completed(config: Config, transport: str) -> None:
    async with TRANSPORTS[transport](config) as client:
        await client.call_tool("index_repo", {"wait": True})

        async def complete(uri: str, name: str, value: str) -> list[str]:
            reference = types.ResourceTemplateReference(type="ref/resource", uri=uri)
            return (await client.complete(reference, {"name": name, "value": value})).completion.values

        assert await complete("sightline://outline/{path}", "path", "pkg/") == ["pkg/greeting.py"]
        assert await complete("sightline://symbol/{name}", "name", "gre") == ["greet"]
        assert await complete("sightline://symbol/{name}", "name", "zzz") == []
        assert await complete("sightline://nothing/{name}", "name", "gre") == []


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_subscriber_hears_of_a_change_until_it_unsubscribes(
    config: Config, workspace: Path, transport: str
) -> None:
    heard: list[str] = []
    told = anyio.Event()

    async def on_message(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/resources/updated":
            heard.append(str(message.params.uri))
            told.set()

    quick = replace(config, limits=replace(config.limits, index_update_s=0.1, diagnostics_update_s=0.1))
    async with TRANSPORTS[transport](quick, message_handler=on_message) as client:
        await client.call_tool("index_repo", {"wait": True})
        await client.subscribe_resource(OUTLINE)
        (workspace / "pkg" / "greeting.py").write_text("def welcome(): ...\n", "utf-8")
        with anyio.fail_after(15):
            await told.wait()
        assert set(heard) == {OUTLINE}
        await client.unsubscribe_resource(OUTLINE)


async def test_the_2026_protocol_listens(config: Config, workspace: Path) -> None:
    quick = replace(config, limits=replace(config.limits, index_update_s=0.1))
    async with memory_client(quick, mode="2026-07-28") as client:
        await client.call_tool("index_repo", {"wait": True})
        async with client.listen(resource_subscriptions=[OUTLINE]) as events:
            (workspace / "pkg" / "greeting.py").write_text("def welcome(): ...\n", "utf-8")
            with anyio.fail_after(15):
                async for event in events:
                    assert str(event.uri) == OUTLINE
                    break


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_listeners_of_one_resource_each_hear_of_a_change_once(
    config: Config, workspace: Path, transport: str
) -> None:
    quick = replace(config, limits=replace(config.limits, index_update_s=0.1))
    async with TRANSPORTS[transport](quick, mode="2026-07-28") as client:
        await client.call_tool("index_repo", {"wait": True})
        async with (
            client.listen(resource_subscriptions=[OUTLINE]) as first,
            client.listen(resource_subscriptions=[OUTLINE, STATUS]) as second,
        ):
            with anyio.fail_after(15):
                for name in ("welcome", "greet"):
                    (workspace / "pkg" / "greeting.py").write_text(f"def {name}(): ...\n", "utf-8")
                    assert str((await anext(first)).uri) == OUTLINE
                    assert {str((await anext(second)).uri) for _ in range(2)} == {OUTLINE, STATUS}


async def test_a_listener_hears_nothing_of_a_workspace_that_it_does_not_work_with(
    config: Config, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    limits = replace(config.limits, index_update_s=0.1)
    quick = replace(config, workspace=(*config.workspace, str(other)), limits=limits, prewarm=False)
    async with (
        open_services(quick, start_directory="/") as services,
        single_session(services, TransportKind.MEMORY) as (one, _),
        single_session(services, TransportKind.MEMORY) as (two, _),
        Client(one, mode="2026-07-28") as here,
        Client(two, mode="2026-07-28") as there,
        here.listen(resource_subscriptions=[STATUS]) as near,
        there.listen(resource_subscriptions=[STATUS]) as far,
    ):
        with anyio.fail_after(15):
            await here.call_tool("index_repo", {"wait": True})
            await anext(near)
            # It is the default workspace of the other session too.
            await anext(far)
            heard: list[Any] = []
            async with anyio.create_task_group() as group:
                group.start_soon(_collect, near, heard)
                await there.call_tool("index_repo", {"wait": True, "workspace": str(other)})
                await anext(far)
                await anyio.wait_all_tasks_blocked()
                group.cancel_scope.cancel()
    assert heard == []


async def _collect(events: Any, heard: list[Any]) -> None:
    async for event in events:
        heard.append(event)
