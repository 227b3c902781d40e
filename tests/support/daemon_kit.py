"""A user of their own for the tests of the daemon: a runtime folder, fronts as processes, and nobody left behind."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sightline_core.config import Config, load_config
from sightline_server.daemon.client import ask_control
from sightline_server.daemon.places import all_places
from support.clients import command, config_file, environment

DEADLINE_S = 40.0
INITIALIZE = {
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


class Front:
    """One `serve-mcp` process and the client's side of its pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.pid = process.pid
        self._buffer = b""
        self._next_id = 0

    def send(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Send a request; returns its id."""
        self._next_id += 1
        message = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params or {}}
        self.write(json.dumps(message).encode() + b"\n")
        return self._next_id

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self, seconds: float = DEADLINE_S) -> dict[str, Any]:
        """The next message that is no notification; raises `TimeoutError` or `EOFError`."""
        while "id" not in (message := self._read_any(seconds)):
            pass
        return message

    def _read_any(self, seconds: float) -> dict[str, Any]:
        assert self.process.stdout is not None
        end = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError("no answer in time")
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                raise EOFError(self.process.stderr.read().decode())
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """One request and its answer; anything else that comes first is an error."""
        identity = self.send(method, params)
        reply = self.read()
        assert reply.get("id") == identity, reply
        return reply

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a tool call."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]["structuredContent"]

    def open(self) -> Front:
        """Shake hands."""
        reply = self.ask("initialize", INITIALIZE["params"])
        assert reply["result"]["serverInfo"]["name"] == "sightline"
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return self

    def end(self) -> int:
        """Close its input as a client does that is done."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(DEADLINE_S)


class Yard:
    """One user's fronts and daemons."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.config = replace(config, runtime_dir=str(folder / "run"), daemon=True, prewarm=True)
        self._file = config_file(self.config)
        self.environment = environment(config, SIGHTLINE_DAEMON="yes", SIGHTLINE_RUNTIME_DIR=self.config.runtime_dir)
        self.effective = load_config(environment=self.environment, file=self._file)
        self.fronts: list[Front] = []

    def command(self, *args: str) -> list[str]:
        return [*command(*args), "--config", self._file]

    def start(self, *args: str, argv: list[str] | None = None, **options: Any) -> Front:
        """A front as a client starts it."""
        process = subprocess.Popen(
            argv or self.command("serve-mcp", *args),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self.environment, **options.pop("env", {})},
            cwd=options.pop("cwd", self.config.workspace[0] if self.config.workspace else "/"),
            **options,
        )
        self.fronts.append(Front(process))
        return self.fronts[-1]

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """A command as a person runs it."""
        return subprocess.run(
            self.command(*args),
            env=self.environment,
            cwd=self.config.workspace[0],
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            stdin=subprocess.DEVNULL,
        )

    def daemons(self) -> list[dict[str, Any]]:
        """What every daemon says of itself."""
        replies = [ask_control(place, self.effective, "status") for place in all_places(self.effective)]
        return [reply["daemon"] for reply in replies if reply is not None]

    def daemon(self) -> dict[str, Any]:
        """The one daemon."""
        (found,) = self.daemons()
        return found

    def processes(self) -> list[int]:
        """Every living process of this user, found by its environment."""
        mark = f"SIGHTLINE_RUNTIME_DIR={self.config.runtime_dir}".encode()
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and _has(name, mark)]

    def end(self) -> None:
        """Nobody is left: fronts end, daemons are stopped, and no process remains."""
        for front in self.fronts:
            front.process.kill()
            front.process.wait(DEADLINE_S)
            for pipe in (front.process.stdin, front.process.stdout, front.process.stderr):
                pipe.close()
        for place in all_places(self.effective):
            ask_control(place, self.effective, "stop")
        try:
            until(lambda: not self.processes(), f"left: {self.processes()}")
        finally:
            for pid in self.processes():
                os.kill(pid, signal.SIGKILL)


@contextmanager
def yard_of(config: Config, folder: Path) -> Generator[Yard, None, None]:
    yard = Yard(config, folder)
    try:
        yield yard
    finally:
        yard.end()


def until(condition: Callable[[], Any], what: str, seconds: float = DEADLINE_S) -> Any:
    """Wait for something that no descriptor tells of."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, what
        select.select([], [], [], 0.02)
    return value


def _has(name: str, mark: bytes) -> bool:
    try:
        with open(f"/proc/{name}/environ", "rb") as file:
            return mark in file.read().split(b"\0")
    except OSError:
        return False
