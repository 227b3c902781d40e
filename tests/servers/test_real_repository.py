"""A real Python package, copied from the environment, asked through the tools with a real server."""

from __future__ import annotations

import shutil
from pathlib import Path

import anyio
import pytest

from support.navigation_kit import desk, with_servers

pytestmark = pytest.mark.anyio


async def test_a_real_python_package_is_navigated_completely(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    shutil.copytree(Path(anyio.__file__).parent, root / "anyio", ignore=shutil.ignore_patterns("__pycache__"))
    place = {"path": "anyio/_core/_tasks.py", "pattern": "class @@CancelScope:"}
    function = {"path": "anyio/_core/_tasks.py", "pattern": "def @@create_task_group("}
    async with desk(tmp_path, root.resolve(), **with_servers(python="ty")) as made:
        references = await made.ask("find_references", **place, limit=200)
        users = {location["path"] for location in references["locations"]}
        # ty does not follow an alias (`import CancelScope as …`), so the users behind one are not among them.
        assert len(users) > 1
        assert all("CancelScope" in location["text"] for location in references["locations"])
        definition = await made.ask("go_to_definition", path="anyio/__init__.py", pattern="import @@CancelScope as")
        assert [found["path"] for found in definition["locations"]] == ["anyio/_core/_tasks.py"]
        callers = await made.ask("find_callers", **function)
        assert any(item["path"].startswith("anyio/") and item["call_lines"] for item in callers["items"])
        hover = await made.ask("inspect_symbol", **function)
        assert "create_task_group" in str(hover)
        diagnostics = await made.ask("get_diagnostics", path="anyio/_core/_tasks.py")
        for answer in (references, definition, callers, hover, diagnostics):
            assert answer["metadata"]["result_completeness"] == "complete", answer
