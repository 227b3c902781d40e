"""Running the server until the client leaves or a signal comes.

**Invariant**: on every way out (end of input, SIGTERM, SIGINT, SIGHUP) the services close within their grace.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import sys
from collections.abc import Callable, Coroutine, Generator, Mapping
from typing import Any

import anyio
import uvicorn

from sightline_core.config import Config
from sightline_core.errors import ErrorCode, SightlineError
from sightline_server.app import Services, open_services
from sightline_server.cli.progress_bar import ProgressBar
from sightline_server.job_follow import follow
from sightline_server.shutdown import end_on_signal
from sightline_server.transports.gate import Gate, make_gate
from sightline_server.transports.http import HttpApp
from sightline_server.transports.stdio import serve_stdio

logger = logging.getLogger(__name__)


def run_server(config: Config, environment: Mapping[str, str]) -> None:
    """Serve with the configured transport; returns when it is over."""
    anyio.run(_serve, config, environment)


async def _serve(config: Config, environment: Mapping[str, str]) -> None:
    serve_http = http_service(config, environment) if config.transport == "http" else None
    async with open_services(config) as services, anyio.create_task_group() as group:
        group.start_soon(end_on_signal, group.cancel_scope.cancel)
        if serve_http is not None:
            group.start_soon(_show_first_job, services)
            await serve_http(services)
        else:
            await serve_stdio(services)
        group.cancel_scope.cancel()


def http_service(config: Config, environment: Mapping[str, str]) -> Callable[[Services], Coroutine[Any, Any, None]]:
    """What serves HTTP over given services; its port is bound at once, so that a taken one is told now."""
    gate = make_gate(config, environment)
    listener = _listen(config)

    async def serve(services: Services) -> None:
        await _serve_http(services, gate, listener)

    return serve


async def _show_first_job(services: Services) -> None:
    """Show the person who started the server how the default workspace is being indexed."""
    workspace = services.workspaces.default_for(services.start_directory)
    if workspace is None or not services.config.prewarm:
        return
    job = (await services.indexes.of(workspace)).active_job
    if job is None:
        return
    bar = ProgressBar()
    async for progress in follow(job, interval_s=services.config.limits.progress_interval_s):
        if not job.is_over:
            bar.show(progress)
    bar.done()
    sys.stderr.write(f"{job.progress.message}\n")
    sys.stderr.flush()


class _QuietServer(uvicorn.Server):
    """uvicorn without its signal handlers: signals belong to `end_on_signal`."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave the signals alone."""
        yield


async def _serve_http(services: Services, gate: Gate, listener: socket.socket) -> None:
    app = HttpApp(services, gate)
    limits = services.config.limits
    server = _QuietServer(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            limit_concurrency=limits.http_max_connections,
            timeout_keep_alive=limits.http_keep_alive_s,
            timeout_graceful_shutdown=int(limits.shutdown_grace_s),
        )
    )
    address = _address(listener)
    _announce(services, address, has_token=bool(gate.token))
    try:
        async with app.running():
            await server.serve(sockets=[listener])
    finally:
        listener.close()


def _listen(config: Config) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.bind else socket.AF_INET
    # asyncio switches Nagle's algorithm off only for sockets that name TCP; with it every answer waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((config.bind.strip("[]"), config.port))
        listener.listen(socket.SOMAXCONN)
    except OSError as error:
        listener.close()
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            f"{config.bind}:{config.port} cannot be bound: {error.strerror or error}.",
            hint="Another server may be running there; choose another one with --port.",
        ) from None
    listener.setblocking(False)
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _announce(services: Services, address: str, *, has_token: bool) -> None:
    url = f"http://{address}/mcp"
    header = ' --header "Authorization: Bearer $SIGHTLINE_TOKEN"' if has_token else ""
    default = services.workspaces.default_for(services.start_directory)
    lines = [
        f"Sightline serves MCP at {url}",
        f"  workspace    {default.path if default else 'none; pass `workspace` in each call'}",
        f"  page         http://{address}/ui",
        f"  health       http://{address}/health",
        f"  Claude Code  claude mcp add --transport http sightline {url}{header}",
        f"  Codex        codex mcp add sightline --url {url}",
        f"  Gemini CLI   gemini mcp add --transport http sightline {url}",
        "  stop         Ctrl-C",
    ]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
