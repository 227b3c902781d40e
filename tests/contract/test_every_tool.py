"""What holds for every tool over every transport."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp.shared.exceptions import MCPError

from sightline_core.config import Config
from sightline_core.version import PROTOCOL_VERSION
from sightline_server.tools.table import TOOLS, select_tools
from support.clients import TRANSPORTS, memory_client

pytestmark = pytest.mark.anyio

VOLATILE = {
    *("uptime_seconds", "job_id", "progress_token", "started_at", "ended_at", "last_indexed_at", "message"),
    # What earlier calls of another client left behind.
    *(
        "recent_jobs",
        "changed_files",
        "mode",
        "active_job",
        "freshness_status",
        "servers",
        "sources",
        "warnings",
        "methods",
    ),
}
# Arguments that make each tool succeed in the small workspace; a new tool without its line here fails the test.
EXAMPLES: dict[str, dict[str, Any]] = {
    "index_repo": {"wait": True},
    "search_code": {"query": "greet", "enrich": False},
    "locate_symbol": {"name": "greet", "enrich": False},
    "sync_repo": {"wait": True},
    "get_file_outline": {"path": "pkg/greeting.py"},
    "get_symbol_hierarchy": {"symbol_name": "greet"},
    "find_related_symbols": {"symbol_name": "greet"},
    "get_code_context": {"query": "greet"},
    "index_status": {},
    "health_check": {},
    "go_to_definition": {"symbol": "greet"},
    "find_references": {"symbol": "greet", "include_declaration": True},
    "go_to_implementation": {"symbol": "greet"},
    "find_callers": {"symbol": "greet", "direction": "both"},
    "type_hierarchy": {"symbol": "greet"},
    "inspect_symbol": {"symbol": "greet"},
    "get_document_highlights": {"symbol": "greet"},
    "get_symbol_source": {"symbol": "greet"},
    "get_symbol_documentation": {"symbol": "greet"},
    "get_diagnostics": {"path": "pkg/greeting.py"},
    "explore_symbol": {"symbol": "greet"},
    "codebase_map": {},
    "get_completions": {"path": "pkg/greeting.py", "line": 2, "column": 5},
    "get_signature_help": {"path": "pkg/greeting.py", "line": 1, "column": 11},
    "suggest_fixes": {"path": "pkg/greeting.py", "line": 1},
    "get_inlay_hints": {"path": "pkg/greeting.py"},
    "get_semantic_tokens": {"path": "pkg/greeting.py"},
    "go_to_declaration": {"path": "pkg/greeting.py", "line": 1, "column": 5},
    "go_to_type_definition": {"path": "pkg/greeting.py", "pattern": "def @@greet"},
    "start_lsp": {"language": "python"},
    "restart_lsp_server": {"server": "python"},
    "get_server_capabilities": {"language": "python"},
    "detect_lsp_servers": {},
    "list_workspace_folders": {},
}
# Tools whose arguments cannot be written down beforehand; they are exercised elsewhere.
BY_HAND = {
    "cancel_job": "tests/contract/test_index_tools.py",
    "add_workspace_folder": "tests/contract/test_server_tools.py",
    "remove_workspace_folder": "tests/contract/test_server_tools.py",
}


def stable(value: Any) -> Any:
    """A value without the fields that differ from run to run."""
    if isinstance(value, dict):
        return {key: stable(item) for key, item in value.items() if key not in VOLATILE}
    return [stable(item) for item in value] if isinstance(value, list) else value


def test_every_tool_has_an_example() -> None:
    assert set(EXAMPLES) | set(BY_HAND) == {tool.name for tool in TOOLS}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_tool_answers_the_same_over_every_transport(config: Config, transport: str, mode: str) -> None:
    async with memory_client(config) as reference_client:
        expected = {name: await reference_client.call_tool(name, args) for name, args in EXAMPLES.items()}
    async with TRANSPORTS[transport](config, mode=mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(listed) == [tool.name for tool in TOOLS]
        for name, args in EXAMPLES.items():
            answer = await client.call_tool(name, args)
            assert not answer.is_error
            assert stable(answer.structured_content) == stable(expected[name].structured_content)
            assert json.loads(answer.content[0].text) == answer.structured_content
            jsonschema.validate(answer.structured_content, listed[name].output_schema)
            assert answer.structured_content["metadata"]["sightline_protocol_version"] == PROTOCOL_VERSION


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_an_unknown_argument_is_refused_with_the_nearest_name(config: Config, transport: str) -> None:
    async with TRANSPORTS[transport](config) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        for name, args in EXAMPLES.items():
            answer = await client.call_tool(name, {**args, "workspac": "/"})
            assert answer.is_error
            assert answer.structured_content["error"]["code"] == "invalid_input"
            assert "'workspace'" in answer.structured_content["error"]["message"]
            jsonschema.validate(answer.structured_content, listed[name].output_schema)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_an_unknown_tool_is_a_protocol_error_with_a_string_code(config: Config, transport: str) -> None:
    async with TRANSPORTS[transport](config) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("health_chek", {})
    assert caught.value.code == -32602
    assert caught.value.data["code"] == "invalid_input"


async def test_every_tool_refuses_an_unregistered_workspace(config: Config, tmp_path: Path) -> None:
    async with memory_client(config) as client:
        for name, args in EXAMPLES.items():
            answer = await client.call_tool(name, {**args, "workspace": str(tmp_path / "elsewhere")})
            assert answer.structured_content["error"]["code"] == "workspace_not_registered"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_is_described_for_clients_and_models(tool: Any) -> None:
    from sightline_server.protocol import describe_tool

    described = describe_tool(tool)
    assert re.fullmatch(r"[a-z0-9_]{1,30}", tool.name)
    assert described.input_schema["type"] == "object"
    assert described.input_schema["additionalProperties"] is False
    assert described.output_schema["type"] == "object"
    assert "$ref" not in json.dumps([described.input_schema, described.output_schema])
    assert described.annotations.read_only_hint is (not tool.changes_state)
    assert len(tool.description) > 60
    jsonschema.Draft202012Validator.check_schema(described.input_schema)
    jsonschema.Draft202012Validator.check_schema(described.output_schema)
    for name, schema in described.input_schema["properties"].items():
        assert schema.get("description"), f"{tool.name}.{name} has no description"


def test_toolsets_select_groups_and_single_tools() -> None:
    assert set(select_tools(["all"])) == {tool.name for tool in TOOLS}
    assert set(select_tools(["health_check"])) == {"health_check"}
    assert "health_check" in select_tools(["core"])
