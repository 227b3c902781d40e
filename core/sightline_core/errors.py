"""Every error code of the product, and the one exception that carries them.

**Invariant**: a code exists here or nowhere; the documentation's table is tested against this enum.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class ErrorCode(StrEnum):
    """What went wrong, as a stable machine-readable string."""

    INVALID_INPUT = "invalid_input"
    INVALID_STRATEGY = "invalid_strategy"
    INVALID_MAX_TOKENS = "invalid_max_tokens"
    WORKSPACE_NOT_REGISTERED = "workspace_not_registered"
    WORKSPACE_NOT_ALLOWED = "workspace_not_allowed"
    WORKSPACE_LIMIT_EXCEEDED = "workspace_limit_exceeded"
    INDEX_IN_PROGRESS = "index_in_progress"
    INDEX_NOT_READY = "index_not_ready"
    SYNC_IN_PROGRESS = "sync_in_progress"
    INDEX_STALE = "index_stale"
    INDEX_INCOMPATIBLE = "index_incompatible"
    SYMBOL_NOT_FOUND = "symbol_not_found"
    AMBIGUOUS_SYMBOL = "ambiguous_symbol"
    FILE_NOT_FOUND = "file_not_found"
    PATH_NOT_ALLOWED = "path_not_allowed"
    WRITE_NOT_ALLOWED = "write_not_allowed"
    JOB_NOT_FOUND = "job_not_found"
    LSP_UNAVAILABLE = "lsp_unavailable"
    LSP_TIMEOUT = "lsp_timeout"
    LSP_ERROR = "lsp_error"
    LSP_UNSUPPORTED = "lsp_unsupported"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    OVERLOADED = "overloaded"
    INTERNAL_ERROR = "internal_error"


MEANINGS: Mapping[ErrorCode, str] = {
    ErrorCode.INVALID_INPUT: "An argument is missing, unknown, of the wrong type or out of its range.",
    ErrorCode.INVALID_STRATEGY: "`strategy` is neither `breadth` nor `depth`.",
    ErrorCode.INVALID_MAX_TOKENS: "`max_tokens` is outside the accepted range.",
    ErrorCode.WORKSPACE_NOT_REGISTERED: "The workspace is unknown and may not be discovered.",
    ErrorCode.WORKSPACE_NOT_ALLOWED: "The workspace lies outside every allowed root.",
    ErrorCode.WORKSPACE_LIMIT_EXCEEDED: "All discovered workspaces are busy and the limit is reached.",
    ErrorCode.INDEX_IN_PROGRESS: "A forced index was asked for while another index job runs.",
    ErrorCode.INDEX_NOT_READY: "The workspace has no index yet.",
    ErrorCode.SYNC_IN_PROGRESS: "A forced job was asked for while a sync runs.",
    ErrorCode.INDEX_STALE: "`strict` freshness was asked for and the index could not catch up in time.",
    ErrorCode.INDEX_INCOMPATIBLE: "The stored index is damaged, foreign or of another schema version.",
    ErrorCode.SYMBOL_NOT_FOUND: "No definition has that name.",
    ErrorCode.AMBIGUOUS_SYMBOL: "Several definitions have that name.",
    ErrorCode.FILE_NOT_FOUND: "No regular file is at that path.",
    ErrorCode.PATH_NOT_ALLOWED: "The path resolves outside the registered roots.",
    ErrorCode.WRITE_NOT_ALLOWED: "The server was started without `--allow-write`.",
    ErrorCode.JOB_NOT_FOUND: "No job of this workspace has that id.",
    ErrorCode.LSP_UNAVAILABLE: "No language server could be reached for the language.",
    ErrorCode.LSP_TIMEOUT: "The language server did not answer in time.",
    ErrorCode.LSP_ERROR: "The language server answered with an error or with garbage.",
    ErrorCode.LSP_UNSUPPORTED: "The language server lacks the capability.",
    ErrorCode.DEADLINE_EXCEEDED: "The call did not finish within its deadline.",
    ErrorCode.OVERLOADED: "Too many calls are under way; try again later.",
    ErrorCode.INTERNAL_ERROR: "A fault of Sightline itself; the log has the details.",
}


class SightlineError(Exception):
    """A failure that a caller is told about.

    `message` says what happened; `hint` says what to do next. `data` holds machine-readable extras.
    A subclass exists only where some code catches it.
    """

    def __init__(
        self, code: ErrorCode, message: str, *, hint: str = "", data: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.data: Mapping[str, Any] = data or {}

    def __str__(self) -> str:
        return self.full_message

    @property
    def full_message(self) -> str:
        """The message with its hint, as clients read it."""
        return f"{self.message} {self.hint}" if self.hint else self.message


def nearest_name(name: str, known: list[str] | tuple[str, ...]) -> str | None:
    """The known name that a mistyped one most likely meant, or None."""
    # Imported here because difflib costs start-up time and only mistakes need it.
    import difflib

    matches = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return matches[0] if matches else None
