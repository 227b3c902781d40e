"""Where one daemon listens: its socket, its lock, its log, and the folder that is this user's alone.

**Invariant**: a light module, as are all that a front runs in: it imports light modules and what the interpreter has
in C, no more. That is why `posix` stands where `os` would, why nothing is a dataclass, and why types are imported
for the checker alone; a front would be three times as large else, and there is one for every session.
"""

from __future__ import annotations

import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline_core.limits import Limits

_MAX_ADDRESS_BYTES = 100  # the kernel's structure has 108 (104 elsewhere), with the final zero
_DIGITS_OF_DATA = 8
_DIGITS_OF_KEY = 16
_OF_OTHERS = 0o077


class NoDaemonError(Exception):
    """There can be no daemon here, or none could be reached; the message says why."""


class Place:
    """Where one daemon listens; never changed once made."""

    __slots__ = ("folder", "log_folder", "name")

    def __init__(self, folder: str, name: str, log_folder: str = "") -> None:
        self.folder = folder
        self.name = name
        self.log_folder = log_folder

    @property
    def socket(self) -> str:
        """The socket."""
        return f"{self.folder}/{self.name}.sock"

    @property
    def lock(self) -> str:
        """The file whose lock is held while a daemon is started or ends."""
        return f"{self.folder}/{self.name}.lock"

    @property
    def log(self) -> str:
        """What the daemon has to say."""
        return f"{self.log_folder}/{self.name}.log"

    def is_sibling(self, other: Place) -> bool:
        """True for a daemon of the same data directory with another version or configuration."""
        return self.name != other.name and self.name[:_DIGITS_OF_DATA] == other.name[:_DIGITS_OF_DATA]


class Way:
    """All that is needed to reach the daemon of one configuration and to start it; never changed once made."""

    __slots__ = ("argv", "greeting", "limits", "order", "place")

    def __init__(self, place: Place, greeting: bytes, argv: list[str], order: bytes, limits: Limits) -> None:
        """`greeting` is the hello; `argv` starts the daemon's process, which reads `order` from its input."""
        self.place = place
        self.greeting = greeting
        self.argv = argv
        self.order = order
        self.limits = limits


def place_name(data: str, key: str) -> str:
    """The name of a place by the digests of its data directory and of all that makes it another."""
    return f"{data[:_DIGITS_OF_DATA]}-{key[:_DIGITS_OF_KEY]}"


def is_there(path: str) -> bool:
    """Whether anything has this path, a dangling link included."""
    try:
        posix.lstat(path)
    except OSError:
        return False
    return True


def prepare_folder(folder: str) -> None:
    """Make the folder of the sockets, open to this user alone; raises `NoDaemonError` if it cannot be so."""
    try:
        _make_folder(folder, 0o700)
        found = posix.stat(folder)
        if found.st_uid != posix.geteuid():
            raise NoDaemonError(f"{folder} belongs to somebody else")
        if found.st_mode & _OF_OTHERS:
            posix.chmod(folder, 0o700)
    except OSError as error:
        raise NoDaemonError(f"{folder} cannot be used: {error.strerror or error}") from None


def _make_folder(folder: str, mode: int) -> None:
    parent = folder.rpartition("/")[0]
    if parent and not is_there(parent):
        _make_folder(parent, 0o777)
    try:
        posix.mkdir(folder, mode)
    except FileExistsError:
        return


class address_of:  # noqa: N801 - reads as a function at its uses
    """The socket's address, also where its path is longer than the kernel takes."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._descriptor = -1

    def __enter__(self) -> str:
        place = self._place
        if len(place.socket.encode(sys.getfilesystemencoding(), "surrogateescape")) <= _MAX_ADDRESS_BYTES:
            return place.socket
        if not is_there("/proc/self/fd"):
            raise NoDaemonError(f"{place.socket} is too long for a socket; set SIGHTLINE_RUNTIME_DIR")
        try:
            self._descriptor = posix.open(place.folder, posix.O_RDONLY | posix.O_DIRECTORY | posix.O_CLOEXEC)
        except OSError as error:
            raise FileNotFoundError(error.errno, error.strerror) from None
        return f"/proc/self/fd/{self._descriptor}/{place.name}.sock"

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            posix.close(self._descriptor)
