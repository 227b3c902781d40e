"""The same client over every transport, so that one test covers all of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

from sightline_core.config import SETTINGS, Config
from sightline_server.app import open_services
from sightline_server.protocol import single_session
from sightline_server.sessions.session import TransportKind

DEADLINE_S = 30.0
_KEPT_LINES = 200
ROOT = Path(__file__).parent.parent.parent
PACKAGE_PATH = os.pathsep.join(str(ROOT / name) for name in ("core", "indexer", "search", "lsp", "server"))
Connect = Callable[[Config], AbstractAsyncContextManager[Client]]


def command(*args: str) -> list[str]:
    """The command line of this checkout, whatever is installed."""
    return [sys.executable, "-m", "sightline_server", *args]


def environment(config: Config | None = None, **extra: str) -> dict[str, str]:
    """A clean environment for a child process."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TMPDIR") if key in os.environ}
    if config is not None:
        kept["SIGHTLINE_DATA_DIR"] = config.data_dir
    # No daemon unless a test asks for one: it would outlive the test and serve the next.
    return {**kept, "PYTHONPATH": PACKAGE_PATH, "XDG_CONFIG_HOME": "/nonexistent", "SIGHTLINE_DAEMON": "no", **extra}


def config_file(config: Config) -> str:
    """The configuration as the user's file, so that a child process has exactly the same."""
    lines: list[str] = []
    default = Config()
    for setting in SETTINGS:
        value = getattr(config, setting.key)
        if value != getattr(default, setting.key):
            lines.append(f"{setting.key} = {_toml(value)}")
    changed = [
        item.name
        for item in fields(config.limits)
        if getattr(config.limits, item.name) != getattr(default.limits, item.name)
    ]
    if changed:
        lines.append("[limits]")
        lines += [f"{name} = {getattr(config.limits, name)}" for name in changed]
    os.makedirs(config.data_dir, exist_ok=True)
    descriptor, path = tempfile.mkstemp(suffix=".toml", dir=config.data_dir)
    os.write(descriptor, "\n".join(lines).encode())
    os.close(descriptor)
    return path


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return repr(value) if isinstance(value, int) else f'"{value}"'


@asynccontextmanager
async def memory_client(config: Config, *, mode: str = "legacy", **options: object) -> AsyncGenerator[Client, None]:
    """A client in the same process."""
    async with (
        open_services(config, start_directory="/") as services,
        single_session(services, TransportKind.MEMORY) as (server, _),
    ):
        with anyio.fail_after(DEADLINE_S):
            async with Client(server, mode=mode, **options) as client:
                yield client


@asynccontextmanager
async def stdio_client(config: Config, *, mode: str = "legacy", **options: object) -> AsyncGenerator[Client, None]:
    """A client of a real child process on pipes."""
    program, *args = command("serve-mcp", "--config", config_file(config))
    parameters = StdioServerParameters(command=program, args=args, env=environment(config), cwd=config.workspace[0])
    with anyio.fail_after(DEADLINE_S):
        async with Client(parameters, mode=mode, **options) as client:
            yield client


@asynccontextmanager
async def http_client(config: Config, *, mode: str = "legacy", **options: object) -> AsyncGenerator[Client, None]:
    """A client of a real child process on a loopback port."""
    with http_server(config) as server, anyio.fail_after(DEADLINE_S):
        async with Client(f"{server.url}/mcp", mode=mode, **options) as client:
            yield client


TRANSPORTS: dict[str, Connect] = {"memory": memory_client, "stdio": stdio_client, "http": http_client}


@dataclass(frozen=True)
class HttpServer:
    """A running HTTP server."""

    url: str
    process: subprocess.Popen[str]
    said: deque[str]  # the last lines of its log


@contextmanager
def http_server(config: Config, *args: str, **extra: str) -> Generator[HttpServer, None, None]:
    """A real HTTP server on a port that the system chose; ended by SIGTERM."""
    process = subprocess.Popen(
        command("serve-mcp", "--config", config_file(config), "--transport", "http", "--port", "0", *args),
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=environment(config, **extra),
        cwd="/",
    )
    try:
        url = _announced_url(process)
        # A pipe that nobody reads fills up, and the server would wait for it.
        said: deque[str] = deque(maxlen=_KEPT_LINES)
        threading.Thread(target=_drain, args=(process, said), daemon=True).start()
        yield HttpServer(url, process, said)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(DEADLINE_S)
        finally:
            process.kill()
            assert process.stderr is not None
            process.stderr.close()


def _drain(process: subprocess.Popen[str], said: deque[str]) -> None:
    assert process.stderr is not None
    # The pipe is closed under the reader at the end.
    with suppress(ValueError, OSError):
        said.extend(process.stderr)


def _announced_url(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    seen: list[str] = []
    for line in process.stderr:
        seen.append(line)
        match = re.search(r"(http://\S+)/mcp", line)
        if match:
            return match[1]
    raise AssertionError("the server said: " + "".join(seen))
