"""What a tool is: arguments, answer, description and the function that runs it.

**Invariant**: everything the product says about a tool (schema, dispatch, documentation, contract tests) is
derived from its one `Tool` value.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import anyio
from pydantic import BaseModel, ConfigDict, Field

from sightline_core.limits import Limits
from sightline_server.completeness import Facts, ToolKind
from sightline_server.envelope import WireModel

if TYPE_CHECKING:
    from sightline_indexer.workspace_index import WorkspaceIndex
    from sightline_server.app import Services
    from sightline_server.sessions.session import Session
    from sightline_server.workspaces import Workspace


class Args(BaseModel):
    """The arguments of a tool, checked once; unknown ones are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workspace: Annotated[
        str | None,
        Field(description="Absolute path of the workspace; the session's default when omitted."),
    ] = None


class Result(WireModel):
    """What a tool returns beside `metadata`."""


class Toolset(StrEnum):
    """The groups that `--toolset` names."""

    CORE = "core"
    NAVIGATION = "navigation"
    ANALYSIS = "analysis"
    SERVERS = "servers"


class ProgressReporter:
    """Sends standard progress to the caller of one request; does nothing when nobody asked for it."""

    def __init__(self, send: Callable[[float, float | None, str], Awaitable[None]] | None = None) -> None:
        self._send = send

    async def report(self, progress: float, total: float | None, message: str) -> None:
        """Tell the caller how far the call is."""
        if self._send is not None:
            await self._send(progress, total, message)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: who asks, about what, and until when."""

    services: Services
    session: Session
    workspace: Workspace | None
    deadline: float
    progress: ProgressReporter = field(default_factory=ProgressReporter)

    @property
    def limits(self) -> Limits:
        """The bounds of this process."""
        return self.services.config.limits

    def now(self) -> float:
        """The clock that `deadline` is measured by."""
        return anyio.current_time()

    def require_workspace(self) -> Workspace:
        """The workspace of a tool that needs one; dispatch has resolved it."""
        assert self.workspace is not None
        return self.workspace

    async def index(self) -> WorkspaceIndex:
        """The index of the workspace, opened if need be."""
        return await self.services.indexes.of(self.require_workspace())


A = TypeVar("A", bound=Args)
R = TypeVar("R", bound=Result)


@dataclass(frozen=True, slots=True)
class Answer(Generic[R]):
    """A tool's result with the facts that decide how complete it is."""

    result: R
    facts: Facts = field(default_factory=Facts)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A, R]):
    """One tool of the server.

    `list_field` names the list of the result that is cut when the answer is too large. `needs_workspace` is
    False for tools that work without any. One that `writes_workspace` runs only in a session that may.
    """

    name: str
    title: str
    description: str
    toolset: Toolset
    kind: ToolKind
    args: type[A]
    result: type[R]
    run: Callable[[Call, A], Awaitable[Answer[R]]]
    in_default_set: bool = True
    needs_workspace: bool = True
    changes_state: bool = False
    writes_workspace: bool = False
    list_field: str = ""


AnyTool = Tool[Any, Any]
