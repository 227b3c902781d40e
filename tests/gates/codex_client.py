"""Codex' app-server with our server configured: index a workspace, poll, search and navigate as its agent would.

Arguments: the workspace and the command of the stdio server; our settings come from the environment and are passed
on, the daemon among them. CODEX_HOME is a directory of the gate's own. The configured model provider is a closed
loopback port, so that no model is asked.
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

DEADLINE_S = 75
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
env = {{ {env} }}
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


class Thread:
    """A thread of Codex that calls our tools, as its model would."""

    def __init__(self, server: AppServer, workspace: str) -> None:
        self._server = server
        self._id = server.ask("thread/start", {"cwd": workspace})["thread"]["id"]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of an answer that is no error."""
        call = {"threadId": self._id, "server": "sightline", "tool": tool, "arguments": arguments}
        answer = self._server.ask("mcpServer/tool/call", call)
        assert not answer.get("isError"), answer
        return answer["structuredContent"]

    def call_until_complete(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Ask again while the answer says what is missing; an unlabelled hole is never asked again."""
        while True:
            answer = self.call(tool, **arguments)
            metadata = answer["metadata"]
            if metadata["result_completeness"] == "complete":
                return answer
            assert metadata["result_completeness"] == "partial", metadata
            assert metadata.get("warnings"), metadata


def index(thread: Thread, workspace: str) -> int:
    """Index the workspace and poll until it is ready; the number of its files."""
    job = thread.call("index_repo")
    assert job["progress_token"] == f"index-job-{job['job_id']}", job
    while True:
        status = thread.call("index_status")
        assert status["metadata"]["workspace"] == workspace, status
        assert status["metadata"]["indexing_status"] in ("indexing", "ready"), status
        if status["metadata"]["indexing_status"] == "ready" and "active_job" not in status:
            return status["file_count"]


def search_and_navigate(thread: Thread) -> None:
    """From a name to its definition and its uses; every answer is complete in the end and says who gave it."""
    hits = thread.call_until_complete("search_code", query="greet")["results"]
    assert (hits[0]["path"], hits[0]["line"], hits[0]["kind"]) == ("shop/greeting.py", 1, "function"), hits
    located = thread.call_until_complete("locate_symbol", name="greet")["results"]
    assert [(hit["path"], hit["provenance"]) for hit in located] == [("shop/greeting.py", ["index", "lsp"])], located
    use = {"path": "shop/main.py", "pattern": "return @@greet("}
    definition = thread.call_until_complete("go_to_definition", **use)
    assert [(place["path"], place["line"]) for place in definition["locations"]] == [("shop/greeting.py", 1)]
    assert definition["provenance"] == ["lsp"], definition
    references = thread.call_until_complete("find_references", symbol="greet")
    places = {(place["path"], place["line"]) for place in references["locations"]}
    assert ("shop/main.py", 5) in places, references
    assert references["provenance"] == ["lsp"], references
    callers = thread.call_until_complete("find_callers", **use)
    assert [caller["name"] for caller in callers["items"]] == ["welcome"], callers


def configure(program: str, args: tuple[str, ...]) -> None:
    """Write the file that names our server, with our settings of this process."""
    settings = {name: value for name, value in os.environ.items() if name.startswith("SIGHTLINE_")}
    env = ", ".join(f"{name} = {json.dumps(value)}" for name, value in settings.items())
    text = CONFIG.format(command=json.dumps(program), args=json.dumps(args), env=env)
    Path(os.environ["CODEX_HOME"], "config.toml").write_text(text, "utf-8")


def daemon_sessions(program: str) -> list[dict[str, Any]]:
    """The sessions of the daemons that run, as the command line shows them."""
    done = subprocess.run([program, "daemon", "status", "--json"], capture_output=True, text=True)
    reports = json.loads(done.stdout)["daemons"]
    return [session for report in reports for session in report["sessions"]]


def main(workspace: str, program: str, *args: str) -> None:
    configure(program, args)
    process = subprocess.Popen(
        ["codex", "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        server = AppServer(process)
        client = {"name": "gate", "version": "1"}
        server.ask("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        server.tell("initialized")
        thread = Thread(server, workspace)
        (status,) = server.ask("mcpServerStatus/list", {})["data"]
        assert "health_check" in status["tools"], status
        files = index(thread, workspace)
        search_and_navigate(thread)
        sessions = daemon_sessions(program)
        behind = os.environ["SIGHTLINE_DAEMON"] == "yes"
        assert [session["workspace"] for session in sessions] == [workspace] * behind, sessions
    finally:
        process.terminate()
        process.wait(DEADLINE_S)
    print(f"{len(status['tools'])} tools listed, {files} files indexed, searched, navigated")


if __name__ == "__main__":
    main(*sys.argv[1:])
