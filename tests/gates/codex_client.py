"""Codex' app-server with our server configured: start a thread, list its tools, call one.

Arguments: the workspace and the command of the stdio server. CODEX_HOME is a directory of the gate's own. The
configured model provider is a closed loopback port, so that no model is asked.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

DEADLINE_S = 45
CONFIG = """
model_provider = "nobody"
model = "none"
[model_providers.nobody]
name = "nobody"
base_url = "http://127.0.0.1:9/v1"
[analytics]
enabled = false
[mcp_servers.sightline]
command = {command}
args = {args}
env = {{ SIGHTLINE_DATA_DIR = {data} }}
"""


class AppServer:
    """One conversation with `codex app-server` over pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._deadline = time.monotonic() + DEADLINE_S
        self._buffer = b""
        self._last_id = 0

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        while True:
            message = json.loads(self._line())
            if message.get("id") == self._last_id and "method" not in message:
                assert "result" in message, f"{method}: {message}"
                return message["result"]

    def tell(self, method: str) -> None:
        self._send({"method": method})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        while b"\n" not in self._buffer:
            left = self._deadline - time.monotonic()
            assert left > 0, "codex did not answer in time"
            if select.select([self._process.stdout], [], [], left)[0]:
                chunk = os.read(self._process.stdout.fileno(), 65536)
                assert chunk, "codex closed its output"
                self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line


def main(workspace: str, program: str, *args: str) -> None:
    data = json.dumps(os.environ["SIGHTLINE_DATA_DIR"])
    text = CONFIG.format(command=json.dumps(program), args=json.dumps(args), data=data)
    Path(os.environ["CODEX_HOME"], "config.toml").write_text(text, "utf-8")
    process = subprocess.Popen(
        ["codex", "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        server = AppServer(process)
        client = {"name": "gate", "version": "1"}
        server.ask("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        server.tell("initialized")
        thread = server.ask("thread/start", {"cwd": workspace})["thread"]["id"]
        (status,) = server.ask("mcpServerStatus/list", {})["data"]
        assert "health_check" in status["tools"], status
        call = {"threadId": thread, "server": "sightline", "tool": "health_check", "arguments": {}}
        answer = server.ask("mcpServer/tool/call", call)
        assert answer["structuredContent"]["metadata"]["workspace"] == workspace, answer
    finally:
        process.terminate()
        process.wait(DEADLINE_S)
    print(f"thread started, {len(status['tools'])} tool(s) listed, health_check called")


if __name__ == "__main__":
    main(*sys.argv[1:])
