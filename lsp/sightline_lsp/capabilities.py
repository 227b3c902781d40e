"""What Sightline offers to servers, and what a server offers.

**Invariant**: nothing is announced that the client does not do, and no method is sent that the server did not offer,
statically or by registration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from sightline_core.limits import Limits
from sightline_core.text import ColumnUnit
from sightline_lsp.messages import Malformed
from sightline_lsp.shapes import WireRegistration

OFFERED_UNITS = (ColumnUnit.UTF8, ColumnUnit.UTF16, ColumnUnit.UTF32)
WATCHED_FILES = "workspace/didChangeWatchedFiles"
WORKSPACE_FOLDERS = "workspace/didChangeWorkspaceFolders"

# Which entry of the server's capabilities stands for a method.
PROVIDERS: Mapping[str, str] = {
    "workspace/symbol": "workspaceSymbolProvider",
    "textDocument/definition": "definitionProvider",
    "textDocument/declaration": "declarationProvider",
    "textDocument/typeDefinition": "typeDefinitionProvider",
    "textDocument/implementation": "implementationProvider",
    "textDocument/references": "referencesProvider",
    "textDocument/prepareCallHierarchy": "callHierarchyProvider",
    "textDocument/prepareTypeHierarchy": "typeHierarchyProvider",
    "textDocument/hover": "hoverProvider",
    "textDocument/documentHighlight": "documentHighlightProvider",
    "textDocument/documentSymbol": "documentSymbolProvider",
    "textDocument/completion": "completionProvider",
    "textDocument/signatureHelp": "signatureHelpProvider",
    "textDocument/codeAction": "codeActionProvider",
    "textDocument/inlayHint": "inlayHintProvider",
    "textDocument/semanticTokens/full": "semanticTokensProvider",
    "textDocument/diagnostic": "diagnosticProvider",
}
# Methods that follow another one are offered together with it; semantic tokens register under one name for all.
_STANDS_FOR: Mapping[str, str] = {
    "callHierarchy/incomingCalls": "textDocument/prepareCallHierarchy",
    "callHierarchy/outgoingCalls": "textDocument/prepareCallHierarchy",
    "typeHierarchy/supertypes": "textDocument/prepareTypeHierarchy",
    "typeHierarchy/subtypes": "textDocument/prepareTypeHierarchy",
}
_REGISTERED_AS: Mapping[str, str] = {"textDocument/semanticTokens/full": "textDocument/semanticTokens"}

_SYMBOL_KINDS = list(range(1, 27))
_TOKEN_TYPES = (
    *("namespace", "type", "class", "enum", "interface", "struct", "typeParameter", "parameter", "variable"),
    *("property", "enumMember", "event", "function", "method", "macro", "keyword", "modifier", "comment"),
    *("string", "number", "regexp", "operator", "decorator"),
)
_TOKEN_MODIFIERS = (
    *("declaration", "definition", "readonly", "static", "deprecated", "abstract", "async", "modification"),
    *("documentation", "defaultLibrary"),
)


def client_capabilities() -> dict[str, Any]:
    """The capabilities of `initialize`."""
    return {
        "general": {
            "positionEncodings": [str(unit) for unit in OFFERED_UNITS],
            "staleRequestSupport": {
                "cancel": True,
                "retryOnContentModified": ["textDocument/semanticTokens/full", "workspace/symbol"],
            },
        },
        "window": {
            "workDoneProgress": True,
            "showMessage": {"messageActionItem": {"additionalPropertiesSupport": False}},
            "showDocument": {"support": False},
        },
        "workspace": {
            "applyEdit": False,
            "workspaceFolders": True,
            "configuration": True,
            "didChangeConfiguration": {"dynamicRegistration": True},
            "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
            "symbol": {"dynamicRegistration": True, "symbolKind": {"valueSet": _SYMBOL_KINDS}},
            "semanticTokens": {"refreshSupport": True},
            "inlayHint": {"refreshSupport": True},
            "diagnostics": {"refreshSupport": True},
        },
        "textDocument": _document_capabilities(),
    }


def _document_capabilities() -> dict[str, Any]:
    dynamic = {"dynamicRegistration": True}
    linked = {"dynamicRegistration": True, "linkSupport": True}
    markup = ["markdown", "plaintext"]
    return {
        "synchronization": {"dynamicRegistration": True, "didSave": True},
        "publishDiagnostics": {"versionSupport": True},
        "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": False},
        "definition": linked,
        "declaration": linked,
        "typeDefinition": linked,
        "implementation": linked,
        "references": dynamic,
        "callHierarchy": dynamic,
        "typeHierarchy": dynamic,
        "hover": {"dynamicRegistration": True, "contentFormat": markup},
        "documentHighlight": dynamic,
        "documentSymbol": {
            "dynamicRegistration": True,
            "hierarchicalDocumentSymbolSupport": True,
            "symbolKind": {"valueSet": _SYMBOL_KINDS},
        },
        "completion": {
            "dynamicRegistration": True,
            "completionItem": {"snippetSupport": False, "documentationFormat": markup},
        },
        "signatureHelp": {
            "dynamicRegistration": True,
            "signatureInformation": {
                "documentationFormat": markup,
                "parameterInformation": {"labelOffsetSupport": True},
            },
        },
        "codeAction": {
            "dynamicRegistration": True,
            "isPreferredSupport": True,
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix", "refactor", "source"]}},
        },
        "inlayHint": dynamic,
        "semanticTokens": {
            "dynamicRegistration": True,
            "requests": {"full": True},
            "tokenTypes": _TOKEN_TYPES,
            "tokenModifiers": _TOKEN_MODIFIERS,
            "formats": ["relative"],
        },
    }


class Offers:
    """The capabilities of one server, with its dynamic registrations."""

    def __init__(self, capabilities: Mapping[str, Any], limits: Limits) -> None:
        self._static = capabilities
        self._limits = limits
        self._registered: dict[str, WireRegistration] = {}
        self.unit = _position_unit(capabilities)

    def has(self, method: str) -> bool:
        """Whether `method` may be sent."""
        method = _STANDS_FOR.get(method, method)
        provider = PROVIDERS.get(method)
        if provider is None:
            return True
        if _is_offered(self._static.get(provider)):
            return True
        name = _REGISTERED_AS.get(method, method)
        return any(entry.method == name for entry in self._registered.values())

    def names(self) -> tuple[str, ...]:
        """Every method Sightline may send, in the order of the table."""
        return tuple(method for method in PROVIDERS if self.has(method))

    def register(self, entry: WireRegistration) -> None:
        """Take a registration; raises `Malformed` beyond the limit."""
        if len(self._registered) >= self._limits.lsp_max_registrations:
            raise Malformed("too many registrations")
        self._registered[entry.id] = entry

    def unregister(self, id_: str) -> None:
        """Withdraw a registration; an unknown one is nothing."""
        self._registered.pop(id_, None)

    def registrations(self, method: str) -> list[Any]:
        """The options of every registration for `method`."""
        return [entry.register_options for entry in self._registered.values() if entry.method == method]

    @property
    def wants_documents(self) -> bool:
        """Whether open, change and close are to be sent."""
        sync = self._static.get("textDocumentSync")
        if isinstance(sync, dict):
            return as_table(sync).get("openClose") is True or bool(self.registrations("textDocument/didOpen"))
        # A server that says nothing is sent documents all the same: many answer only about open ones.
        return sync is None or (isinstance(sync, int) and sync > 0)

    @property
    def follows_folders(self) -> bool:
        """Whether the server wants to hear of folder changes."""
        folders = as_table(as_table(self._static.get("workspace")).get("workspaceFolders"))
        return bool(folders.get("changeNotifications")) or bool(self.registrations(WORKSPACE_FOLDERS))

    def token_legend(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of semantic token types and modifiers; empty when the server gave none."""
        for options in (
            self._static.get("semanticTokensProvider"),
            *self.registrations("textDocument/semanticTokens"),
        ):
            legend = as_table(as_table(options).get("legend"))
            if legend:
                return _names(legend.get("tokenTypes")), _names(legend.get("tokenModifiers"))
        return (), ()


def as_table(value: Any) -> Mapping[str, Any]:
    """A decoded JSON object; anything else counts as an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _position_unit(capabilities: Mapping[str, Any]) -> ColumnUnit:
    chosen = capabilities.get("positionEncoding")
    if chosen is None:
        return ColumnUnit.UTF16
    for unit in OFFERED_UNITS:
        if chosen == str(unit):
            return unit
    raise Malformed(f"it chose the position encoding {chosen!r}, which was not offered")


def _is_offered(value: Any) -> bool:
    # An empty table of options is an offer; `false` and null are not, and neither is any other type.
    return value is True or isinstance(value, dict)


def _names(value: Any) -> tuple[str, ...]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return tuple(item if isinstance(item, str) else "" for item in items)
