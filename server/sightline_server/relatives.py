"""The common course of the hierarchy tools: target, server's walk, fallback by name, page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated

from pydantic import Field

from sightline_server.hierarchies import Prepare, Relative, Step, walk_server
from sightline_server.locations import Location, Row, show
from sightline_server.lsp_question import facts_of
from sightline_server.navigate import Provenance
from sightline_server.place_lists import PageArgs, in_given_order, page_bounds
from sightline_server.syntactic_hierarchies import Relatives, relatives_by_name
from sightline_server.targets import Target, TargetArgs, TargetModel, resolve_target, target_model
from sightline_server.tools.base import Answer, Call, Result

PrepareFor = Callable[[Target], Prepare]


class RelativeModel(Location):
    """A relative of the target, placed at its name."""

    name: str
    kind: str
    direction: str
    depth: int
    of: Annotated[str, Field(description="The name it is a relative of; the target's at depth 1.")]
    call_lines: Annotated[list[int] | None, Field(description="Lines of the calls, in the caller's file.")] = None


class RelativesResult(Result):
    """The relatives of the target, nearest first."""

    target: TargetModel
    items: list[RelativeModel]
    total: int
    provenance: Provenance
    next_cursor: str | None = None


class HierarchyArgs(TargetArgs, PageArgs):
    """A target, and how much of the answer."""


async def find_relatives(
    call: Call, args: HierarchyArgs, tool: str, prepare: PrepareFor, steps: dict[str, Step], depth: int
) -> Answer[RelativesResult]:
    """Walk by the server in the directions of `steps`; by name as well when it cannot answer or still loads."""
    target = await resolve_target(call, args)
    walk = await walk_server(call, target, prepare(target), steps.items(), depth)
    by_name = Relatives() if walk.is_sure else await relatives_by_name(call, target, list(steps), depth)
    merged = _merged(walk.relatives, by_name.items)
    places = in_given_order(relative.place for relative in merged)
    part, next_cursor = page_bounds(places, args, tool, target.path, target.position, sorted(steps), depth)
    shown = await show(call, places.part(part))
    result = RelativesResult(
        target=target_model(target),
        items=[_model(relative, at) for relative, at in zip(merged[part], shown, strict=True)],
        total=len(merged),
        provenance=_provenance(walk.relatives, by_name.items, is_sure=walk.is_sure),
        next_cursor=next_cursor,
    )
    holes = (*target.holes, *walk.holes, *by_name.holes)
    return Answer(result, facts_of(walk.asked, cuts=(*walk.cuts, *by_name.cuts), holes=holes))


def _merged(by_server: Iterable[Relative], by_name: Iterable[Relative]) -> list[Relative]:
    """Each relative once a direction, the server's own form first; in order of direction and depth."""
    unique: dict[tuple[object, ...], Relative] = {}
    for relative in (*by_server, *by_name):
        place = relative.place
        key = (relative.direction, place.root, place.path, place.range.start, relative.of.rpartition(".")[2])
        unique.setdefault(key, relative)
    return sorted(unique.values(), key=lambda relative: (relative.direction, relative.depth, relative.place.is_test))


def _model(relative: Relative, at: Row) -> RelativeModel:
    return RelativeModel(
        **at,
        name=relative.name,
        kind=relative.kind.value,
        direction=relative.direction,
        depth=relative.depth,
        of=relative.of,
        call_lines=list(relative.sites) or None,
    )


def _provenance(by_server: Iterable[Relative], by_name: Iterable[Relative], *, is_sure: bool) -> list[str]:
    used = [name for name, part in (("lsp", by_server), ("index", by_name)) if part]
    return used or (["lsp"] if is_sure else ["index"])
