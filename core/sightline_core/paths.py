"""The one door for paths from outside.

**Invariant**: a file is opened only beneath its root. The kernel decides (`openat2` with `RESOLVE_BENEATH`) where
it can; elsewhere a walk opens component by component without following links. Both check and open in one step,
so a link swapped between a check and an open has nothing to win.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.path_text import check_path_text, real_directory

_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_SYS_OPENAT2 = 437  # the same number on every Linux architecture
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_RACE_RETRIES = 100


@dataclass(frozen=True, slots=True)
class RepoPath:
    """A path that passed the door: `relative` is normalised, uses `/`, and stays below its root."""

    root: str
    relative: str

    @property
    def absolute(self) -> str:
        """The path for display and for language servers; opening goes through `RepoRoot`."""
        return os.path.join(self.root, self.relative) if self.relative else self.root


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of a regular file with the stat of the very descriptor they were read from."""

    data: bytes
    size: int
    mtime_ns: int
    inode: int


class RepoRoot:
    """A registered directory, the only way to a file below it."""

    __slots__ = ("_limits", "path")

    def __init__(self, path: str, limits: Limits = DEFAULT_LIMITS) -> None:
        """`path` is resolved once; raises `invalid_input` when it is no directory."""
        self.path = real_directory(path)
        self._limits = limits

    def __repr__(self) -> str:
        return f"RepoRoot({self.path!r})"

    def resolve(self, text: str) -> RepoPath:
        """The path that caller text means; raises `path_not_allowed` or `invalid_input`.

        Absolute or relative to the root. Whether a file is there is found out by opening it.
        """
        check_path_text(text, self._limits)
        candidate = os.path.normpath(os.path.join(self.path, text))
        relative = relative_to(self.path, candidate)
        if relative is None:
            relative = _end_of_links(self.path, candidate)
        if relative is None:
            raise _outside(text)
        return RepoPath(self.path, relative)

    def known(self, relative: str) -> RepoPath:
        """A path that Sightline itself found below this root, such as one from the index."""
        return RepoPath(self.path, relative)

    def open_file(self, path: RepoPath) -> int:
        """A read-only descriptor of a regular file; raises `file_not_found` or `path_not_allowed`."""
        return self._open_regular(path)[0]

    def stat_file(self, path: RepoPath) -> os.stat_result:
        """The stat of the very file that opening gives; raises what `open_file` raises."""
        descriptor, info = self._open_regular(path)
        os.close(descriptor)
        return info

    def read_file(self, path: RepoPath, max_bytes: int | None = None) -> FileContent:
        """The content of a file; raises `invalid_input` when it is larger than `max_bytes`."""
        bound = self._limits.max_file_bytes if max_bytes is None else max_bytes
        descriptor, info = self._open_regular(path)
        try:
            if info.st_size > bound:
                raise SightlineError(
                    ErrorCode.INVALID_INPUT,
                    f"'{path.relative}' has {info.st_size} bytes, more than the {bound} that are read.",
                    hint="Search inside it with your own tools.",
                )
            data = _read_all(descriptor, info.st_size, bound)
        except OSError as error:
            raise _open_error(path, error) from None
        finally:
            os.close(descriptor)
        return FileContent(data, info.st_size, info.st_mtime_ns, info.st_ino)

    def _open_regular(self, path: RepoPath) -> tuple[int, os.stat_result]:
        try:
            descriptor = self._open(path.relative)
        except OSError as error:
            raise _open_error(path, error) from None
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            os.close(descriptor)
            raise SightlineError(
                ErrorCode.FILE_NOT_FOUND,
                f"'{path.relative}' is not a regular file.",
                hint="Name a file, not a directory or a device.",
            )
        return descriptor, info

    def _open(self, relative: str) -> int:
        root = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return self._open_from(root, relative)
        finally:
            os.close(root)

    def _open_from(self, root: int, relative: str) -> int:
        try:
            return open_beneath(root, relative)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.ELOOP):
                raise
        # An absolute link may still lead back into the root: ask where it ends, then open that without links.
        target = _end_of_links(self.path, os.path.join(self.path, relative))
        if target is None:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return open_beneath(root, target, follow_links=False)


def open_beneath(root: int, relative: str, *, follow_links: bool = True) -> int:
    """Open `relative` below the directory descriptor `root` for reading; never leaves it.

    Raises OSError with EXDEV when the path leads outside, ELOOP when a link is in the way and may not be followed.
    """
    if _openat2_works():
        resolve = _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS
        return _openat2(root, relative, resolve if follow_links else resolve | _RESOLVE_NO_SYMLINKS)
    return walk_beneath(root, relative)


