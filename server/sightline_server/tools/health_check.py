"""`health_check`: what this process serves and in what state it is."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.types import SchemaStatus
from sightline_server.completeness import ToolKind
from sightline_server.envelope import WireModel
from sightline_server.health import Health, ProjectHealth, ServerHealthStatus, read_health
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset
from sightline_server.tools.index_status import RecoveryModel, recovery_model
from sightline_server.tools.server_models import ServerModel, server_model


class HealthArgs(Args):
    """`health_check` takes no argument of its own."""


class ProjectModel(WireModel):
    """One workspace."""

    project_id: str
    repo_root: str
    index_status: str
    schema_status: SchemaStatus
    current_schema_version: int | None = None
    required_schema_version: int | None = None
    last_indexed_at: str | None = None
    ref: str | None = None
    file_count: int | None = None
    symbol_count: int | None = None


class WarmsetModel(WireModel):
    """The workspaces whose indexes are kept open."""

    enabled: bool
    capacity: int
    members: list[str]


class GrammarsModel(WireModel):
    """Which languages symbols can be read of."""

    available: list[str]
    missing: list[str]


class HealthResult(Result):
    """The state of the process."""

    status: ServerHealthStatus
    version: str
    uptime_seconds: int
    projects: Annotated[list[ProjectModel], Field(description="Every registered workspace.")]
    servers: Annotated[list[ServerModel], Field(description="Every language server that was started.")]
    grammars: GrammarsModel
    workspace_warmset: WarmsetModel
    interrupted_recovery_report: RecoveryModel | None = None


def project_model(project: ProjectHealth) -> ProjectModel:
    """A workspace's health as it is shown."""
    return ProjectModel(
        project_id=project.project_id,
        repo_root=project.repo_root,
        index_status=project.index_status.value,
        schema_status=project.schema_status,
        current_schema_version=project.current_schema_version,
        required_schema_version=project.required_schema_version,
        last_indexed_at=project.last_indexed_at,
        ref=project.ref,
        file_count=project.file_count,
        symbol_count=project.symbol_count,
    )


def health_model(health: Health) -> HealthResult:
    """The health of the process as it is shown by the tool and by `GET /health`."""
    return HealthResult(
        status=health.status,
        version=health.version,
        uptime_seconds=health.uptime_seconds,
        projects=[project_model(project) for project in health.projects],
        servers=[server_model(status) for status in health.servers],
        grammars=GrammarsModel(available=list(health.grammars), missing=list(health.missing_grammars)),
        workspace_warmset=WarmsetModel(
            enabled=health.warmset.enabled, capacity=health.warmset.capacity, members=list(health.warmset.members)
        ),
        interrupted_recovery_report=recovery_model(health.recovery),
    )


async def run(call: Call, _args: HealthArgs) -> Answer[HealthResult]:
    """Read the state; nothing is started or changed."""
    return Answer(health_model(read_health(call.services)))


HEALTH_CHECK = Tool(
    name="health_check",
    title="Health check",
    description=(
        "Shows version, uptime, every registered workspace with the state of its index, and what is missing. "
        "Use it to find out which workspaces you may name; for the progress of one index use index_status."
    ),
    toolset=Toolset.CORE,
    kind=ToolKind.INDEX,
    args=HealthArgs,
    result=HealthResult,
    run=run,
    needs_workspace=False,
    list_field="projects",
)
