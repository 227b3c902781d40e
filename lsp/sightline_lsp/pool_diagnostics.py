"""The question about a file's diagnostics: pulled where the server offers it, else awaited after a change.

**Invariant**: the counter is read before the document is sent, whoever sent it, so a publication about the older text
is never taken for the new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from sightline_core.paths import RepoPath
from sightline_lsp import shapes, translate
from sightline_lsp.answers import Diagnostic, DiagnosticsOutcome
from sightline_lsp.diagnostics import Signs, wait_for_update
from sightline_lsp.messages import Malformed
from sightline_lsp.navigation import Session

_PULL = "textDocument/diagnostic"


@dataclass(frozen=True, slots=True)
class Found:
    """What is known about the file."""

    outcome: DiagnosticsOutcome
    items: tuple[Diagnostic, ...]
    truncated: bool = False


async def collect(session: Session, path: RepoPath) -> Found:
    """The findings of one file, with how they came about; raises `LspError` only for a refused pull."""
    if session.client.offers.has(_PULL):
        return await _collect_pulled(session)
    found = await _collect_pushed(session, path)
    # A server that has just started registers for it a moment later.
    if found.outcome is DiagnosticsOutcome.INACTIVE and session.client.offers.has(_PULL):
        return await _collect_pulled(session)
    return found


async def _collect_pulled(session: Session) -> Found:
    report = await session.ask(_PULL, session.whole, shapes.REPORT)
    if report is not None and report.kind not in ("full", "unchanged"):
        raise Malformed(f"a diagnostic report of the kind {report.kind!r}")
    items = report.items or [] if report is not None else []
    return _found(session, DiagnosticsOutcome.UPDATED, items, truncated=False)


async def _collect_pushed(session: Session, path: RepoPath) -> Found:
    client, limits = session.client, session.limits
    store = client.diagnostics
    known = store.get(path.absolute)
    outcome = DiagnosticsOutcome.UPDATED
    since = session.document.since
    if known is None or known.generation <= since:
        signs = Signs(
            is_dead=client.connection.closed.is_set,
            last_traffic=lambda: client.connection.last_traffic,
            has_progress=lambda: client.readiness.has_progress,
            death=client.connection.closed,
            is_pulled=lambda: client.offers.has(_PULL),
        )
        outcome = await wait_for_update(store, path.absolute, since, signs, limits, session.deadline)
        for _ in range(limits.lsp_diagnostics_nudges):
            late = anyio.current_time() >= session.deadline or signs.is_pulled()
            if outcome is not DiagnosticsOutcome.INACTIVE or late:
                break
            await client.documents.save(session.document.uri)
            outcome = await wait_for_update(store, path.absolute, since, signs, limits, session.deadline)
        known = store.get(path.absolute)
    items = known.items if known is not None else ()
    return _found(session, outcome, items, truncated=known is not None and known.truncated)


def _found(
    session: Session, outcome: DiagnosticsOutcome, items: Sequence[shapes.WireDiagnostic], *, truncated: bool
) -> Found:
    made = translate.diagnostics(items, session.document.text, session.converter, session.limits)
    return Found(outcome, made, truncated)
