"""Walks over call and type hierarchies, by a language server or by names, into one flat list of relatives.

**Invariant**: each relative appears once a direction, at its smallest depth; the walk is bounded in depth, number and
time, and says when it was cut.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from sightline_core.types import Note, Range, SymbolKind
from sightline_lsp.answers import HierarchyItem, Reply
from sightline_lsp.pool import Pool
from sightline_server.lsp_question import Asked, Question, ask, navigation_deadline
from sightline_server.place_lists import Place, place_of
from sightline_server.targets import Target
from sightline_server.tools.base import Call

Step = Callable[[Pool, str, Target, HierarchyItem, float], Awaitable[Reply[tuple["Link", ...]]]]
Prepare = Callable[[Pool, str, float], Awaitable[Reply[tuple[HierarchyItem, ...]]]]


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a server's hierarchy: the relative and, for calls, where they are."""

    item: HierarchyItem
    sites: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Relative:
    """A caller, callee, super- or subtype; `of` is the name it is related to, `sites` the lines of the calls."""

    name: str
    kind: SymbolKind
    place: Place
    direction: str
    depth: int
    of: str
    sites: tuple[int, ...] = ()


@dataclass(slots=True)
class Walk:
    """What a walk found, and how; `until` is when servers are no longer waited for."""

    until: float = 0.0
    relatives: list[Relative] = field(default_factory=list[Relative])
    asked: list[Asked[object]] = field(default_factory=list[Asked[object]])
    cuts: tuple[Note, ...] = ()
    holes: tuple[Note, ...] = ()

    @property
    def is_sure(self) -> bool:
        """Whether every question was answered by a server that had loaded."""
        return bool(self.asked) and all(asked.is_sure for asked in self.asked)


async def walk_server(
    call: Call, target: Target, prepare: Prepare, steps: Iterable[tuple[str, Step]], depth: int
) -> Walk:
    """Follow a server's hierarchy from the target in each direction, breadth first."""
    walk = Walk(until=navigation_deadline(call))
    prepared = await ask(call, target.path, prepare, (), until=walk.until)
    walk.asked.append(prepared)
    for direction, step in steps:
        level, seen = list(prepared.value), {_key(item) for item in prepared.value}
        for distance in range(1, depth + 1):
            level = await _level(call, target, walk, (direction, distance), step, level, seen)
    return walk


async def _level(
    call: Call,
    target: Target,
    walk: Walk,
    where: tuple[str, int],
    step: Step,
    level: list[HierarchyItem],
    seen: set[tuple[str, Range]],
) -> list[HierarchyItem]:
    direction, distance = where
    following: list[HierarchyItem] = []
    for item in level:
        if len(walk.relatives) >= call.limits.max_hierarchy_nodes:
            walk.cuts = (_cut_note(call.limits.max_hierarchy_nodes),)
            return []
        asked = await ask(call, target.path, _bound(step, target, item), (), until=walk.until)
        walk.asked.append(asked)
        if asked.error is not None:
            return []
        for link in asked.value:
            if distance > 1 and _key(link.item) in seen:
                continue
            if _key(link.item) not in seen:
                seen.add(_key(link.item))
                following.append(link.item)
            lines = tuple(sorted({site.start.line for site in link.sites}))
            found = link.item
            walk.relatives.append(
                Relative(found.name, found.kind, place_of(found.location), direction, distance, item.name, lines)
            )
    return following


def _bound(step: Step, target: Target, item: HierarchyItem) -> Question[tuple[Link, ...]]:
    return lambda pool, root, left: step(pool, root, target, item, left)


def _key(item: HierarchyItem) -> tuple[str, Range]:
    return item.location.path, item.location.range


def _cut_note(bound: int) -> Note:
    return Note("hierarchy_cut", f"The walk stopped after {bound} relatives; ask for a smaller depth.")
