"""What is known of a workspace's index, as every answer's metadata and the health report show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sightline_core.types import Freshness, IndexingStatus, SchemaStatus

if TYPE_CHECKING:
    from sightline_server.workspaces import Workspace


@dataclass(frozen=True, slots=True)
class WorkspaceStatus:
    """The state of one workspace; what is not known is None."""

    indexing_status: IndexingStatus
    freshness: Freshness
    schema_status: SchemaStatus
    ref: str | None = None
    current_schema_version: int | None = None
    required_schema_version: int | None = None
    last_indexed_at: str | None = None
    file_count: int | None = None
    symbol_count: int | None = None


def status_of(workspace: Workspace) -> WorkspaceStatus:
    """The state now, from memory."""
    return WorkspaceStatus(IndexingStatus.NOT_INDEXED, Freshness.STALE, SchemaStatus.NOT_INDEXED)
