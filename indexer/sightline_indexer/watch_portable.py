"""Events of a whole tree from watchdog's own observer, for systems without inotify.

**Invariant**: the observer of those systems watches a tree with one handle, so keys below a watched one cost nothing.
It cannot tell when the system drops events; the watcher's timer covers that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import ObservedWatch

from sightline_indexer.watch_events import Batch, EventQueue, WatchEvent

_SILENT = frozenset(("opened", "closed_no_write"))


class PortableSource(FileSystemEventHandler):
    """A `WatchSource` over watchdog's observer of the platform."""

    def __init__(self, max_queued: int) -> None:
        """Raises OSError when the system cannot watch."""
        self._queue: EventQueue[WatchEvent] = EventQueue(max_queued)
        self._root = ""
        self._keys: set[str] = set()
        self._outside: dict[str, str] = {}
        self._watches: list[ObservedWatch] = []
        self._observer = Observer()
        self._observer.start()

    @property
    def directories(self) -> Iterable[str]:
        """The keys of the directories that are watched."""
        return list(self._keys)

    @property
    def has_events(self) -> bool:
        """True when events wait to be taken."""
        return self._queue.has_events

    def __contains__(self, directory: str) -> bool:
        return directory in self._keys

    def add(self, directory: str, path: str) -> None:
        """Watch the directory at `path`, under the key `directory`; raises OSError when it cannot be watched."""
        real = os.path.realpath(path)
        if directory.startswith("//"):
            self._outside[real] = directory
            self._watches.append(self._observer.schedule(self, real))
        elif not directory and not self._root:
            self._root = real
            self._watches.append(self._observer.schedule(self, real, recursive=True))
        self._keys.add(directory)

    def remove(self, directory: str) -> bool:
        """Forget a directory and everything below it; False when it was not watched."""
        found = directory in self._keys
        below = directory + "/"
        self._keys = {key for key in self._keys if key != directory and not key.startswith(below)}
        return found

    def wait(self, timeout_s: float) -> None:
        """Return when there are events, after a `wake`, or after the time."""
        self._queue.wait(timeout_s)

    def wake(self) -> None:
        """End a `wait` from another thread."""
        self._queue.wake()

    def take(self) -> Batch:
        """The events of watched directories that arrived, in their order."""
        events, lost = self._queue.take()
        return Batch(tuple(event for event in events if event.directory in self._keys), lost)

    def close(self, timeout_s: float) -> None:
        """End the observer's threads."""
        self._observer.stop()
        self._observer.join(timeout_s)

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by watchdog for each event."""
        kind = event.event_type
        if kind in _SILENT:
            return
        source, target = os.fsdecode(event.src_path), os.fsdecode(event.dest_path)
        gone, moved = kind in ("deleted", "moved"), kind == "moved"
        if source:
            self._put(source, event.is_directory, appeared=kind == "created", vanished=gone, moved=moved)
        if moved and target:
            self._put(target, event.is_directory, appeared=True)

    def _put(
        self, path: str, is_directory: bool, *, appeared: bool = False, vanished: bool = False, moved: bool = False
    ) -> None:
        if path == self._root:
            if vanished:
                self._queue.put(WatchEvent("", "", is_directory, vanished=True))
            return
        parent, name = os.path.split(path)
        key = self._outside.get(parent)
        if key is None:
            key = os.path.relpath(parent, self._root).replace(os.sep, "/")
            key = "" if key == "." else key
        self._queue.put(WatchEvent(key, name, is_directory, appeared, vanished, moved))
