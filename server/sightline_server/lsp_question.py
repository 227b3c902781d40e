"""One question to a language server on behalf of a tool: its answer, or the reason why there is none.

**Invariant**: a server's failure is a value here, never an exception; faults of the caller's input go on as they are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.languages import language_of
from sightline_core.paths import RepoPath
from sightline_core.types import Note, Source, SourceStatus
from sightline_lsp.answers import Reply
from sightline_lsp.faults import LspError
from sightline_lsp.pool import Pool
from sightline_server.completeness import Facts
from sightline_server.tools.base import Call

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Question = Callable[[Pool, str, float], Awaitable[Reply[T]]]


@dataclass(frozen=True, slots=True)
class Asked(Generic[T_co]):
    """What came of a question; `error` is set when `value` is not the server's answer."""

    value: T_co
    source: Source
    error: SightlineError | None = None
    dropped: int = 0
    truncated: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether the server answered and had loaded: only then an empty answer means that there is nothing."""
        return self.error is None and self.source.status is SourceStatus.OK


async def ask(
    call: Call, path: RepoPath, question: Question[T], nothing: T, *, until: float | None = None
) -> Asked[T]:
    """Ask within the time of a navigation, or what is left of it `until` then.

    `nothing` stands in for an answer that did not come.
    """
    timeout_s = max(0.0, (navigation_deadline(call) if until is None else until) - call.now())
    try:
        reply = await question(call.services.language_servers.pool, call.require_workspace().path, timeout_s)
    except LspError as error:
        return Asked(nothing, _failed_source(call, error), error)
    except SightlineError as error:
        if error.code is not ErrorCode.LSP_UNAVAILABLE:
            raise
        language = language_of(path.relative) or "unknown"
        return Asked(nothing, Source(language, SourceStatus.UNSUPPORTED, detail=error.message), error)
    return Asked(reply.value, reply.source, dropped=reply.dropped, truncated=reply.truncated)


def answered(asked: Asked[T]) -> T:
    """The server's answer where nothing can stand in for it; raises why there is none."""
    if asked.error is not None:
        raise asked.error
    return asked.value


def navigation_deadline(call: Call) -> float:
    """Until when servers are waited for, if they are asked from now on; the rest is the fallback's."""
    limits = call.limits
    return min(call.now() + limits.lsp_navigation_timeout_s, call.deadline - limits.fallback_timeout_s)


def _failed_source(call: Call, error: LspError) -> Source:
    pool = call.services.language_servers.pool
    known = pool.sources(call.require_workspace().path, [error.language])
    server = known[0].server if known else ""
    return Source(
        error.language, error.status, server, f"{error.text} {error.detail}".strip().rstrip("."), expected=True
    )


def facts_of(
    asked: Iterable[Asked[object]],
    *,
    cuts: tuple[Note, ...] = (),
    holes: tuple[Note, ...] = (),
    notes: tuple[Note, ...] = (),
) -> Facts:
    """The facts of an answer that rests on these questions; for each server its worst part counts."""
    sources: dict[tuple[str, str], Source] = {}
    for item in asked:
        key = (item.source.language, item.source.server)
        if key not in sources or sources[key].status is SourceStatus.OK:
            sources[key] = item.source
        if item.truncated:
            cuts = (*cuts, Note("lsp_answer_cut", "The language server's answer was longer than what is read of it."))
        if item.dropped:
            holes = (
                *holes,
                Note(
                    "lsp_answer_invalid",
                    f"[{item.source.language}] {item.dropped} entries of the server's answer were not valid.",
                    item.source.language,
                ),
            )
    return Facts(
        cuts=tuple(dict.fromkeys(cuts)),
        holes=tuple(dict.fromkeys(holes)),
        notes=tuple(dict.fromkeys(notes)),
        sources=tuple(sources.values()),
    )
