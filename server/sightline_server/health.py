"""The state of the process, for `health_check` and `GET /health` alike."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sightline_core.types import Freshness, IndexingStatus, SchemaStatus
from sightline_core.version import __version__
from sightline_indexer.grammars import installed_grammars
from sightline_indexer.job_log import RecoveryReport
from sightline_lsp.answers import ServerStatus
from sightline_server.workspace_status import status_of

if TYPE_CHECKING:
    from sightline_server.app import Services
    from sightline_server.workspaces import Workspace


class ServerHealthStatus(StrEnum):
    """The state of the whole server; the first that applies in this order."""

    ERROR = "error"
    WARMING = "warming"
    INDEXING = "indexing"
    READY = "ready"


class ProjectIndexStatus(StrEnum):
    """The state of one workspace's index."""

    READY = "ready"
    INDEXING = "indexing"
    STALE = "stale"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ProjectHealth:
    """One workspace."""

    project_id: str
    repo_root: str
    index_status: ProjectIndexStatus
    schema_status: SchemaStatus
    current_schema_version: int | None
    required_schema_version: int | None
    last_indexed_at: str | None
    ref: str | None
    file_count: int | None
    symbol_count: int | None


@dataclass(frozen=True, slots=True)
class Warmset:
    """The workspaces whose indexes are kept open."""

    enabled: bool
    capacity: int
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the process."""

    status: ServerHealthStatus
    version: str
    uptime_seconds: int
    projects: tuple[ProjectHealth, ...]
    servers: tuple[ServerStatus, ...]
    grammars: tuple[str, ...]
    missing_grammars: tuple[str, ...]
    warmset: Warmset
    recovery: RecoveryReport | None


def read_health(services: Services) -> Health:
    """The state now; reads memory only, so it is quick while indexing runs."""
    workspaces = services.workspaces.all()
    projects = tuple(_project(workspace) for workspace in workspaces)
    grammars, missing = installed_grammars()
    return Health(
        status=_overall(projects, warming=services.is_warming),
        version=__version__,
        uptime_seconds=int(time.monotonic() - services.started_at),
        projects=projects,
        servers=services.language_servers.pool.status(),
        grammars=grammars,
        missing_grammars=missing,
        warmset=_warmset(services),
        recovery=_recovery(workspaces),
    )


def _recovery(workspaces: list[Workspace]) -> RecoveryReport | None:
    """What was interrupted in any of the open workspaces."""
    states = [workspace.index.status() for workspace in workspaces if workspace.index is not None]
    reports = [state.recovery for state in states if state.recovery is not None]
    if not reports:
        return None
    return RecoveryReport(
        tuple(job for report in reports for job in report.interrupted_jobs),
        max(report.last_interrupted_at for report in reports),
    )


def _project(workspace: Workspace) -> ProjectHealth:
    status = status_of(workspace)
    return ProjectHealth(
        project_id=workspace.project_id,
        repo_root=workspace.path,
        index_status=_index_status(status.indexing_status, status.freshness, status.schema_status),
        schema_status=status.schema_status,
        current_schema_version=status.current_schema_version,
        required_schema_version=status.required_schema_version,
        last_indexed_at=status.last_indexed_at,
        ref=status.ref,
        file_count=status.file_count,
        symbol_count=status.symbol_count,
    )


def _index_status(indexing: IndexingStatus, freshness: Freshness, schema: SchemaStatus) -> ProjectIndexStatus:
    if indexing is IndexingStatus.FAILED or schema in (SchemaStatus.CORRUPT_MANIFEST, SchemaStatus.REINDEX_REQUIRED):
        return ProjectIndexStatus.ERROR
    if indexing is IndexingStatus.INDEXING:
        return ProjectIndexStatus.INDEXING
    if indexing is IndexingStatus.NOT_INDEXED or freshness is Freshness.STALE:
        return ProjectIndexStatus.STALE
    return ProjectIndexStatus.READY


def _overall(projects: tuple[ProjectHealth, ...], *, warming: bool) -> ServerHealthStatus:
    states = {project.index_status for project in projects}
    if ProjectIndexStatus.ERROR in states:
        return ServerHealthStatus.ERROR
    if warming:
        return ServerHealthStatus.WARMING
    if ProjectIndexStatus.INDEXING in states:
        return ServerHealthStatus.INDEXING
    return ServerHealthStatus.READY


def _warmset(services: Services) -> Warmset:
    capacity = services.config.limits.workspace_warmset_capacity
    enabled = services.config.prewarm
    members = tuple(w.path for w in services.workspaces.all()[:capacity]) if enabled else ()
    return Warmset(enabled, capacity, members)
