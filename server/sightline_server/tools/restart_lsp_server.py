"""`restart_lsp_server`: stop a language server and start it again, whatever the breaker says."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_server.completeness import ToolKind
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset
from sightline_server.tools.server_models import ServerModel, server_model


class RestartArgs(Args):
    """Which server to restart."""

    server: Annotated[str, Field(min_length=1, max_length=80, description="A server's name or a language.")]


class RestartResult(Result):
    """What was restarted."""

    restarted: list[str]
    servers: list[ServerModel]


async def run(call: Call, args: RestartArgs) -> Answer[RestartResult]:
    """Restart and show the state right after."""
    await call.index()
    pool = call.services.language_servers.pool
    names = await pool.restart(args.server)
    servers = [server_model(status) for status in pool.status() if status.name in names]
    return Answer(RestartResult(restarted=list(names), servers=servers))


RESTART_LSP_SERVER = Tool(
    name="restart_lsp_server",
    title="Restart a language server",
    description=(
        "Stops a language server and starts it again, also one that was given up after too many crashes. "
        "Use it when answers carry lsp_down or lsp_timeout warnings; health_check shows the state of every server."
    ),
    toolset=Toolset.SERVERS,
    kind=ToolKind.INDEX,
    args=RestartArgs,
    result=RestartResult,
    run=run,
    in_default_set=False,
    changes_state=True,
    list_field="servers",
)
