"""The byte streams to a server: the pipes of a process of ours, or a TCP connection to one that runs already.

**Invariant**: a connection leaves this machine only where the user's configuration names the address.
"""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_lsp.process import LaunchError, ServerProcess, launch
from sightline_lsp.servers import ServerRow


@dataclass(frozen=True, slots=True)
class Transport:
    """Both directions, and the process where it is ours."""

    receive: ByteReceiveStream
    send: ByteSendStream
    process: ServerProcess | None = None


@asynccontextmanager
async def open_transport(
    row: ServerRow, program: str, environment: Mapping[str, str], limits: Limits
) -> AsyncGenerator[Transport]:
    """Start or reach the server; raises `LaunchError`."""
    if row.connect:
        host, port = parse_address(row.connect)
        try:
            with anyio.fail_after(limits.lsp_spawn_timeout_s):
                stream = await anyio.connect_tcp(host, port)
        except (OSError, TimeoutError) as error:
            raise LaunchError(f"{row.connect} cannot be reached ({type(error).__name__})") from None
        async with stream:
            yield Transport(stream, stream)
    else:
        async with launch((program, *row.command[1:]), environment, limits) as process:
            yield Transport(process.stdout, process.stdin, process)


def parse_address(text: str) -> tuple[str, int]:
    """`host:port` in its parts; raises `invalid_input`."""
    host, _, port = text.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise SightlineError(
            ErrorCode.INVALID_INPUT, f"'{text}' is no address.", hint="Give host:port, such as 127.0.0.1:7777."
        )
    return host, int(port)


def check_loopback(text: str) -> None:
    """Raise `invalid_input` unless the address is of this very machine, spelled so that no name service is asked."""
    host, _ = parse_address(text)
    try:
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local:
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            f"'{text}' is not a loopback address.",
            hint="Connect to 127.0.0.1, or set `connect` in a [server.NAME] table of your configuration.",
        )
