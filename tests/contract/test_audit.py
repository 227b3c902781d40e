"""The audit log: one line a call, long values cut, rotated, never in the way."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from sightline_core.config import Config
from sightline_core.errors import ErrorCode, SightlineError
from sightline_server.audit import AuditLog
from support.clients import memory_client

pytestmark = pytest.mark.anyio


async def test_every_call_leaves_one_line(config: Config, workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    async with memory_client(replace(config, audit_log=str(file))) as client:
        await client.call_tool("index_repo", {"wait": True})
        await client.call_tool("search_code", {"query": "x" * 5000, "mode": "literal"})
        await client.call_tool("search_code", {"limit": "many"})
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [line["tool"] for line in lines] == ["index_repo", "search_code", "search_code"]
    assert [line["outcome"] for line in lines][0::2] == ["ok", "invalid_input"]
    assert lines[0]["workspace"] == str(workspace)
    assert lines[0]["completeness"] == "complete"
    assert lines[0]["client"].startswith("mcp")
    assert lines[0]["duration_ms"] >= 0
    assert lines[0]["time"].startswith("20")
    assert len(lines[1]["arguments"]["query"]) < 300
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_file_is_rotated_by_size_and_old_ones_go(config: Config, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    log = AuditLog(str(file), replace(config.limits, max_audit_bytes=1000, audit_files=3))
    for number in range(50):
        log.record(_Client, "search_code", {"query": f"q{number}"}, {"metadata": {}}, 0.0)
    log.close()
    names = sorted(path.name for path in tmp_path.glob("audit*"))
    assert names == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]
    assert all(path.stat().st_size <= 1000 for path in tmp_path.glob("audit*"))
    assert json.loads(file.read_text("utf-8").splitlines()[-1])["arguments"] == {"query": "q49"}


def test_a_file_that_cannot_be_written_is_told_at_the_start(config: Config, tmp_path: Path) -> None:
    with pytest.raises(SightlineError) as caught:
        AuditLog(str(tmp_path / "no" / "such" / "folder"), config.limits)
    assert caught.value.code is ErrorCode.INVALID_INPUT


class _Client:
    client_name = "test 1"
    session_id = "0"
