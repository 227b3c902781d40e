"""Who may change files: nobody, unless the server was started so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sightline_core.config import Config
from sightline_server.app import open_services
from sightline_server.completeness import ToolKind
from sightline_server.dispatch import call_tool
from sightline_server.protocol import describe_tool
from sightline_server.sessions.session import TransportKind
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset

pytestmark = pytest.mark.anyio


async def write_note(call: Call, _args: Args) -> Answer[Result]:
    Path(call.require_workspace().path, "note").write_text("written", "utf-8")
    return Answer(Result())


WRITE_NOTE = Tool(
    name="write_note",
    title="Write a note",
    description="Writes a file.",
    toolset=Toolset.CORE,
    kind=ToolKind.INDEX,
    args=Args,
    result=Result,
    run=write_note,
    writes_workspace=True,
)


@pytest.mark.parametrize("allowed", [False, True])
async def test_a_tool_that_writes_runs_only_where_the_user_allowed_it(
    config: Config, workspace: Path, allowed: bool
) -> None:
    async with open_services(replace(config, prewarm=False, allow_write=allowed)) as services:
        session = services.new_session(TransportKind.MEMORY)
        session.tools = {WRITE_NOTE.name: WRITE_NOTE}
        outcome = await call_tool(services, session, WRITE_NOTE.name, {})
    assert (workspace / "note").exists() is allowed
    assert outcome.is_error is not allowed
    if not allowed:
        assert outcome.body["error"]["code"] == "write_not_allowed"


def test_a_tool_that_writes_says_so_to_the_client() -> None:
    annotations = describe_tool(WRITE_NOTE).annotations
    assert annotations is not None
    assert (annotations.read_only_hint, annotations.destructive_hint) == (False, True)
