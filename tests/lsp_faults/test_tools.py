"""Every tool against every kind of trouble: the answer is labelled, and that of the healthy twin is complete."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from lsp_faults.fault import raw
from support.fake_pool import QUICK, table
from support.index_kit import write_tree
from support.navigation_kit import Desk, desk

pytestmark = pytest.mark.anyio

PLACE = {"path": "main.py", "line": 1, "column": 5}
LINES = {"path": "main.py", "line": 1}
DIAGNOSTICS = {"diagnosticProvider": {"interFileDependencies": False}}
FILES = {
    "main.py": "def alpha(): pass\nalpha()\n\n\nclass Base:\n    pass\n\n\nclass Heir(Base):\n    pass\n",
    "uses.py": "from main import alpha\n\n\ndef beta():\n    return alpha()\n",
}


@dataclass(frozen=True)
class Probe:
    """A tool, the request it rests on and the capability for it; `stands_in` when the index can answer, too."""

    tool: str
    method: str
    provider: str
    stands_in: bool
    arguments: Mapping[str, Any] = field(default_factory=lambda: PLACE)


PROBES = [
    Probe("go_to_definition", "textDocument/definition", "definitionProvider", True),
    Probe("go_to_declaration", "textDocument/declaration", "declarationProvider", True),
    Probe("go_to_implementation", "textDocument/implementation", "implementationProvider", True),
    Probe("go_to_type_definition", "textDocument/typeDefinition", "typeDefinitionProvider", False),
    Probe("find_references", "textDocument/references", "referencesProvider", True),
    Probe("find_callers", "textDocument/prepareCallHierarchy", "callHierarchyProvider", True),
    Probe("type_hierarchy", "textDocument/prepareTypeHierarchy", "typeHierarchyProvider", True),
    Probe("inspect_symbol", "textDocument/hover", "hoverProvider", True),
    Probe("get_symbol_documentation", "textDocument/hover", "hoverProvider", True),
    Probe("get_document_highlights", "textDocument/documentHighlight", "documentHighlightProvider", True),
    Probe("explore_symbol", "textDocument/references", "referencesProvider", True),
    Probe("get_diagnostics", "textDocument/diagnostic", "diagnosticProvider", False, {"path": "main.py"}),
    Probe("get_completions", "textDocument/completion", "completionProvider", False),
    Probe("get_signature_help", "textDocument/signatureHelp", "signatureHelpProvider", False),
    Probe("suggest_fixes", "textDocument/codeAction", "codeActionProvider", False, LINES),
    Probe("get_inlay_hints", "textDocument/inlayHint", "inlayHintProvider", False, LINES),
    Probe("get_semantic_tokens", "textDocument/semanticTokens/full", "semanticTokensProvider", False, LINES),
]
PROGRESS = {"do": "notify", "method": "$/progress"}
BEGIN = {**PROGRESS, "params": {"token": "load", "value": {"kind": "begin", "title": "loading"}}}
END = {**PROGRESS, "params": {"token": "load", "value": {"kind": "end"}}}
EXIT = {"do": "exit", "code": 3}
HANG = {"do": "hang"}


def faulty(kind: str, probe: Probe) -> dict[str, Any]:
    """The script of a server that has this trouble with this request."""
    scripts: dict[str, dict[str, Any]] = {
        "hangs": {"on": {probe.method: [HANG]}},
        "crashes": {"on": {probe.method: [EXIT]}},
        "sends garbage": {"on": {probe.method: [raw("Content-Length: 5\r\n\r\n{{{{{")]}},
        "answers with a wrong shape": {"on": {probe.method: [{"do": "reply", "result": 17}]}},
        "refuses": {"on": {probe.method: [{"do": "error", "code": -32603}]}},
        "dies at the start": {"start": [EXIT]},
        "hangs at the start": {"start": [HANG]},
        "loads forever": {"initialized": [BEGIN]},
        "lacks the capability": {"capabilities": {probe.provider: "absent"}},
        "is killed": {"on": {probe.method: [{"do": "kill"}]}},
        "closes its output": {"on": {probe.method: [{"do": "close"}]}},
    }
    return _with_diagnostics(scripts[kind])


# What looks like trouble and is none.
TWINS: dict[str, dict[str, Any]] = {
    "answers late": {"on": {"textDocument/didOpen": [{"do": "sleep", "s": 0.1}]}},
    "warns before it answers": {"initialized": [{"do": "stderr", "text": "a warning\n"}]},
    "sends what nobody asked for": {"initialized": [{"do": "notify", "method": "custom/thing", "times": 50}]},
    "asks for configuration": {
        "initialized": [
            {"do": "request", "method": "workspace/configuration", "params": {"items": [{"section": "x"}]}}
        ]
    },
    "logs an error": {
        "initialized": [{"do": "notify", "method": "window/logMessage", "params": {"type": 1, "message": "no"}}]
    },
    "starts late": {"start": [{"do": "sleep", "s": 0.1}]},
    "registers capabilities": {
        "initialized": [
            {
                "do": "request",
                "method": "client/registerCapability",
                "params": {"registrations": [{"id": "1", "method": "workspace/didChangeConfiguration"}]},
            }
        ]
    },
    "loads and is done": {"initialized": [BEGIN, END]},
    "has no symbol search": {"capabilities": {"workspaceSymbolProvider": "absent"}},
    "is installed": {},
    "has a child": {"initialized": [{"do": "child"}]},
    "says much on its error output": {"initialized": [{"do": "stderr", "text": "noise\n" * 5000}]},
}
# Each trouble with its own twin: every tool is asked under both.
PAIRS = {
    "hangs": "answers late",
    "crashes": "warns before it answers",
    "sends garbage": "sends what nobody asked for",
    "answers with a wrong shape": "asks for configuration",
    "refuses": "logs an error",
    "dies at the start": "starts late",
    "hangs at the start": "registers capabilities",
    "loads forever": "loads and is done",
    "lacks the capability": "has no symbol search",
    "is not installed": "is installed",
    "is killed": "has a child",
    "closes its output": "says much on its error output",
}
TROUBLES = list(PAIRS)


def test_there_are_two_hundred_cases_and_each_has_a_twin_of_its_own() -> None:
    assert len(PROBES) * len(PAIRS) >= 200
    assert sorted(PAIRS.values()) == sorted(TWINS)


def _with_diagnostics(script: dict[str, Any]) -> dict[str, Any]:
    return {**script, "capabilities": DIAGNOSTICS | script.get("capabilities", {})}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workspace whose index is made by the first test and used by all."""
    folder = tmp_path_factory.mktemp("tools")
    write_tree(folder / "root", FILES)
    return folder


