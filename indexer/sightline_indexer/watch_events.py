"""What the watcher takes from the operating system: events of watched directories, and who delivers them.

**Invariant**: a lost event is never silent: `Batch.lost` tells that a queue ran over.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Raw = TypeVar("Raw")


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """Something happened to the entry `name` of the watched `directory`; an empty name means the directory itself.

    `moved` marks an entry that vanished whole by a rename: nothing is said about what is below it.
    """

    directory: str
    name: str
    is_directory: bool
    appeared: bool = False
    vanished: bool = False
    moved: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """The events since the last batch; `lost` when there were more than could be kept."""

    events: tuple[WatchEvent, ...]
    lost: bool


class WatchSource(Protocol):
    """Delivers events; all but `wake` and `has_events` belong to one thread."""

    @property
    def directories(self) -> Iterable[str]:
        """The keys of the directories that are watched."""
        ...

    @property
    def has_events(self) -> bool:
        """True when events wait to be taken."""
        ...

    def __contains__(self, directory: str) -> bool: ...

    def add(self, directory: str, path: str) -> None:
        """Watch the directory at `path`, under the key `directory`; raises OSError when it cannot be watched."""
        ...

    def remove(self, directory: str) -> bool:
        """Stop watching a directory and everything below it; False when it was not watched."""
        ...

    def wait(self, timeout_s: float) -> None:
        """Return when there are events, after a `wake`, or after the time."""
        ...

    def wake(self) -> None:
        """End a `wait` from another thread."""
        ...

    def take(self) -> Batch:
        """All events that arrived, in their order."""
        ...

    def close(self, timeout_s: float) -> None:
        """End the threads of the source."""
        ...


class EventQueue(Generic[Raw]):
    """A bounded queue between a reading thread and the watcher; what does not fit is lost, and said to be."""

    def __init__(self, max_queued: int) -> None:
        self._max_queued = max_queued
        self._ready = threading.Condition()
        self._events: list[Raw] = []
        self._lost = False
        self._woken = False

    @property
    def has_events(self) -> bool:
        """True when something waits to be taken."""
        with self._ready:
            return bool(self._events) or self._lost

    def put(self, event: Raw) -> None:
        """Keep an event; when full, everything kept so far is given up."""
        with self._ready:
            if len(self._events) >= self._max_queued:
                self._events.clear()
                self._lost = True
            self._events.append(event)
            self._ready.notify_all()

    def lose(self) -> None:
        """Note that events were dropped elsewhere."""
        with self._ready:
            self._lost = True
            self._ready.notify_all()

    def wait(self, timeout_s: float) -> None:
        """Return when there is something to take, after a `wake`, or after the time."""
        with self._ready:
            self._ready.wait_for(lambda: self._events or self._lost or self._woken, timeout_s)
            self._woken = False

    def wake(self) -> None:
        """End a `wait`."""
        with self._ready:
            self._woken = True
            self._ready.notify_all()

    def take(self) -> tuple[list[Raw], bool]:
        """What arrived, in its order, and whether something was lost."""
        with self._ready:
            events, self._events = self._events, []
            lost, self._lost = self._lost, False
        return events, lost
