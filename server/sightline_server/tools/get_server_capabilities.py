"""`get_server_capabilities`: what a language's server can do."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_server.completeness import ToolKind
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset
from sightline_server.tools.start_lsp import check_language


class CapabilitiesArgs(Args):
    """Which server to ask."""

    language: Annotated[str, Field(min_length=1, max_length=40, description="For example python, typescript or go.")]


class CapabilitiesResult(Result):
    """What the server offers."""

    language: str
    server: str
    version: str | None = None
    position_encoding: str
    methods: Annotated[list[str], Field(description="The protocol methods it answers.")]


async def run(call: Call, args: CapabilitiesArgs) -> Answer[CapabilitiesResult]:
    """Ask the server, starting it if need be."""
    language = check_language(args.language)
    await call.index()
    found = await call.services.language_servers.pool.capabilities(
        call.require_workspace().path, language, call.limits.lsp_navigation_timeout_s
    )
    return Answer(
        CapabilitiesResult(
            language=language,
            server=found.server,
            version=found.version or None,
            position_encoding=found.position_encoding,
            methods=list(found.methods),
        )
    )


GET_SERVER_CAPABILITIES = Tool(
    name="get_server_capabilities",
    title="Language server capabilities",
    description=(
        "Shows which requests the language server of a language answers in this workspace, starting it if need be. "
        "Use detect_lsp_servers to see which servers are installed at all."
    ),
    toolset=Toolset.SERVERS,
    kind=ToolKind.INDEX,
    args=CapabilitiesArgs,
    result=CapabilitiesResult,
    run=run,
    in_default_set=False,
    list_field="methods",
)
