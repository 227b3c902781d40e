"""Errors that a language server caused.

**Invariant**: every message begins with the language in brackets, so that nobody takes them for faults of
Sightline; text that came from the server is cleaned and cut.
"""

from __future__ import annotations

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.text import clean_line
from sightline_core.types import SourceStatus

_MAX_QUOTED_CHARS = 300


class LspError(SightlineError):
    """A language server's failure; `status` is what the answer's source entry says about it."""

    def __init__(
        self, language: str, code: ErrorCode, text: str, *, status: SourceStatus, hint: str = "", detail: str = ""
    ) -> None:
        data = {"status": str(status)} | ({"detail": detail} if detail else {})
        super().__init__(code, f"[{language}] {text}", hint=hint, data=data)
        self.language = language
        self.text = text
        self.status = status
        self.detail = detail

    def blamed_on(self, language: str) -> LspError:
        """The same failure under the language that was asked about; a server may serve several."""
        if language == self.language:
            return self
        return LspError(language, self.code, self.text, status=self.status, hint=self.hint, detail=self.detail)


def quoted(text: str) -> str:
    """Server text on one line, cleaned and cut."""
    line = clean_line(text[: _MAX_QUOTED_CHARS * 4])
    return line if len(line) <= _MAX_QUOTED_CHARS else line[: _MAX_QUOTED_CHARS - 1] + "…"


def garbage(language: str, reason: str) -> LspError:
    """The server broke the protocol."""
    return LspError(
        language,
        ErrorCode.LSP_ERROR,
        f"The language server sent garbage: {quoted(reason)}.",
        status=SourceStatus.DOWN,
        hint="Ask again, or restart it with restart_lsp_server.",
    )


def died(language: str, server: str, reason: str, stderr: str) -> LspError:
    """The server's process ended or was ended."""
    return LspError(
        language,
        ErrorCode.LSP_UNAVAILABLE,
        f"{server} is gone: {quoted(reason)}.",
        status=SourceStatus.DOWN,
        hint="It is started again on the next request; restart_lsp_server starts it at once.",
        detail=stderr,
    )


def timed_out(language: str, method: str, seconds: float, extra: str = "") -> LspError:
    """No answer in time."""
    return LspError(
        language,
        ErrorCode.LSP_TIMEOUT,
        f"No answer to {method} within {seconds:g} s{extra}.",
        status=SourceStatus.TIMEOUT,
        hint="Ask again, or restart it with restart_lsp_server.",
    )


def refused(language: str, method: str, code: int, message: str) -> LspError:
    """The server answered with an error."""
    return LspError(
        language,
        ErrorCode.LSP_ERROR,
        f"The language server refused {method} with {code}: {quoted(message)}",
        status=SourceStatus.DOWN,
    )


def unsupported(language: str, server: str, method: str) -> LspError:
    """The server does not offer the method."""
    return LspError(
        language,
        ErrorCode.LSP_UNSUPPORTED,
        f"{server} does not offer {method}.",
        status=SourceStatus.UNSUPPORTED,
    )


def overloaded(language: str, server: str) -> LspError:
    """Too many requests wait for the server already."""
    return LspError(
        language,
        ErrorCode.LSP_TIMEOUT,
        f"{server} has too many unanswered requests.",
        status=SourceStatus.TIMEOUT,
        hint="Ask again later, or restart it with restart_lsp_server.",
    )


def not_ready(language: str, server: str, status: SourceStatus) -> LspError:
    """The server could not be asked in time because it is still coming up."""
    return LspError(
        language,
        ErrorCode.LSP_TIMEOUT,
        f"{server} is still {status}.",
        status=status,
        hint="Ask again shortly.",
    )


def unavailable(language: str, text: str, status: SourceStatus, *, hint: str = "", detail: str = "") -> LspError:
    """There is no server to ask."""
    return LspError(language, ErrorCode.LSP_UNAVAILABLE, text, status=status, hint=hint, detail=detail)
