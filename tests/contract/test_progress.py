"""Progress of index jobs and notices, over every transport."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.session import ClientSession

from sightline_core.config import Config
from support.clients import TRANSPORTS, memory_client
from support.raw_stdio import raw_client

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client library has no way to declare an experimental capability, so it is taught one."""
    build = ClientSession._build_capabilities

    def with_progress(self: ClientSession, version: str) -> types.ClientCapabilities:
        return build(self, version).model_copy(update={"experimental": {"sightline/indexProgress": {}}})

    monkeypatch.setattr(ClientSession, "_build_capabilities", with_progress)


class Heard:
    """What a client was told, in order."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self._new = anyio.Event()

    async def __call__(self, message: Any) -> None:
        self.messages.append(message)
        self._new.set()
        self._new = anyio.Event()

    async def until(self, wanted: Callable[[Any], bool]) -> Any:
        with anyio.fail_after(20):
            while True:
                for message in self.messages:
                    if wanted(message):
                        return message
                await self._new.wait()

    def of(self, method: str) -> list[dict[str, Any]]:
        return [
            message.params.model_dump(by_alias=True, exclude_none=True)
            for message in self.messages
            if getattr(message, "method", "") == method
        ]


def grow(workspace: Path, count: int) -> None:
    for number in range(count):
        (workspace / f"m{number}.py").write_text(f"def f{number}(): ...\n" * 20, "utf-8")


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_waiting_call_reports_growing_progress_on_its_token(
    config: Config, workspace: Path, transport: str
) -> None:
    grow(workspace, 300)
    seen: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with TRANSPORTS[transport](replace(config, prewarm=False)) as client:
        job = await client.call_tool("index_repo", {"wait": True}, progress_callback=on_progress)
        assert job.structured_content["status"] == "published"
    figures = [progress for progress, _, _ in seen]
    assert figures == sorted(set(figures))
    assert figures[-1] == 100
    assert all(total == 100 for _, total, _ in seen)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_session_that_declared_it_hears_of_jobs_until_their_end(
    declared: None, config: Config, workspace: Path, transport: str
) -> None:
    grow(workspace, 100)
    heard = Heard()
    async with TRANSPORTS[transport](config, message_handler=heard) as client:
        tokens = []
        for force in (False, True):
            job = await client.call_tool("index_repo", {"wait": True, "force": force})
            tokens.append(job.structured_content["progress_token"])
            await heard.until(lambda m, token=tokens[-1]: _figure(m, token) == 100)
    told = [_figure(message, tokens[0]) for message in heard.messages if _figure(message, tokens[0]) is not None]
    assert told == sorted(set(told))


def test_reports_and_ends_have_the_shape_of_the_contract(config: Config, workspace: Path) -> None:
    grow(workspace, 1000)
    declared = {"experimental": {"sightline/indexProgress": {}}}
    with raw_client(replace(config, prewarm=False), declared) as client:
        stopped = client.call(1, "index_repo")
        client.call(2, "cancel_job", job_id=stopped["job_id"])
        whole = client.call(3, "index_repo", wait=True)
        for job in (stopped, whole):
            client.until(lambda m, token=job["progress_token"]: _wire(m, token).get("value", {}).get("kind") == "end")
        client.call(4, "index_status")
        first = [p for m in client.heard if (p := _wire(m, stopped["progress_token"]))]
        last = [p for m in client.heard if (p := _wire(m, whole["progress_token"]))]
    assert [p["value"]["kind"] for p in last] == ["report"] * (len(last) - 1) + ["end"]
    assert len(last) > 1
    for params in last:
        assert set(params["value"]) == {"kind", "title", "message", "percentage"}
        assert params["value"]["percentage"] == params["progress"] <= params["total"] == 100
        assert params["value"]["message"] == params["message"]
    assert last[0]["value"]["title"] == f"Indexing project: {workspace.name}"
    assert last[-1]["value"]["title"] == f"Indexing complete: {workspace.name}"
    assert first[-1]["value"]["title"] == f"Indexing cancelled: {workspace.name}"
    assert first[-1]["value"]["percentage"] < 100


async def test_nobody_else_gets_unsolicited_progress(config: Config) -> None:
    heard = Heard()
    async with memory_client(config, message_handler=heard) as client:
        await client.call_tool("index_repo", {"wait": True, "force": True})
        await client.list_tools()
    assert heard.of("notifications/progress") == []


@pytest.mark.parametrize(("level", "expected"), [("debug", True), ("info", True), ("error", False)])
async def test_notices_come_at_the_level_that_the_client_set(config: Config, level: str, expected: bool) -> None:
    heard: list[str] = []
    published = anyio.Event()

    async def on_log(params: Any) -> None:
        heard.append(params.data["event"])
        published.set()

    async with memory_client(replace(config, prewarm=False), logging_callback=on_log) as client:
        await client.set_logging_level(level)
        await client.call_tool("index_repo", {"wait": True, "force": True})
        if expected:
            with anyio.fail_after(10):
                while not {"index_published", "workspace_ready"} <= set(heard):
                    await published.wait()
                    published = anyio.Event()
        else:
            await client.list_tools()
            assert heard == []


def _figure(message: Any, token: str) -> float | None:
    if getattr(message, "method", "") != "notifications/progress" or message.params.progress_token != token:
        return None
    return float(message.params.progress)


def _wire(message: dict[str, Any], token: str) -> dict[str, Any]:
    params = message.get("params", {})
    is_told = message.get("method") == "notifications/progress" and params.get("progressToken") == token
    return dict(params) if is_told else {}
