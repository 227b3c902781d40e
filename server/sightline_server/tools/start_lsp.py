"""`start_lsp`: start a language's server, or connect to one that runs already."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.errors import ErrorCode, SightlineError, nearest_name
from sightline_core.languages import languages
from sightline_server.completeness import Facts, ToolKind
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset
from sightline_server.tools.server_models import ServerModel, server_model


class StartLspArgs(Args):
    """Which server to start."""

    language: Annotated[str, Field(min_length=1, max_length=40, description="For example python, typescript or go.")]
    connect: Annotated[
        str,
        Field(max_length=200, description="host:port of a server that runs already; loopback only."),
    ] = ""


class StartLspResult(Result):
    """The servers of that language."""

    language: str
    servers: list[ServerModel]


def check_language(name: str) -> str:
    """A language that Sightline knows; raises `invalid_input` with the nearest one."""
    if name in languages():
        return name
    near = nearest_name(name, list(languages()))
    raise SightlineError(
        ErrorCode.INVALID_INPUT,
        f"'{name}' is no language that Sightline knows.",
        hint=f"Did you mean '{near}'?" if near else "detect_lsp_servers lists them.",
    )


async def run(call: Call, args: StartLspArgs) -> Answer[StartLspResult]:
    """Start in the background; the answer shows the state right after."""
    language = check_language(args.language)
    await call.index()
    pool = call.services.language_servers.pool
    sources = await pool.start(language, args.connect)
    servers = [server_model(status) for status in pool.status() if language in status.languages]
    return Answer(StartLspResult(language=language, servers=servers), Facts(sources=sources))


START_LSP = Tool(
    name="start_lsp",
    title="Start a language server",
    description=(
        "Starts the language server of a language for the open workspaces, or connects to one on a local TCP port. "
        "Servers start by themselves when a navigation tool needs them; use this to warm one up. "
        "Use restart_lsp_server for one that hangs or is down."
    ),
    toolset=Toolset.SERVERS,
    kind=ToolKind.SEARCH,
    args=StartLspArgs,
    result=StartLspResult,
    run=run,
    in_default_set=False,
    changes_state=True,
    list_field="servers",
)
