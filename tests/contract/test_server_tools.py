"""The tools over the pool of language servers, with the real ty."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from sightline_core.config import Config
from support.clients import memory_client

pytestmark = pytest.mark.anyio


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    return (await client.call_tool(tool, arguments)).structured_content


async def test_a_server_is_started_asked_and_restarted(config: Config) -> None:
    async with memory_client(config) as client:
        started = await ask(client, "start_lsp", language="python")
        assert started["servers"][0]["name"] == "ty"
        offered = await ask(client, "get_server_capabilities", language="python")
        assert offered["server"] == "ty"
        assert "textDocument/definition" in offered["methods"]
        before = (await ask(client, "health_check"))["servers"][0]
        assert before["state"] == "running"
        assert before["rss_bytes"] > 0
        assert (await ask(client, "restart_lsp_server", server="ty"))["restarted"] == ["ty"]
        await ask(client, "get_server_capabilities", language="python")
        after = (await ask(client, "health_check"))["servers"][0]
        assert after["pid"] != before["pid"]


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("start_lsp", {"language": "pyhton"}, "invalid_input"),
        ("start_lsp", {"language": "python", "connect": "example.org:80"}, "invalid_input"),
        ("start_lsp", {"language": "python", "connect": "nonsense"}, "invalid_input"),
        ("restart_lsp_server", {"server": "nobody"}, "lsp_unavailable"),
        ("get_server_capabilities", {"language": "sql"}, "lsp_unavailable"),
        ("add_workspace_folder", {"folder": "/nowhere"}, "workspace_not_registered"),
        ("remove_workspace_folder", {"folder": "/nowhere"}, "workspace_not_registered"),
    ],
)
async def test_what_cannot_be_done_is_refused_with_its_code(
    config: Config, tool: str, arguments: dict[str, Any], code: str
) -> None:
    async with memory_client(config) as client:
        assert (await ask(client, tool, **arguments))["error"]["code"] == code


async def test_every_known_server_is_listed_with_how_to_get_it(config: Config) -> None:
    async with memory_client(config) as client:
        rows = {row["name"]: row for row in (await ask(client, "detect_lsp_servers"))["servers"]}
    assert rows["ty"]["installed"]
    assert "python" in rows["ty"]["in_use_for"]
    assert all(row["installed"] or row.get("install") for row in rows.values())
    assert len(rows) >= 20


async def test_folders_are_opened_and_put_away(config: Config, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    both = replace(config, workspace=(*config.workspace, str(other)), prewarm=False)
    async with memory_client(both) as client:
        added = await ask(client, "add_workspace_folder", folder=str(other))
        assert {row["path"]: row["open"] for row in added["folders"]}[str(other.resolve())]
        removed = await ask(client, "remove_workspace_folder", folder=str(other))
        assert not {row["path"]: row["open"] for row in removed["folders"]}[str(other.resolve())]
        assert (await ask(client, "index_status", workspace=str(other)))["project_id"]
