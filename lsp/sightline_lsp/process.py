"""A language server's process: started behind a guard, watched, measured, and ended with all its children.

**Invariant**: leaving `launch` by any path, a cancelled one included, leaves no process of the server's group and no
descriptor behind; standard error is always drained.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from subprocess import PIPE

import anyio
from anyio.abc import ByteReceiveStream, Process

from sightline_core.limits import Limits
from sightline_core.text import clean

_GUARD = os.path.join(os.path.dirname(__file__), "guard.py")
_REPORT_BYTES = 64


class LaunchError(Exception):
    """The program could not be started; the text says why."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the processes of a server's session use together."""

    rss_bytes: int = 0
    cpu_s: float = 0.0


class ServerProcess:
    """A running server; made by `launch`."""

    def __init__(self, guard: Process, pid: int, limits: Limits) -> None:
        self._guard = guard
        self._limits = limits
        self.pid = pid
        self._tail = bytearray()
        assert guard.stdin is not None
        assert guard.stdout is not None
        self.stdin = guard.stdin
        self.stdout: ByteReceiveStream = guard.stdout

    @property
    def exit_code(self) -> int | None:
        """The server's exit status once it ended; above 128 it was a signal."""
        return self._guard.returncode

    @property
    def stderr_tail(self) -> str:
        """The last bytes of standard error, cleaned."""
        return clean(bytes(self._tail).decode("utf-8", "replace"))

    async def wait(self) -> int:
        """The exit status, once the server ended."""
        return await self._guard.wait()

    async def drain_stderr(self) -> None:
        """Read standard error to its end, keeping the last bytes."""
        assert self._guard.stderr is not None
        keep = self._limits.lsp_stderr_tail_bytes
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            while True:
                self._tail += await self._guard.stderr.receive()
                del self._tail[:-keep]

    def usage(self) -> Usage:
        """Memory and processor time of the server and the children in its session."""
        return session_usage(self.pid)


@asynccontextmanager
async def launch(
    command: Sequence[str], environment: Mapping[str, str], limits: Limits
) -> AsyncGenerator[ServerProcess]:
    """Start `command` (its first word an absolute path); raises `LaunchError`. Kills the group on leaving."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            guard = await _start_guard(theirs, command, environment)
        pid = 0
        try:
            pid = await _read_report(ours, guard, limits)
            yield ServerProcess(guard, pid, limits)
        finally:
            with anyio.CancelScope(shield=True):
                await _end(guard, pid, ours, limits)


async def _start_guard(theirs: socket.socket, command: Sequence[str], environment: Mapping[str, str]) -> Process:
    python = sys.executable
    try:
        return await anyio.open_process(
            [python, "-I", "-S", _GUARD, str(theirs.fileno()), *command],
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            # A neutral directory: nothing is found relative to a workspace.
            cwd="/",
            env=dict(environment),
            start_new_session=True,
            pass_fds=(theirs.fileno(),),
        )
    except OSError as error:
        raise LaunchError(f"the guard process could not be started ({error.strerror})") from None


async def _read_report(ours: socket.socket, guard: Process, limits: Limits) -> int:
    ours.setblocking(False)
    report = b""
    with anyio.move_on_after(limits.lsp_spawn_timeout_s):
        while not report.endswith(b"\n"):
            await anyio.wait_readable(ours)
            piece = ours.recv(_REPORT_BYTES)
            if not piece:
                raise LaunchError(f"the guard process ended with {await guard.wait()}")
            report += piece
    word, _, number = report.decode("ascii", "replace").strip().partition(" ")
    if word == "pid":
        return int(number)
    if word == "error":
        raise LaunchError(f"it cannot be executed ({errno.errorcode.get(int(number), number)})")
    raise LaunchError("the guard process did not start it in time")


async def _end(guard: Process, pid: int, ours: socket.socket, limits: Limits) -> None:
    """Let go: the guard kills everything. Should the guard itself be stuck or gone, kill from here."""
    ours.close()
    with anyio.move_on_after(limits.lsp_kill_timeout_s):
        await guard.wait()
    stuck = guard.returncode is None
    if stuck:
        _kill_group(guard.pid)
    if pid and (stuck or await guard.wait() < 0):
        _kill_group(pid)
    await guard.wait()
    if guard.stdin is not None:
        await guard.stdin.aclose()
    for stream in (guard.stdout, guard.stderr):
        if stream is not None:
            # The pipe is let go only when its end was read; what is left in it is at most a buffer full.
            with anyio.move_on_after(limits.lsp_farewell_ms / 1000):
                await _read_to_end(stream)
            await stream.aclose()


async def _read_to_end(stream: ByteReceiveStream) -> None:
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
        while True:
            await stream.receive()


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def session_usage(leader: int) -> Usage:
    """Summed over every process of the session `leader` leads; zero where there is no `/proc`."""
    if not os.path.isdir("/proc/self"):
        return Usage()
    page, ticks = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    rss, cpu = 0, 0.0
    for name in os.listdir("/proc"):
        fields = _stat_fields(name) if name.isdigit() else []
        # After the name: state, ppid, pgrp, session, … utime is the 12th, stime the 13th, rss the 22nd.
        if len(fields) > 21 and int(fields[3]) == leader:
            rss += int(fields[21]) * page
            cpu += (int(fields[11]) + int(fields[12])) / ticks
    return Usage(rss, cpu)


def _stat_fields(name: str) -> list[bytes]:
    try:
        with open(f"/proc/{name}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []
