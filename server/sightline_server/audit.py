"""The audit log: one JSON line for each tool call.

**Invariant**: a call never waits for the disk. Lines go through a bounded queue to one thread; what does not fit is
counted and the count is written. The file is rotated by size, mode 0600.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits

logger = logging.getLogger(__name__)


class Audited(Protocol):
    """What is written of a session."""

    client_name: str
    session_id: str


class AuditLog:
    """Writes lines until it is closed; without a file it does nothing."""

    def __init__(self, path: str, limits: Limits) -> None:
        """Raises `invalid_input` when the file cannot be written: that is a start-up error."""
        self._path = os.path.abspath(os.path.expanduser(path)) if path else ""
        self._limits = limits
        self._waiting: queue.Queue[dict[str, Any] | None] = queue.Queue(limits.max_waiting_audit_lines)
        self._dropped = 0
        self._thread: threading.Thread | None = None
        if self._path:
            try:
                os.close(self._open())
            except OSError as error:
                raise SightlineError(
                    ErrorCode.INVALID_INPUT, f"The audit log cannot be written: {error}.", hint="Check --audit-log."
                ) from None
            self._thread = threading.Thread(target=self._write_all, name="sightline-audit", daemon=True)
            self._thread.start()

    def record(
        self, session: Audited, tool: str, arguments: Mapping[str, Any] | None, body: Mapping[str, Any], begun: float
    ) -> None:
        """Have a finished call written; `begun` is a reading of `time.monotonic`."""
        if self._thread is None:
            return
        metadata = body.get("metadata", {})
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "client": session.client_name,
            "session": session.session_id,
            "tool": tool,
            "workspace": metadata.get("workspace"),
            "arguments": self._cut(dict(arguments or {})),
            "outcome": body.get("error", {}).get("code", "ok"),
            "completeness": metadata.get("result_completeness"),
            "duration_ms": round((time.monotonic() - begun) * 1000, 1),
        }
        try:
            self._waiting.put_nowait(line)
        except queue.Full:
            self._dropped += 1

    def close(self) -> None:
        """Write what waits, within the shutdown grace."""
        thread, self._thread = self._thread, None
        if thread is not None:
            with contextlib.suppress(queue.Full):
                self._waiting.put(None, timeout=self._limits.shutdown_grace_s)
            thread.join(self._limits.shutdown_grace_s)

    def _cut(self, value: Any) -> Any:
        limit = self._limits.max_audit_value_chars
        if isinstance(value, str):
            return value if len(value) <= limit else f"{value[:limit]}… ({len(value)} characters)"
        text = json.dumps(value, ensure_ascii=False, default=str)
        if isinstance(value, dict):
            return {self._cut(str(key)): self._cut(item) for key, item in value.items()}  # pyright: ignore
        return value if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"

    def _write_all(self) -> None:
        while (line := self._waiting.get()) is not None:
            if self._dropped:
                line["dropped_before"], self._dropped = self._dropped, 0
            try:
                self._write(line)
            except OSError as error:
                logger.warning("the audit log could not be written: %s", error)

    def _write(self, line: Mapping[str, Any]) -> None:
        data = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        descriptor = self._open()
        try:
            if os.fstat(descriptor).st_size + len(data) > self._limits.max_audit_bytes:
                os.close(descriptor)
                self._rotate()
                descriptor = self._open()
            os.write(descriptor, data)
        finally:
            os.close(descriptor)

    def _rotate(self) -> None:
        for number in range(self._limits.audit_files - 1, 0, -1):
            older = f"{self._path}.{number}"
            newer = f"{self._path}.{number - 1}" if number > 1 else self._path
            if os.path.exists(newer):
                os.replace(newer, older)
        if self._limits.audit_files <= 1:
            os.truncate(self._path, 0)

    def _open(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
