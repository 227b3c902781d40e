"""The front: pumps lines between a client's standard streams and the daemon, and outlives the daemon.

**Invariant**: every request that the client made is answered, by the daemon or, when that is lost, by an error from
here. One thread, one poll, bounded buffers. A light module, see `place`.
"""

from __future__ import annotations

import posix
import select
import time

from sightline_server.daemon.place import NoDaemonError
from sightline_server.daemon.plain_json import encode
from sightline_server.daemon.recall import Recall
from sightline_server.transports.lines import LineSplitter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sightline_core.limits import Limits

    # The descriptor of a link, and what the daemon said on it after its hello.
    Link = tuple[int, bytes]

_CHUNK_BYTES = 64 * 1024
_INVALID_REQUEST = -32600
_INTERNAL_ERROR = -32603
_READABLE = select.POLLIN | select.POLLHUP | select.POLLERR
_BROKEN = select.POLLERR | select.POLLHUP | select.POLLNVAL


class Front:
    """One client and its link to the daemon."""

    def __init__(
        self,
        open_link: Callable[[], Link],
        was_stopped: Callable[[], bool],
        source: int,
        sink: int,
        limits: Limits,
    ) -> None:
        """`open_link` reaches the daemon, starting it if need be, and has said hello, or raises `NoDaemonError`;
        `was_stopped` tells whether a daemon that is gone left in order."""
        self._was_stopped = was_stopped
        self._open_link = open_link
        self._source, self._sink = source, sink
        self._limits = limits
        self._splitter = LineSplitter(limits.max_message_bytes)
        self._recall = Recall()
        self._link: int | None = None
        self._partial = b""
        self._to_client = bytearray()
        self._to_daemon = bytearray()
        self._source_ended = False
        self._shut = False
        self._client_left = False
        self._retry_at = 0.0
        self._reconnects = False

    def run(self, first: Link) -> None:
        """Pump until the client is gone or its input ended and is answered."""
        self._take(first)
        try:
            while not self._is_over():
                self._step()
        finally:
            if self._link is not None:
                posix.close(self._link)

    def _is_over(self) -> bool:
        if self._client_left:
            return True
        return self._source_ended and self._link is None and not self._to_client

    def _step(self) -> None:
        if self._reconnects and not self._to_client:
            # Only now: starting a daemon takes a second, and the client must not wait so long for its errors.
            self._reconnects = False
            self._reconnect()
        poller = select.poll()
        if not self._source_ended and len(self._to_daemon) < self._limits.front_buffer_bytes:
            poller.register(self._source, select.POLLIN)
        if self._to_client:
            poller.register(self._sink, select.POLLOUT)
        link = self._link
        if link is not None:
            wanted = select.POLLIN if len(self._to_client) < self._limits.front_buffer_bytes else 0
            poller.register(link, wanted | (select.POLLOUT if self._to_daemon else 0))
        for descriptor, event in poller.poll():
            if descriptor == self._source:
                self._read_client()
            elif descriptor == self._sink:
                self._write_client(event)
            elif link is not None and descriptor == self._link:
                self._serve_link(link, event)
        if self._source_ended and not self._to_daemon and self._link is not None and not self._shut:
            self._shut = True
            _end_writing(self._link)

    # -- the client ------------------------------------------------------------------------------

    def _read_client(self) -> None:
        try:
            chunk = posix.read(self._source, _CHUNK_BYTES)
        except OSError:
            chunk = b""
        if not chunk:
            self._source_ended = True
            return
        for line in self._splitter.feed(chunk):
            self._from_client(line)

    def _from_client(self, line: bytes | None) -> None:
        if line is None:
            text = f"A message may have at most {self._limits.max_message_bytes} bytes."
            self._reply_error(None, _INVALID_REQUEST, text, {"code": "invalid_input"})
            return
        if not line.strip():
            return
        # First the link: what is replayed on a new one must not hold this line too.
        linked = self._link is not None or self._reconnect()
        passed = self._recall.from_client(line)
        if passed is None:
            return
        if not linked:
            self._fail_pending("Sightline's daemon cannot be reached or started; try again.", "daemon_unavailable")
            return
        self._to_daemon += passed + b"\n"

    def _write_client(self, event: int) -> None:
        try:
            if event & _BROKEN and not event & select.POLLOUT:
                raise BrokenPipeError
            # A ready pipe takes this much without blocking.
            written = posix.write(self._sink, self._to_client[: select.PIPE_BUF])
            del self._to_client[:written]
        except BlockingIOError:
            return
        except OSError:
            self._client_left = True

    def _reply_error(self, identity: str | int | None, code: int, message: str, data: dict[str, str]) -> None:
        body = {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message, "data": data}}
        self._to_client += encode(body) + b"\n"

    # -- the daemon ------------------------------------------------------------------------------

    def _serve_link(self, link: int, event: int) -> None:
        try:
            if event & _READABLE:
                chunk = posix.read(link, _CHUNK_BYTES)
                if not chunk:
                    self._lost()
                    return
                self._from_daemon(chunk)
            if event & select.POLLOUT and self._to_daemon:
                sent = posix.write(link, self._to_daemon[:_CHUNK_BYTES])
                del self._to_daemon[:sent]
        except BlockingIOError:
            return
        except OSError:
            self._lost()

    def _from_daemon(self, chunk: bytes) -> None:
        *lines, self._partial = (self._partial + chunk).split(b"\n")
        for line in lines:
            passed = self._recall.from_daemon(line)
            if passed is not None:
                self._to_client += passed + b"\n"

    def _lost(self) -> None:
        """The daemon is gone: what was under way fails now, and a session that goes on gets a new one."""
        assert self._link is not None
        posix.close(self._link)
        self._link = None
        self._partial = b""
        self._to_daemon.clear()
        self._fail_pending("Sightline's daemon ended while this request was under way; ask again.", "daemon_ended")
        # A daemon that was stopped on purpose comes back with the next request, one that died at once.
        self._reconnects = not self._source_ended and (self._recall.waits_for_handshake or not self._was_stopped())

    def _fail_pending(self, message: str, detail: str) -> None:
        data = {"code": "internal_error", "detail": detail}
        keep_handshake = detail == "daemon_ended" and not self._source_ended
        for identity in self._recall.take_pending(keep_handshake=keep_handshake):
            self._reply_error(identity, _INTERNAL_ERROR, message, data)

    def _reconnect(self) -> bool:
        if time.monotonic() < self._retry_at:
            return False
        try:
            self._take(self._open_link())
        except NoDaemonError as error:
            note("WARNING", f"no daemon: {error}")
            self._retry_at = time.monotonic() + self._limits.daemon_retry_s
            return False
        self._to_daemon[:0] = b"".join(line + b"\n" for line in self._recall.replay())
        return True

    def _take(self, link: Link) -> None:
        self._link, self._partial = link
        posix.set_blocking(self._link, False)
        self._reconnects = False
        self._shut = False


def note(level: str, text: str) -> None:
    """One line on stderr in the form of the log, which itself would cost more than all of this."""
    line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {level} {__name__}: {text}\n"
    try:
        posix.write(2, line.encode("utf-8", "backslashreplace"))
    except OSError:
        return


def _end_writing(link: int) -> None:
    import _socket

    try:
        connection = _socket.socket(fileno=link)
        try:
            connection.shutdown(_socket.SHUT_WR)
        finally:
            connection.detach()
    except OSError:
        return
