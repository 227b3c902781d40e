"""`detect_lsp_servers`: which language servers are installed, and how to get the others."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_server.completeness import ToolKind
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset
from sightline_server.tools.server_models import DetectedModel, detected_model


class DetectArgs(Args):
    """`detect_lsp_servers` takes no argument of its own."""


class DetectResult(Result):
    """The table of servers."""

    servers: list[DetectedModel]
    workspace_languages: Annotated[
        list[str] | None, Field(description="Languages of this workspace that a server could serve.")
    ] = None


async def run(call: Call, _args: DetectArgs) -> Answer[DetectResult]:
    """Look at PATH and beside the running Python; nothing is started."""
    servers = call.services.language_servers
    found = servers.pool.detect()
    languages: list[str] | None = None
    if call.workspace is not None:
        await call.index()
        languages = list(servers.languages_of(call.workspace))
    return Answer(DetectResult(servers=[detected_model(row) for row in found], workspace_languages=languages))


DETECT_LSP_SERVERS = Tool(
    name="detect_lsp_servers",
    title="Detect language servers",
    description=(
        "Lists every language server that Sightline knows, whether it is installed, and how to install it. "
        "Use health_check to see the state of those that run."
    ),
    toolset=Toolset.SERVERS,
    kind=ToolKind.INDEX,
    args=DetectArgs,
    result=DetectResult,
    run=run,
    in_default_set=False,
    needs_workspace=False,
    list_field="servers",
)