def walk_beneath(root: int, relative: str) -> int:
    """`open_beneath` for kernels without `openat2`: one component at a time, links refused with ELOOP."""
    parts = [part for part in relative.split("/") if part not in ("", ".")]
    if relative.startswith("/") or ".." in parts:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    current = os.dup(root)
    try:
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            flags = _OPEN_FLAGS if last else os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
            try:
                following = os.open(part, flags | os.O_NOFOLLOW, dir_fd=current)
            except OSError as error:
                # O_DIRECTORY with O_NOFOLLOW reports a link as ENOTDIR; tell it from a plain file.
                if error.errno == errno.ENOTDIR and _is_link(part, current):
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
                raise
            os.close(current)
            current = following
        return current
    except OSError:
        os.close(current)
        raise


def relative_to(root: str, path: str) -> str | None:
    """`path` relative to `root` with `/`, empty for the root itself, None when it lies outside. Lexical."""
    if path == root:
        return ""
    prefix = root if root.endswith(os.sep) else root + os.sep
    if not path.startswith(prefix):
        return None
    return path[len(prefix) :].replace(os.sep, "/")


def _end_of_links(root: str, path: str) -> str | None:
    """Where the links of `path` lead, relative to `root`; None when that is outside, or changed on the way."""
    try:
        return relative_to(root, os.path.realpath(path))
    except OSError:
        # A link that becomes a directory between realpath's two looks at it fails with EINVAL.
        return None


def _outside(text: str) -> SightlineError:
    return SightlineError(
        ErrorCode.PATH_NOT_ALLOWED,
        f"'{text}' is outside the workspace.",
        hint="Use a path inside a registered root; health_check lists them.",
    )


def _open_error(path: RepoPath, error: OSError) -> SightlineError:
    if error.errno in (errno.EXDEV, errno.ELOOP):
        return _outside(path.relative)
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ENXIO, errno.EISDIR):
        return SightlineError(
            ErrorCode.FILE_NOT_FOUND,
            f"There is no file '{path.relative}'.",
            hint="Check the path, or find it with search_code and mode=path.",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return SightlineError(
            ErrorCode.PATH_NOT_ALLOWED, f"'{path.relative}' may not be read.", hint="Check the file's permissions."
        )
    return SightlineError(
        ErrorCode.INTERNAL_ERROR, f"'{path.relative}' could not be read: {error.strerror}.", hint="Try again."
    )


def _read_all(descriptor: int, size: int, bound: int) -> bytes:
    """Up to `bound` bytes; one question is enough for a file that still has the size it had."""
    chunks: list[bytes] = []
    left = bound
    # The buffer is as large as what is asked for, so one byte more than expected shows the end soonest.
    wanted = min(size + 1, bound)
    while left > 0:
        chunk = os.read(descriptor, min(wanted, left))
        chunks.append(chunk)
        left -= len(chunk)
        if not chunk or (len(chunk) < wanted and bound - left >= size):
            break
        wanted = left
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _is_link(name: str, directory: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return False


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


# Made once: ctypes turns plain integers into C's `int`, which the number and the size of this call are not.
_NUMBER = ctypes.c_long(_SYS_OPENAT2)
_HOW_BYTES = ctypes.c_size_t(ctypes.sizeof(_OpenHow))


@lru_cache(maxsize=8)
def _how(resolve: int) -> Any:
    """The kernel only reads it, so threads may share one."""
    return ctypes.byref(_OpenHow(_OPEN_FLAGS, 0, resolve))


_libc: ctypes.CDLL | None = None
_works: bool | None = None


def _openat2_works() -> bool:
    """Whether this kernel has `openat2`; asked once (seccomp filters may hide it)."""
    global _libc, _works
    if _works is None:
        _works = False
        if sys.platform == "linux":
            _libc = ctypes.CDLL(None, use_errno=True)
            try:
                os.close(_openat2(-100, ".", 0))  # AT_FDCWD
                _works = True
            except OSError:
                _works = False
    return _works


def _openat2(root: int, relative: str, resolve: int) -> int:
    assert _libc is not None
    name = os.fsencode(relative or ".")
    how = _how(resolve)
    for _ in range(_RACE_RETRIES):
        result: int = _libc.syscall(_NUMBER, root, name, how, _HOW_BYTES)
        if result >= 0:
            return result
        number = ctypes.get_errno()
        # EAGAIN: a rename raced with the resolution and the kernel could not vouch for it; ask again.
        if number not in (errno.EAGAIN, errno.EINTR):
            raise OSError(number, os.strerror(number))
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