@asynccontextmanager
async def serving(
    indexed: Path, tmp_path: Path, script: Mapping[str, Any], *, installed: bool = True, timeout_s: float
) -> AsyncGenerator[Desk]:
    row = table(tmp_path, script, "python")
    if not installed:
        row["command"] = ["no-such-language-server"]
    limits = replace(
        QUICK,
        lsp_navigation_timeout_s=timeout_s,
        diagnostics_timeout_s=timeout_s,
        lsp_enrich_budget_ms=200,
        lsp_max_starts=1000,
    )
    settings = {"server_tables": {"fake": row}, "language_servers": {"python": ("fake",)}}
    fresh = not (indexed / "data").exists()
    async with desk(indexed, indexed / "root", limits=limits, index=fresh, **settings) as made:
        yield made


def is_labelled(body: Mapping[str, Any], probe: Probe) -> bool:
    """A partial answer, or an error of the language server where nothing can stand in."""
    if "error" in body:
        return not probe.stands_in and body["error"]["code"].startswith("lsp_")
    return body["metadata"]["result_completeness"] == "partial"


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.tool)
async def test_an_answer_is_labelled_when_its_server(
    indexed: Path, tmp_path: Path, probe: Probe, trouble: str
) -> None:
    installed = trouble != "is not installed"
    script = faulty(trouble, probe) if installed else {}
    async with serving(indexed, tmp_path, script, installed=installed, timeout_s=0.5) as made:
        body = await made.ask(probe.tool, **probe.arguments)
    assert is_labelled(body, probe), body
    if "error" not in body:
        assert body["metadata"]["sources"][0]["status"] != "ok" or trouble == "lacks the capability"
        assert body["metadata"]["warnings"]


@pytest.mark.parametrize("twin", TWINS)
async def test_an_answer_is_complete_when_its_server_only(indexed: Path, tmp_path: Path, twin: str) -> None:
    async with serving(indexed, tmp_path, _with_diagnostics(TWINS[twin]), timeout_s=10.0) as made:
        for probe in PROBES:
            body = await made.ask(probe.tool, **probe.arguments)
            assert body["metadata"]["result_completeness"] == "complete", (probe.tool, body)
            assert "error" not in body, (probe.tool, body)
            assert body["metadata"]["sources"][0]["status"] == "ok"
            assert "warnings" not in body["metadata"]


@pytest.mark.parametrize("trouble", [trouble for trouble in TROUBLES if trouble != "lacks the capability"])
async def test_references_and_callers_come_from_the_index_meanwhile(
    indexed: Path, tmp_path: Path, trouble: str
) -> None:
    for tool, method in (
        ("find_references", "textDocument/references"),
        ("find_callers", "textDocument/prepareCallHierarchy"),
    ):
        probe = Probe(tool, method, "", True)
        installed = trouble != "is not installed"
        script = faulty(trouble, probe) if installed else {}
        async with serving(indexed, tmp_path, script, installed=installed, timeout_s=0.5) as made:
            body = await made.ask(tool, **PLACE)
        found = body["locations"] if tool == "find_references" else body["items"]
        assert "uses.py" in {place["path"] for place in found}
        assert "index" in body["provenance"]
