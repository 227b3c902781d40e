"""The common course of a navigation tool: target, question, fallback, page.

**Invariant**: the fallback is asked whenever the server did not answer or had not loaded, so that an empty answer is
either the server's own and complete, or labelled.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from pydantic import Field

from sightline_lsp.answers import LspLocation, Reply
from sightline_lsp.pool import Pool
from sightline_server.locations import Rows, page_of
from sightline_server.lsp_question import Asked, ask, facts_of
from sightline_server.next_actions import NextAction
from sightline_server.place_lists import PageArgs, listed
from sightline_server.syntactic import Found
from sightline_server.targets import Target, TargetArgs, TargetModel, resolve_target, target_model
from sightline_server.tools.base import Answer, Call, Result

PlacesQuestion = Callable[[Pool, str, Target, float], Awaitable[Reply[tuple[LspLocation, ...]]]]
Fallback = Callable[[Call, Target], Awaitable[Found]]
Suggest = Callable[[Target], list[NextAction]]
Provenance = Annotated[list[str], Field(description="Who answered: `lsp`, `index` (by name and syntax), or both.")]


class PlacesArgs(TargetArgs, PageArgs):
    """A target, and how much of the answer."""


class PlacesResult(Result):
    """Places, grouped by file."""

    as_rows = frozenset({"locations"})

    target: TargetModel
    locations: Rows
    total: int
    provenance: Provenance
    next_cursor: str | None = None
    suggested_next_actions: list[NextAction] | None = None


async def find_places(
    call: Call,
    args: PlacesArgs,
    tool: str,
    question: PlacesQuestion,
    fallback: Fallback | None,
    suggest: Suggest | None = None,
) -> Answer[PlacesResult]:
    """Answer a question about places; without a fallback a server's failure is the caller's error."""
    target = await resolve_target(call, args)
    asked = await ask(call, target.path, lambda pool, root, left: question(pool, root, target, left), ())
    if asked.error is not None and fallback is None:
        raise asked.error
    found = await fallback(call, target) if fallback is not None and not asked.is_sure else Found()
    places = listed(asked.value, found.places, call.require_workspace().path)
    page = await page_of(call, places, args, tool, target.path, target.position, _options(args))
    result = PlacesResult(
        target=target_model(target),
        locations=page.rows,
        total=page.total,
        provenance=provenance_of(asked, found),
        next_cursor=page.next_cursor,
        suggested_next_actions=(suggest(target) or None) if suggest is not None and page.total else None,
    )
    return Answer(result, facts_of([asked], cuts=found.cuts, holes=(*target.holes, *found.holes)))


def provenance_of(asked: Asked[tuple[LspLocation, ...]], found: Found) -> list[str]:
    """Who had a part in the answer."""
    used = [name for name, part in (("lsp", asked.value), ("index", found.places)) if part]
    return used or (["lsp"] if asked.is_sure else ["index"])


def symbol_arguments(target: Target) -> dict[str, object]:
    """The arguments that name the same target again."""
    return {"path": target.path.relative, "line": target.position.line, "column": target.position.column}


def _options(args: PlacesArgs) -> dict[str, object]:
    return args.model_dump(exclude={"limit", "cursor", "workspace", *TargetArgs.model_fields})
