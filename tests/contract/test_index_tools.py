"""index_repo, sync_repo, cancel_job and index_status as a client sees them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from sightline_core.config import Config
from sightline_core.limits import Limits
from support.clients import TRANSPORTS, memory_client

pytestmark = pytest.mark.anyio


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    return (await client.call_tool(tool, arguments)).structured_content


def grow(workspace: Path, files: int) -> None:
    for number in range(files):
        (workspace / f"module{number}.py").write_text(f"def function{number}():\n    return {number}\n", "utf-8")


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_workspace_is_indexed_and_its_figures_are_shown(
    config: Config, workspace: Path, transport: str
) -> None:
    grow(workspace, 20)
    (workspace / ".env").write_text("SECRET=1", "utf-8")
    async with TRANSPORTS[transport](config) as client:
        job = await ask(client, "index_repo", wait=True)
        assert job["status"] == "published"
        assert job["progress_token"] == f"index-job-{job['job_id']}"
        status = await ask(client, "index_status")
        assert status["index_status"] == "ready"
        assert status["file_count"] == 21
        assert status["symbol_count"] == 21
        assert status["languages"] == {"python": 21}
        assert status["skipped"]["secret"] == 1
        assert status["repo_root"] == str(workspace)
        assert "interrupted_recovery_report" not in status
        assert status["metadata"]["indexing_status"] == "ready"
        assert status["metadata"]["schema_status"] == "compatible"


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_progress_reaches_the_caller_in_growing_steps_and_ends_at_the_end(
    config: Config, workspace: Path, transport: str
) -> None:
    grow(workspace, 300)
    seen: list[tuple[float, str]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        assert total == 100
        seen.append((progress, message or ""))

    async with TRANSPORTS[transport](replace(config, prewarm=False)) as client:
        answer = await client.call_tool("index_repo", {"wait": True}, progress_callback=on_progress)
        assert answer.structured_content["status"] == "published"
    percentages = [percentage for percentage, _ in seen]
    assert percentages == sorted(set(percentages))
    assert seen[-1][0] == 100
    assert seen[-1][1].startswith("Indexed 301 files, 301 symbols in ")


async def test_a_change_on_disk_is_brought_in_by_a_sync(config: Config, workspace: Path) -> None:
    async with memory_client(replace(config, watch=False)) as client:
        await ask(client, "index_repo", wait=True)
        (workspace / "new.py").write_text("def fresh(): ...\n", "utf-8")
        job = await ask(client, "sync_repo", wait=True)
        assert job["mode"] == "incremental"
        assert job["changed_files"] == 1
        assert (await ask(client, "index_status"))["file_count"] == 2


async def test_force_against_another_running_job_names_it(config: Config, workspace: Path) -> None:
    grow(workspace, 2000)
    async with memory_client(replace(config, prewarm=False)) as client:
        running = await ask(client, "index_repo")
        joined = await ask(client, "index_repo")
        assert joined["job_id"] == running["job_id"]
        refused = await ask(client, "index_repo", force=True)
        assert refused["error"]["code"] == "index_in_progress"
        assert refused["error"]["data"]["job_id"] == running["job_id"]
        cancelled = await ask(client, "cancel_job", job_id=running["job_id"])
        assert cancelled["status"] == "cancelled"


async def test_cancelling_a_job_that_is_unknown_or_over_is_no_harm(config: Config) -> None:
    async with memory_client(config) as client:
        job = await ask(client, "index_repo", wait=True)
        assert (await ask(client, "cancel_job", job_id=job["job_id"]))["status"] == "published"
        assert (await ask(client, "cancel_job", job_id="nothing"))["error"]["code"] == "job_not_found"


async def test_an_unfinished_wait_answers_with_the_running_job(config: Config, workspace: Path) -> None:
    grow(workspace, 3000)
    hurried = replace(config, prewarm=False, limits=replace(Limits(), call_deadline_s=2.3))
    async with memory_client(hurried) as client:
        job = await ask(client, "index_repo", wait=True)
        assert job["status"] in ("running", "queued")
        await ask(client, "cancel_job", job_id=job["job_id"])


async def test_a_damaged_index_is_refused_with_the_remedy_and_a_forced_one_heals_it(
    config: Config, workspace: Path
) -> None:
    async with memory_client(config) as client:
        await ask(client, "index_repo", wait=True)
    for database in Path(config.data_dir).rglob("manifest*"):
        if database.is_file():
            database.write_bytes(b"\0" * 100)
    async with memory_client(config) as client:
        refused = await ask(client, "sync_repo", wait=True)
        assert refused["error"]["code"] == "index_incompatible"
        assert "index_repo" in refused["error"]["message"]
        assert refused["metadata"]["schema_status"] in ("corrupt_manifest", "reindex_required")
        health = await ask(client, "health_check")
        assert health["status"] == "error"
        assert (await ask(client, "index_repo", force=True, wait=True))["status"] == "published"
        assert (await ask(client, "health_check"))["status"] == "ready"


async def test_the_server_answers_while_it_indexes(config: Config, workspace: Path) -> None:
    grow(workspace, 2000)
    async with memory_client(replace(config, prewarm=False)) as client:
        job = await ask(client, "index_repo")
        status = await ask(client, "index_status")
        assert status["active_job"]["job_id"] == job["job_id"]
        assert status["index_status"] == "indexing"
        assert status["metadata"]["freshness_status"] == "syncing"
        assert (await ask(client, "health_check"))["status"] == "indexing"
        with anyio.fail_after(60):
            assert (await ask(client, "sync_repo", wait=True))["status"] == "published"


async def test_a_discovered_workspace_answers_at_once_and_is_indexed_behind(config: Config, tmp_path: Path) -> None:
    found = tmp_path / "found"
    found.mkdir()
    (found / "a.py").write_text("x = 1\n", "utf-8")
    auto = replace(config, auto_workspace=True, allowed_root=(str(tmp_path),))
    async with memory_client(auto) as client:
        first = await ask(client, "index_status", workspace=str(found))
        assert first["metadata"]["workspace"] == str(found.resolve())
        done = await ask(client, "sync_repo", workspace=str(found), wait=True)
        assert done["status"] == "published"
