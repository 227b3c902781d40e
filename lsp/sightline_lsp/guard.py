"""A tiny process between Sightline and a language server: whatever ends Sightline, the server and its children end.

Run as `python -I -S guard.py FD COMMAND…` with FD one end of a socket pair. It starts the command in a session of its
own with the standard streams it was given, reports `pid N` or `error ERRNO` on FD, and kills all descendants when FD
ends, which the kernel sees to even when Sightline is killed. It exits with the command's own status.

**Invariant**: imports nothing but the standard library, and as little of it as it can, because it runs once a server.
"""

from __future__ import annotations

import os
import select
import signal
import sys

_PR_SET_CHILD_SUBREAPER = 36
_KILL_ROUNDS = 200
_ROUND_S = 0.01


def main(arguments: list[str]) -> int:
    """The whole life of the guard."""
    control = int(arguments[0])
    command = arguments[1:]
    os.set_inheritable(control, False)
    _adopt_orphans()
    wake_in, wake_out = os.pipe()
    os.set_blocking(wake_out, False)
    signal.set_wakeup_fd(wake_out, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _wake)
    # The group is ended by closing FD; a stray signal must not end the guard before its charges.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        pid = _spawn(command)
    except OSError as error:
        os.write(control, b"error %d\n" % (error.errno or 0))
        return 127
    os.write(control, b"pid %d\n" % pid)
    _let_go_of_streams()
    status = _watch(pid, control, wake_in)
    _kill_all(pid)
    return status


def _wake(_number: int, _frame: object) -> None:
    """The wake-up descriptor does the work; the signal only must not be ignored."""


def _spawn(command: list[str]) -> int:
    ignored = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
    try:
        return os.posix_spawn(command[0], command, os.environ, setsid=True, setsigdef=ignored)
    except NotImplementedError:
        return os.posix_spawn(command[0], command, os.environ, setpgroup=0, setsigdef=ignored)


def _let_go_of_streams() -> None:
    """Give up our copies, so that the pipes end when the server's own ends are closed."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


def _watch(pid: int, control: int, wake: int) -> int:
    """Wait until the server ends or Sightline lets go."""
    while True:
        ready, _, _ = select.select([control, wake], [], [])
        if control in ready and not _still_held(control):
            return 0
        if wake in ready:
            os.read(wake, 512)
            status = _reap(pid)
            if status is not None:
                return status


def _still_held(control: int) -> bool:
    try:
        return bool(os.read(control, 64))
    except OSError:
        return False


def _reap(pid: int) -> int | None:
    """Collect whoever ended; the exit status once it was the server, negative for a signal as a shell would say."""
    found: int | None = None
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if child == 0:
            return found
        if child == pid:
            code = os.waitstatus_to_exitcode(status)
            found = code if code >= 0 else 128 - code


def _kill_all(pid: int) -> None:
    """Kill the group, then whoever left it: orphans of the server become children of this process."""
    _signal(os.killpg, pid)
    for _ in range(_KILL_ROUNDS):
        _reap(pid)
        left = _children()
        if not left:
            return
        for child in left:
            _signal(os.kill, child)
        select.select([], [], [], _ROUND_S)


def _signal(kill: object, target: int) -> None:
    try:
        kill(target, signal.SIGKILL)  # type: ignore[operator]
    except (ProcessLookupError, PermissionError):
        return


def _children() -> list[int]:
    """Direct children by `/proc`; none where there is no such thing."""
    own = os.getpid()
    found: list[int] = []
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == own:
                found.append(int(name))
    return found


def _adopt_orphans() -> None:
    """Become the parent of descendants whose own parent died (Linux only)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
