"""The form of a fault: what the fake server does, what is asked, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

GARBAGE = "lsp_error"
TIMEOUT = "lsp_timeout"
GONE = "lsp_unavailable"
UNSUPPORTED = "lsp_unsupported"
REFUSED = "lsp_error"
OK = "ok"

# For faults that are noticed at once the deadline is far off, so that a timeout could not be mistaken for them.
FAR_S = 20.0
NEAR_S = 0.5


@dataclass(frozen=True, slots=True)
class Fault:
    """`expect` is an error code, or `ok` with a `check` of the value."""

    name: str
    script: Mapping[str, Any]
    expect: str
    ask: str = "hover"
    deadline_s: float = FAR_S
    check: Callable[[Any], bool] | None = None
    source: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        return self.name


METHODS = {
    "hover": "textDocument/hover",
    "definition": "textDocument/definition",
    "declaration": "textDocument/declaration",
    "type_definition": "textDocument/typeDefinition",
    "implementation": "textDocument/implementation",
    "references": "textDocument/references",
    "prepare_calls": "textDocument/prepareCallHierarchy",
    "incoming_calls": "callHierarchy/incomingCalls",
    "outgoing_calls": "callHierarchy/outgoingCalls",
    "prepare_types": "textDocument/prepareTypeHierarchy",
    "supertypes": "typeHierarchy/supertypes",
    "subtypes": "typeHierarchy/subtypes",
    "document_highlights": "textDocument/documentHighlight",
    "document_symbols": "textDocument/documentSymbol",
    "completion": "textDocument/completion",
    "signature_help": "textDocument/signatureHelp",
    "code_actions": "textDocument/codeAction",
    "inlay_hints": "textDocument/inlayHint",
    "semantic_tokens": "textDocument/semanticTokens/full",
    "diagnostics": "textDocument/diagnostic",
    "workspace_symbols": "workspace/symbol",
}


def on(ask: str, *actions: Mapping[str, Any]) -> dict[str, Any]:
    """A script that answers one question with `actions`."""
    script: dict[str, Any] = {"on": {METHODS.get(ask, ask): list(actions)}}
    if ask == "diagnostics":
        script["capabilities"] = {"diagnosticProvider": {"interFileDependencies": False}}
    return script


def reply(result: Any) -> dict[str, Any]:
    return {"do": "reply", "result": result}


def raw(text: str) -> dict[str, Any]:
    return {"do": "raw", "text": text}


def frame(body: str, **more: Any) -> dict[str, Any]:
    return {"do": "frame", "body": body} | more
