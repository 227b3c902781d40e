"""A client that speaks JSON-RPC to a real server process line by line, for what a library would hide."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from sightline_core.config import Config
from support.clients import command, config_file, environment

DEADLINE_S = 20.0


class RawClient:
    """One connection; `heard` holds everything the server said."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._buffer = b""
        self.heard: list[dict[str, Any]] = []

    def send(self, method: str, params: dict[str, Any] | None = None, request_id: int | None = None) -> None:
        """Send a request, or a notification without an id."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if request_id is not None:
            message["id"] = request_id
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def until(self, wanted: Callable[[dict[str, Any]], bool], seconds: float = DEADLINE_S) -> dict[str, Any]:
        """The first message that is wanted, heard or to come."""
        deadline = time.monotonic() + seconds
        seen = 0
        while True:
            for message in self.heard[seen:]:
                if wanted(message):
                    return message
            seen = len(self.heard)
            self._read(deadline)

    def answer(self, request_id: int, seconds: float = DEADLINE_S) -> dict[str, Any]:
        """The answer to a request."""
        return self.until(lambda m: m.get("id") == request_id and "method" not in m, seconds)

    def call(self, request_id: int, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a tool call."""
        self.send("tools/call", {"name": tool, "arguments": arguments}, request_id)
        return dict(self.answer(request_id)["result"]["structuredContent"])

    def end_input(self) -> None:
        """Say that nothing more will be asked."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def until_begun(self, request_id: int) -> None:
        """Read no further than into the answer to a request, which must be a long one."""
        deadline = time.monotonic() + DEADLINE_S
        while f'"id":{request_id}'.encode() not in self._buffer:
            self._read(deadline, most=256)

    def _read(self, deadline: float, most: int = 65536) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        ready, _, _ = select.select([stdout], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"not heard in time; the last were {self.heard[-5:]}"
        self._buffer += os.read(stdout.fileno(), most)
        *lines, self._buffer = self._buffer.split(b"\n")
        self.heard += [json.loads(line) for line in lines if line]


@contextmanager
def raw_client(
    config: Config,
    capabilities: dict[str, Any] | None = None,
    *,
    version: str = "2025-06-18",
    handshake: bool = True,
) -> Generator[RawClient, None, None]:
    """A connected client of a real child process; without a handshake nothing was said yet."""
    process = subprocess.Popen(
        command("serve-mcp", "--config", config_file(config)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(config),
        cwd=config.workspace[0],
    )
    try:
        client = RawClient(process)
        info = {"name": "raw", "version": "1"}
        hello = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": info}
        if handshake:
            client.send("initialize", hello, request_id=0)
            client.answer(0)
            client.send("notifications/initialized")
        yield client
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(DEADLINE_S)
        assert process.stdout is not None
        process.stdout.close()
