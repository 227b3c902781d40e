"""The `sightline` command with the tools and resources that the conformance suite wants, for gates alone.

The fixtures stand in the tables of the product before anything else reads them, so that the real dispatch, progress,
logging, resources and sessions serve them like any tool.
"""

from __future__ import annotations

from typing import Annotated, Any

import anyio
from pydantic import Field

from sightline_core.errors import ErrorCode, SightlineError
from sightline_server.completeness import ToolKind
from sightline_server.tools import table
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset

PROGRESS_STEPS = (0, 50, 100)
LOG_LINES = ("Tool execution started", "Tool processing data", "Tool execution completed")


class NoArgs(Args):
    """A fixture without arguments."""


class IdArgs(Args):
    """The rest of a resource's address."""

    id: Annotated[str, Field(description="Which of the resources.")]


class CountArgs(Args):
    """How many calls must have been cancelled."""

    count: Annotated[int, Field(ge=0, description="Answer once so many calls were cancelled.")] = 0


class TextResult(Result):
    """What a fixture says."""

    said: str


class Waiting:
    """Counts the calls of `test_wait` that began and were cancelled; to be used in one event loop."""

    def __init__(self) -> None:
        self.begun = self.cancelled = 0
        self._changed = anyio.Event()

    def note(self, *, begun: int = 0, cancelled: int = 0) -> None:
        self.begun += begun
        self.cancelled += cancelled
        self._changed.set()
        self._changed = anyio.Event()

    async def until_cancelled(self, count: int) -> None:
        while self.cancelled < count:
            await self._changed.wait()


WAITING = Waiting()


async def say(_call: Call, _args: NoArgs) -> Answer[TextResult]:
    """One sentence."""
    return Answer(TextResult(said="This is a simple text response for testing."))


async def fail(_call: Call, _args: NoArgs) -> Answer[TextResult]:
    """Always an error."""
    raise SightlineError(ErrorCode.INVALID_INPUT, "This tool intentionally returns an error for testing.")


async def report(call: Call, _args: NoArgs) -> Answer[TextResult]:
    """Standard progress in three steps."""
    for step in PROGRESS_STEPS:
        await call.progress.report(step, PROGRESS_STEPS[-1], f"step {step}")
    return Answer(TextResult(said="reported"))


async def log(call: Call, _args: NoArgs) -> Answer[TextResult]:
    """Three notices at the level `info`."""
    for line in LOG_LINES:
        call.session.log("info", "test", {"message": line})
    return Answer(TextResult(said="logged"))


async def wait(call: Call, _args: NoArgs) -> Answer[TextResult]:
    """Nothing, until the call is cancelled; reports one step of progress once it waits."""
    WAITING.note(begun=1)
    try:
        await call.progress.report(1, None, "waiting")
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        WAITING.note(cancelled=1)
        raise
    return Answer(TextResult(said="never"))


async def count(call: Call, args: CountArgs) -> Answer[TextResult]:
    """How many calls of `test_wait` began and were cancelled, and how many calls are under way beside this one."""
    await WAITING.until_cancelled(args.count)
    others = call.services.active_calls - 1
    return Answer(TextResult(said=f"{WAITING.begun} begun, {WAITING.cancelled} cancelled, {others} under way"))


async def show(_call: Call, args: IdArgs) -> Answer[TextResult]:
    """What a resource of a fixture contains."""
    if args.id.startswith("nonexistent"):
        raise SightlineError(ErrorCode.FILE_NOT_FOUND, "There is no such resource.")
    return Answer(TextResult(said=f"Data for ID: {args.id}"))


def fixture(name: str, args: type[Args], run: Any, *, needs_workspace: bool = False) -> Tool[Any, Any]:
    """A tool of the suite."""
    return Tool(
        name=name,
        title=name,
        description=(run.__doc__ or "").strip(),
        toolset=Toolset.CORE,
        kind=ToolKind.INDEX,
        args=args,
        result=TextResult,
        run=run,
        needs_workspace=needs_workspace,
    )


FIXTURES = (
    fixture("test_simple_text", NoArgs, say),
    fixture("test_error_handling", NoArgs, fail),
    fixture("test_tool_with_progress", NoArgs, report),
    fixture("test_tool_with_logging", NoArgs, log),
    fixture("test_logging_tool", NoArgs, log),
    fixture("test_streaming_elicitation", NoArgs, report),
    # A call that needs a workspace, in a session that has none, is answered with the question for roots.
    fixture("test_input_required_result_list_roots", NoArgs, say, needs_workspace=True),
    fixture("test_wait", NoArgs, wait),
    fixture("test_cancelled", CountArgs, count),
    fixture("test_resource", IdArgs, show),
)
table.TOOLS = (*table.TOOLS, *FIXTURES)


def main() -> int:
    """The command line, with the fixtures in its tables."""
    from sightline_server.cli import main as sightline
    from sightline_server.sessions import resources

    made = resources.TEMPLATES[0].__class__
    rows = (
        made("test://template/", "id", "test_resource", "id", "Template", "A resource with an argument."),
        made("test://", "id", "test_resource", "id", "Fixtures", "A resource without one."),
    )
    resources.TEMPLATES = (*resources.TEMPLATES, *rows)
    return sightline()


if __name__ == "__main__":
    raise SystemExit(main())
