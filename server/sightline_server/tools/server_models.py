"""How language servers are shown by the tools."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_lsp.answers import Detected, ServerStatus
from sightline_server.envelope import WireModel


class ServerModel(WireModel):
    """A language server of this process."""

    name: str
    languages: list[str]
    state: str
    ready: Annotated[bool, Field(description="True when it has loaded the workspace.")]
    pid: int | None = None
    rss_bytes: int | None = None
    cpu_seconds: float | None = None
    roots: list[str]
    starts: Annotated[int, Field(description="How often it was started in the last minutes.")]
    detail: str | None = None


class DetectedModel(WireModel):
    """A language server that Sightline knows."""

    name: str
    languages: list[str]
    command: list[str]
    installed: bool
    path: str | None = None
    install: Annotated[str | None, Field(description="The command that installs it.")] = None
    in_use_for: list[str]
    runs_workspace_code: bool


def server_model(status: ServerStatus) -> ServerModel:
    """One server's state as it is shown."""
    return ServerModel(
        name=status.name,
        languages=list(status.languages),
        state=status.state.value,
        ready=status.ready,
        pid=status.pid,
        rss_bytes=status.rss_bytes or None,
        cpu_seconds=round(status.cpu_s, 2) or None,
        roots=list(status.roots),
        starts=status.starts,
        detail=status.detail or None,
    )


def detected_model(found: Detected) -> DetectedModel:
    """One row of the table as it is shown."""
    return DetectedModel(
        name=found.name,
        languages=list(found.languages),
        command=list(found.command),
        installed=found.found is not None,
        path=found.found,
        install=None if found.found else found.install or None,
        in_use_for=list(found.in_use_for),
        runs_workspace_code=found.runs_workspace_code,
    )
