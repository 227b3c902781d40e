"""The process of a front once it has greeted: its program is replaced by this one, which takes a fifth of the memory.

A light module, see `place`. **Invariant**: a signal that asks for the end is held back while the program changes, so
that it ends the front in order before, between and after.
"""

from __future__ import annotations

import marshal
import posix
import sys

from sightline_server.daemon.front import Front, note
from sightline_server.daemon.place import NoDaemonError, Place, Way, is_there
from sightline_server.transports.lines import claimed_streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from types import FrameType
    from typing import Any, NoReturn

    from sightline_core.limits import Limits
    from sightline_server.daemon.front import Link
else:
    import _signal

# The limits that a front works within; they travel by name.
FRONT_LIMITS = (
    "daemon_backlog_connections",
    "daemon_connect_s",
    "daemon_lock_poll_ms",
    "daemon_retry_s",
    "daemon_start_attempts",
    "daemon_start_s",
    "front_buffer_bytes",
    "max_inherited_files",
    "max_message_bytes",
)
_ENDING = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)
# The same modules as here, whatever else the search path holds. The arguments that follow the program are for those
# who look for the process by its command.
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[3]); from sightline_server.daemon.pump import main; main()"
_CHUNK_BYTES = 64 * 1024


class EndedError(Exception):
    """A signal asked this process to end."""


def end_on_signals() -> dict[int, Any]:
    """From now on these signals raise `EndedError`; returns what they did before."""
    return {number: _signal.signal(number, _end) for number in _ENDING}


def pump(way: Way, first: Link) -> None:
    """Serve the client on the standard streams until it is gone, in this program."""

    def open_link() -> Link:
        try:
            # Only now: most fronts never lose their daemon, and this is a twentieth of what one takes.
            from sightline_server.daemon.link import RefusedError, greet_or_start
        except ImportError as error:
            raise NoDaemonError(f"this installation was removed or changed: {error}") from None
        try:
            lines = greet_or_start(way)
        except RefusedError as refused:
            raise NoDaemonError(str(refused)) from None
        return lines.socket.detach(), lines.rest

    with claimed_streams() as (source, sink):
        Front(open_link, lambda: not is_there(way.place.socket), source, sink, way.limits).run(first)


def become_pump(way: Way, first: Link, verbose: int) -> None:
    """Replace the program of this process by a small one that pumps; returns only when that is not possible."""
    root = __file__.rpartition("/sightline_server/")[0]
    if not sys.executable or not root:
        return
    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, _ENDING)
    link, _ = first
    source, sink = posix.pipe()
    try:
        # What does not fit into a pipe at once has no reader yet; such a front stays as it is.
        posix.set_blocking(sink, False)
        handed = marshal.dumps(_packed(way, first, tuple(map(int, before)), verbose))
        if posix.write(sink, handed) == len(handed):
            posix.close(sink)
            sink = -1
            for descriptor in (link, source):
                posix.set_inheritable(descriptor, True)
            argv = [sys.executable, *_flags(), "-c", _PROGRAM, "sightline", "serve-mcp", root, str(source)]
            posix.execv(sys.executable, argv)
    except OSError:
        posix.set_inheritable(link, False)
    finally:
        posix.close(source)
        if sink >= 0:
            posix.close(sink)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)


def main() -> NoReturn:
    """The small program: take over what was handed and pump."""
    code = 0
    try:
        end_on_signals()
        way, first, mask, verbose = _taken_over(int(sys.argv[4]))
        try:
            _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
            pump(way, first)
        except EndedError:
            if verbose:
                note("INFO", "ended by a signal")
    except Exception as error:  # noqa: BLE001 - the last handler of this process
        told = " ".join(str(error).split())
        note("ERROR", f"internal error: {type(error).__name__}: {told}")
        code = 2
    # Nothing is left to be written or closed.
    posix._exit(code)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - it is `os._exit`


class _Handed:
    """The limits of a front by their names."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)


def _packed(way: Way, first: Link, mask: tuple[int, ...], verbose: int) -> tuple[Any, ...]:
    place = (way.place.folder, way.place.name, way.place.log_folder)
    limits = {name: getattr(way.limits, name) for name in FRONT_LIMITS}
    return (place, way.greeting, way.argv, way.order, limits), first, mask, verbose


def _taken_over(source: int) -> tuple[Way, Link, tuple[int, ...], int]:
    data = b""
    while chunk := posix.read(source, _CHUNK_BYTES):
        data += chunk
    posix.close(source)
    (place, greeting, argv, order, values), first, mask, verbose = marshal.loads(data)  # noqa: S302 - our own bytes
    # No child of this process gets the link.
    posix.set_inheritable(first[0], False)
    limits: Limits = _Handed(values)  # pyright: ignore[reportAssignmentType]
    return Way(Place(*place), greeting, argv, order, limits), first, mask, verbose


def _flags() -> list[str]:
    """The interpreter as it runs here, without `site`: its packages are not needed, and it costs memory."""
    flags = ["-S", "-s", "-P"]
    flags += ["-I"] if sys.flags.isolated else ["-E"] if sys.flags.ignore_environment else []
    return flags + (["-B"] if sys.flags.dont_write_bytecode else [])


def _end(number: int, _frame: FrameType | None) -> None:
    raise EndedError(number)
