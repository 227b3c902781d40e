"""Starting the daemon's process. A light module, see `place`.

**Invariant**: the socket listens before the process is there, so callers queue on it and nobody polls; if the
process dies young its socket dies with it and they notice at once. The caller holds the lock of the place.
"""

from __future__ import annotations

import _socket
import posix

from sightline_server.daemon.place import NoDaemonError, Place, Way, address_of

# Where the daemon finds its socket.
LISTENER = 3
# Daemons that this process started; asked for so that a dead one leaves no zombie behind.
_started: list[int] = []


def listen(place: Place, backlog: int) -> _socket.socket:
    """A listening socket that this user alone can reach, in place of a dead one."""
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        try:  # noqa: SIM105 - contextlib is not light
            posix.unlink(place.socket)
        except FileNotFoundError:
            pass
        before = posix.umask(0o177)
        try:
            with address_of(place) as address:
                listener.bind(address)
        finally:
            posix.umask(before)
        listener.listen(backlog)
    except OSError as error:
        listener.close()
        raise NoDaemonError(f"{place.socket} cannot be made: {error.strerror or error}") from None
    return listener


def launch(way: Way) -> None:
    """Start the daemon; it serves the connections that wait on its socket as soon as it can."""
    _started[:] = [process for process in _started if _is_running(process)]
    listener = listen(way.place, way.limits.daemon_backlog_connections)
    source, sink = -1, -1
    try:
        source, sink = posix.pipe()
        process = posix.fork()
        if not process:
            _become_daemon(way, listener.fileno(), source)
        _started.append(process)
        # Without a reader, once the child is gone, writing must fail and not wait.
        posix.close(source)
        source = -1
        order = way.order
        while order:
            order = order[posix.write(sink, order) :]
    except OSError as error:
        raise NoDaemonError(f"the daemon cannot be started: {error.strerror or error}") from None
    finally:
        listener.close()
        for descriptor in (source, sink):
            if descriptor >= 0:
                posix.close(descriptor)


def _become_daemon(way: Way, listener: int, source: int) -> None:
    """In the child; never returns."""
    try:
        # Neither the client's signals nor the end of its terminal reach it, and it holds no directory.
        posix.setsid()
        posix.chdir("/")
        nothing = posix.open("/dev/null", posix.O_RDWR)
        for descriptor, number in ((source, 0), (nothing, 1), (nothing, 2)):
            posix.dup2(descriptor, number)
        if listener == LISTENER:
            posix.set_inheritable(LISTENER, True)
        else:
            posix.dup2(listener, LISTENER)
        posix.closerange(LISTENER + 1, way.limits.max_inherited_files)
        posix.execv(way.argv[0], way.argv)
    finally:
        # Callers notice by the socket, which ends here.
        posix._exit(127)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - it is `os._exit`


def _is_running(process: int) -> bool:
    try:
        return posix.waitpid(process, posix.WNOHANG)[0] == 0
    except ChildProcessError:
        return False
