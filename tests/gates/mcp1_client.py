"""The `mcp` 1.x client against the server; run by the gate in an environment of its own.

Arguments: the URL, the expected workspace, and the command of the stdio server.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

DEADLINE_S = 40


async def check(streams: Any, workspace: str) -> str:
    async with ClientSession(streams[0], streams[1]) as session:
        version = (await session.initialize()).protocolVersion
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert "health_check" in names, names
        # The client checks the answer against the output schema.
        answer = await session.call_tool("health_check", {})
        assert not answer.isError
        assert answer.structuredContent["metadata"]["workspace"] == workspace
        refused = await session.call_tool("health_check", {"nonsense": 1})
        assert refused.isError
        return version


async def main(url: str, workspace: str, program: str, *args: str) -> None:
    parameters = StdioServerParameters(command=program, args=list(args), env=dict(os.environ))
    with anyio.fail_after(DEADLINE_S):
        async with stdio_client(parameters) as streams:
            over_stdio = await check(streams, workspace)
        async with streamablehttp_client(url) as streams:
            over_http = await check(streams, workspace)
    print(f"initialize, list, call over stdio ({over_stdio}) and HTTP ({over_http})")


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
