"""What is known of a workspace's index, as every answer's metadata and the health report show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sightline_core.types import Freshness, IndexingStatus, SchemaStatus
from sightline_indexer.index_state import Standing
from sightline_indexer.repo_ref import read_ref
from sightline_indexer.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from sightline_indexer.index_state import IndexState
    from sightline_server.workspaces import Workspace


@dataclass(frozen=True, slots=True)
class WorkspaceStatus:
    """The state of one workspace; what is not known is None."""

    indexing_status: IndexingStatus
    freshness: Freshness
    schema_status: SchemaStatus
    ref: str
    required_schema_version: int = SCHEMA_VERSION
    current_schema_version: int | None = None
    last_indexed_at: str | None = None
    file_count: int | None = None
    symbol_count: int | None = None
    state: IndexState | None = None


def standing_of(workspace: Workspace) -> Standing:
    """What every answer says of the index; a workspace that nobody asked about yet has no open one."""
    if workspace.index is None:
        return Standing(
            IndexingStatus.NOT_INDEXED, SchemaStatus.NOT_INDEXED, Freshness.STALE, read_ref(workspace.path)
        )
    return workspace.index.standing()


def status_of(workspace: Workspace) -> WorkspaceStatus:
    """The state now; a workspace that nobody asked about yet has no open index."""
    if workspace.index is None:
        return WorkspaceStatus(
            IndexingStatus.NOT_INDEXED, Freshness.STALE, SchemaStatus.NOT_INDEXED, read_ref(workspace.path)
        )
    return from_state(workspace.index.status())


def from_state(state: IndexState) -> WorkspaceStatus:
    """The shown part of an index's state."""
    indexed = state.generation > 0
    return WorkspaceStatus(
        indexing_status=state.indexing_status,
        freshness=state.freshness,
        schema_status=state.schema_status,
        ref=state.ref,
        current_schema_version=state.current_schema_version or None,
        last_indexed_at=state.last_indexed_at or None,
        file_count=state.file_count if indexed else None,
        symbol_count=state.symbol_count if indexed else None,
        state=state,
    )
