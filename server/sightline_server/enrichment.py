"""Live symbols of the language servers, asked while the index is being searched.

**Invariant**: costs an answer no more than the box, and only queries that can be the name of a symbol are asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import anyio

from sightline_core.errors import SightlineError
from sightline_core.languages import languages
from sightline_core.types import Source, SourceStatus
from sightline_lsp.answers import LiveSymbol
from sightline_search.names import parse_name

if TYPE_CHECKING:
    from sightline_server.tools.base import Call

T = TypeVar("T")
_MS = 1000.0
_MAX_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class Live:
    """What the servers said; `sources` is None when none was asked."""

    symbols: tuple[LiveSymbol, ...] = ()
    sources: tuple[Source, ...] | None = None


def can_be_symbol(query: str) -> bool:
    """Whether a query may be the name of one definition."""
    return len(query) <= _MAX_NAME_CHARS and parse_name(query) is not None


async def alongside(call: Call, name: str | None, work: Callable[[], Awaitable[T]]) -> tuple[T, Live]:
    """Run `work` and ask the servers for `name` at the same time; None asks nobody."""
    if name is None:
        return await work(), Live()
    live = Live()
    done: list[T] = []
    failed: list[SightlineError] = []

    async def ask() -> None:
        nonlocal live
        live = await ask_servers(call, name)

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        try:
            done.append(await work())
        except SightlineError as error:
            # Raised below: a task group would wrap it, and its code and remedy would not reach the caller.
            failed.append(error)
            group.cancel_scope.cancel()
    if failed:
        raise failed[0]
    return done[0], live


async def ask_servers(call: Call, name: str) -> Live:
    """What every relevant server knows of a name, within the box."""
    await call.index()
    workspace = call.require_workspace()
    servers = call.services.language_servers
    wanted = parse_name(name)
    if wanted is None:
        return Live()
    # Names are defined in languages with symbol rules; asking the server of a data format adds nothing.
    known = [name for name in servers.languages_of(workspace) if languages()[name].symbols]
    budget_s = call.limits.lsp_enrich_budget_ms / _MS
    try:
        found = await servers.pool.workspace_symbols(workspace.path, wanted.name, known, budget_s)
    except SightlineError as error:
        # The pool does not know the folder, which was deleted: the index answers, and says who did not.
        return Live(
            sources=tuple(Source(name, SourceStatus.DOWN, detail=error.message, expected=True) for name in known)
        )
    return Live(found.symbols, found.sources)
