"""Real repositories, copied to where they may be changed, asked through the tools with real servers."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest

from support.navigation_kit import Desk, desk, with_servers

pytestmark = pytest.mark.anyio
# Brought by tests/support/install_servers.
RXJS = Path(__file__).parents[2] / ".cache" / "servers" / "repositories" / "node_modules" / "rxjs"
SUBSCRIBER = "src/internal/Subscriber.ts"


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


@pytest.mark.servers
async def test_a_real_typescript_package_is_navigated_completely(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    shutil.copytree(RXJS / "src", root / "src")
    shutil.copy(RXJS / "tsconfig.json", root)
    async with desk(tmp_path, root.resolve(), **with_servers(typescript="typescript")) as made:
        await _check_places(made)
        await _check_hierarchy_and_hover(made)
        await _check_an_edit(made, root / "src" / "internal" / "operators" / "map.ts")


async def _check_places(made: Desk) -> None:
    use = {"path": "src/internal/operators/map.ts", "pattern": "return @@operate("}
    definition = await _complete(made, "go_to_definition", **use)
    assert [found["path"] for found in definition["locations"]] == ["src/internal/util/lift.ts"]
    references = await _complete(made, "find_references", path=SUBSCRIBER, pattern="class @@Subscriber<", limit=200)
    assert len({location["path"] for location in references["locations"]}) > 20
    assert all("Subscriber" in location["text"] for location in references["locations"])
    interface = {"path": "src/internal/types.ts", "pattern": "export interface @@SubscriptionLike "}
    found = await _complete(made, "go_to_implementation", **interface)
    implementations = {location["path"] for location in found["locations"]}
    assert {"src/internal/Subscription.ts", "src/internal/Subject.ts", SUBSCRIBER} <= implementations


async def _check_hierarchy_and_hover(made: Desk) -> None:
    function = {"path": "src/internal/util/lift.ts", "pattern": "export function @@operate<"}
    callers = await _complete(made, "find_callers", **function, limit=200)
    names = {item["name"] for item in callers["items"]}
    assert {"map", "filter", "switchMap"} <= names, names
    assert all(item["call_lines"] for item in callers["items"])
    hover = await _complete(made, "inspect_symbol", **function)
    assert "OperatorFunction<T, R>" in str(hover)


async def _check_an_edit(made: Desk, file: Path) -> None:
    path = "src/internal/operators/map.ts"
    good = file.read_text("utf-8")
    line = good.count("\n") + 1
    wrong, right = (f"export function counted(): number {{ return {value}; }}\n" for value in ('"no"', "1"))
    for added, expected in (("", []), (wrong, [line]), (right, [])):
        file.write_text(good + added, "utf-8")
        told = await _complete(made, "get_diagnostics", path=path, min_severity="error")
        assert [found["line"] for found in told["diagnostics"]] == expected, told
        assert told["files"][0]["outcome"] == "updated"
    located = await _complete(made, "locate_symbol", name="counted", freshness_policy="strict")
    assert [(hit["path"], hit["line"], hit["provenance"]) for hit in located["results"]] == [
        (path, line, ["index", "lsp"])
    ]


async def _complete(made: Desk, tool: str, **arguments: object) -> dict[str, Any]:
    """The answer once the server has loaded, which must be complete; the desk's deadline bounds it."""
    while True:
        answer = await made.ask(tool, **arguments)
        statuses = {source["status"] for source in answer["metadata"].get("sources", [])}
        if not statuses & {"indexing", "starting"}:
            assert answer["metadata"]["result_completeness"] == "complete", answer
            return answer
