"""Every tool that is served, and the sets that `--toolset` selects.

**Invariant**: a tool is registered by its one line in `TOOLS`; one that does not work is not listed.
"""

from __future__ import annotations

from collections.abc import Iterable

from sightline_core.errors import ErrorCode, SightlineError, nearest_name
from sightline_server.tools.base import AnyTool, Toolset
from sightline_server.tools.cancel_job import CANCEL_JOB
from sightline_server.tools.codebase_map import CODEBASE_MAP
from sightline_server.tools.detect_lsp_servers import DETECT_LSP_SERVERS
from sightline_server.tools.explore_symbol import EXPLORE_SYMBOL
from sightline_server.tools.file_annotations import GET_INLAY_HINTS, GET_SEMANTIC_TOKENS
from sightline_server.tools.find_callers import FIND_CALLERS
from sightline_server.tools.find_references import FIND_REFERENCES
from sightline_server.tools.find_related_symbols import FIND_RELATED_SYMBOLS
from sightline_server.tools.get_code_context import GET_CODE_CONTEXT
from sightline_server.tools.get_completions import GET_COMPLETIONS, GET_SIGNATURE_HELP
from sightline_server.tools.get_diagnostics import GET_DIAGNOSTICS
from sightline_server.tools.get_document_highlights import GET_DOCUMENT_HIGHLIGHTS
from sightline_server.tools.get_file_outline import GET_FILE_OUTLINE
from sightline_server.tools.get_server_capabilities import GET_SERVER_CAPABILITIES
from sightline_server.tools.get_symbol_hierarchy import GET_SYMBOL_HIERARCHY
from sightline_server.tools.get_symbol_source import GET_SYMBOL_SOURCE
from sightline_server.tools.go_to import (
    GO_TO_DECLARATION,
    GO_TO_DEFINITION,
    GO_TO_IMPLEMENTATION,
    GO_TO_TYPE_DEFINITION,
)
from sightline_server.tools.health_check import HEALTH_CHECK
from sightline_server.tools.index_repo import INDEX_REPO
from sightline_server.tools.index_status import INDEX_STATUS
from sightline_server.tools.inspect_symbol import GET_SYMBOL_DOCUMENTATION, INSPECT_SYMBOL
from sightline_server.tools.locate_symbol import LOCATE_SYMBOL
from sightline_server.tools.restart_lsp_server import RESTART_LSP_SERVER
from sightline_server.tools.search_code import SEARCH_CODE
from sightline_server.tools.start_lsp import START_LSP
from sightline_server.tools.suggest_fixes import SUGGEST_FIXES
from sightline_server.tools.sync_repo import SYNC_REPO
from sightline_server.tools.type_hierarchy import TYPE_HIERARCHY
from sightline_server.tools.workspace_folders import (
    ADD_WORKSPACE_FOLDER,
    LIST_WORKSPACE_FOLDERS,
    REMOVE_WORKSPACE_FOLDER,
)

TOOLS: tuple[AnyTool, ...] = (
    SEARCH_CODE,
    LOCATE_SYMBOL,
    GET_FILE_OUTLINE,
    GET_SYMBOL_HIERARCHY,
    FIND_RELATED_SYMBOLS,
    GET_CODE_CONTEXT,
    INDEX_REPO,
    SYNC_REPO,
    CANCEL_JOB,
    INDEX_STATUS,
    HEALTH_CHECK,
    GO_TO_DEFINITION,
    FIND_REFERENCES,
    GO_TO_IMPLEMENTATION,
    FIND_CALLERS,
    TYPE_HIERARCHY,
    GO_TO_DECLARATION,
    GO_TO_TYPE_DEFINITION,
    INSPECT_SYMBOL,
    GET_DOCUMENT_HIGHLIGHTS,
    GET_DIAGNOSTICS,
    EXPLORE_SYMBOL,
    CODEBASE_MAP,
    GET_SYMBOL_SOURCE,
    GET_SYMBOL_DOCUMENTATION,
    GET_COMPLETIONS,
    GET_SIGNATURE_HELP,
    SUGGEST_FIXES,
    GET_INLAY_HINTS,
    GET_SEMANTIC_TOKENS,
    START_LSP,
    RESTART_LSP_SERVER,
    GET_SERVER_CAPABILITIES,
    DETECT_LSP_SERVERS,
    ADD_WORKSPACE_FOLDER,
    REMOVE_WORKSPACE_FOLDER,
    LIST_WORKSPACE_FOLDERS,
)

DEFAULT_SET = "default"
ALL_SET = "all"


def select_tools(names: Iterable[str]) -> dict[str, AnyTool]:
    """The tools of toolsets and single names, in table order; raises `invalid_input` for an unknown name."""
    chosen: set[str] = set()
    for name in names:
        chosen |= _members(name)
    return {tool.name: tool for tool in TOOLS if tool.name in chosen}


def _members(name: str) -> set[str]:
    if name == ALL_SET:
        return {tool.name for tool in TOOLS}
    if name == DEFAULT_SET:
        return {tool.name for tool in TOOLS if tool.in_default_set}
    if name in {member.value for member in Toolset}:
        return {tool.name for tool in TOOLS if tool.toolset.value == name}
    if any(tool.name == name for tool in TOOLS):
        return {name}
    known = [DEFAULT_SET, ALL_SET, *(member.value for member in Toolset), *(tool.name for tool in TOOLS)]
    near = nearest_name(name, known)
    raise SightlineError(
        ErrorCode.INVALID_INPUT,
        f"'{name}' is no toolset and no tool.",
        hint=f"Did you mean '{near}'?" if near else f"Toolsets: {', '.join(known[: 2 + len(Toolset)])}.",
    )
