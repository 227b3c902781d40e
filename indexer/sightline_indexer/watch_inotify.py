"""Events of single directories from the Linux kernel, by way of watchdog.

**Invariant**: one watch per directory that is asked for and none below it, so an ignored directory costs nothing.

watchdog's observers start one thread per watch and keep the kernel's overflow report to themselves; this uses the
layer below them, which reads with one thread and hands both over.
"""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Iterable

from watchdog.observers.inotify_c import CallbackId, InotifyConstants, InotifyEvent, InotifyFD, Mask, WatchDescriptor

from sightline_indexer.watch_events import Batch, EventQueue, WatchEvent

_MASK = Mask(
    InotifyConstants.IN_CREATE
    | InotifyConstants.IN_DELETE
    | InotifyConstants.IN_MOVED_FROM
    | InotifyConstants.IN_MOVED_TO
    | InotifyConstants.IN_MODIFY
    | InotifyConstants.IN_CLOSE_WRITE
    | InotifyConstants.IN_ATTRIB
    | InotifyConstants.IN_DELETE_SELF
    | InotifyConstants.IN_MOVE_SELF
    | InotifyConstants.IN_DONT_FOLLOW
    | InotifyConstants.IN_ONLYDIR
    | InotifyConstants.IN_EXCL_UNLINK
)
_GONE = InotifyConstants.IN_DELETE_SELF | InotifyConstants.IN_MOVE_SELF | InotifyConstants.IN_UNMOUNT


class InotifySource:
    """A `WatchSource` over one inotify instance; it is also the callback that watchdog's reading thread calls."""

    def __init__(self, max_queued: int) -> None:
        """Raises OSError when the system has no more inotify instances."""
        self._queue: EventQueue[InotifyEvent] = EventQueue(max_queued)
        self._ids = itertools.count(1)
        self._directories: dict[WatchDescriptor, tuple[str, CallbackId]] = {}
        self._descriptors: dict[str, WatchDescriptor] = {}
        self._reader = InotifyFD()
        self._reader.start()

    @property
    def directories(self) -> Iterable[str]:
        """The keys of the directories that are watched."""
        return list(self._descriptors)

    @property
    def has_events(self) -> bool:
        """True when events wait to be taken."""
        return self._queue.has_events

    def __contains__(self, directory: str) -> bool:
        return directory in self._descriptors

    def add(self, directory: str, path: str) -> None:
        """Watch the directory at `path`, under the key `directory`; raises OSError when it cannot be watched."""
        self._drop(directory)
        identifier = CallbackId(next(self._ids))
        descriptor = self._reader.add_callback(os.fsencode(path), _MASK, self, identifier)
        if descriptor < 0:
            # watchdog passes over a directory that may not be read and returns no descriptor.
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        before = self._directories.get(descriptor)
        if before is not None:
            # The same directory under an earlier path: the kernel keeps one watch for it.
            self._reader.remove_callbacks([(descriptor, before[1])])
            self._descriptors.pop(before[0], None)
        self._directories[descriptor] = (directory, identifier)
        self._descriptors[directory] = descriptor

    def remove(self, directory: str) -> bool:
        """Stop watching a directory and everything below it; False when it was not watched."""
        found = directory in self._descriptors
        below = directory + "/"
        for known in [key for key in self._descriptors if key == directory or key.startswith(below)]:
            self._drop(known)
        return found

    def wait(self, timeout_s: float) -> None:
        """Return when there are events, after a `wake`, or after the time."""
        self._queue.wait(timeout_s)

    def wake(self) -> None:
        """End a `wait` from another thread."""
        self._queue.wake()

    def take(self) -> Batch:
        """All events that arrived, in their order."""
        raw, lost = self._queue.take()
        return Batch(tuple(event for event in map(self._translate, raw) if event is not None), lost)

    def close(self, timeout_s: float) -> None:
        """End the reading thread."""
        self._reader.stop()
        self._reader.join(timeout_s)

    def on_event(self, event: InotifyEvent) -> None:
        """Called by watchdog for each event."""
        self._queue.put(event)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """Called by watchdog when the kernel dropped a watch; the marker lets `take` forget it in order."""
        self._queue.put(InotifyEvent(wd, InotifyConstants.IN_IGNORED, 0, b""))

    def on_queue_overflow(self) -> None:
        """Called by watchdog when the kernel dropped events."""
        self._queue.lose()

    def _translate(self, event: InotifyEvent) -> WatchEvent | None:
        known = self._directories.get(event.wd)
        if known is None:
            return None
        if event.is_ignored:
            del self._directories[event.wd]
            if self._descriptors.get(known[0]) == event.wd:
                del self._descriptors[known[0]]
            return None
        return WatchEvent(
            directory=known[0],
            name=os.fsdecode(event.name),
            is_directory=event.is_directory,
            appeared=event.is_create or event.is_moved_to,
            vanished=event.is_delete or event.is_moved_from or bool(event.mask & _GONE),
            moved=event.is_moved_from,
        )

    def _drop(self, directory: str) -> None:
        descriptor = self._descriptors.pop(directory, None)
        if descriptor is not None:
            _, identifier = self._directories.pop(descriptor)
            self._reader.remove_callbacks([(descriptor, identifier)])
