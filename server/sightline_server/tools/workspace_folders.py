"""`add_workspace_folder`, `remove_workspace_folder`, `list_workspace_folders`: the directories that servers see."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.errors import ErrorCode, SightlineError
from sightline_server.completeness import ToolKind
from sightline_server.envelope import WireModel
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset


class ListFoldersArgs(Args):
    """`list_workspace_folders` takes no argument of its own."""


class FolderArgs(Args):
    """Which folder."""

    folder: Annotated[str, Field(min_length=1, max_length=4096, description="Absolute path of the folder.")]


class FolderModel(WireModel):
    """One registered folder."""

    path: str
    project_id: str
    origin: str
    trusted: Annotated[bool, Field(description="Whether servers that run its code may serve it.")]
    open: Annotated[bool, Field(description="Whether its index and language servers are in use.")]


class FoldersResult(Result):
    """All registered folders."""

    folders: list[FolderModel]


async def run_list(call: Call, _args: ListFoldersArgs) -> Answer[FoldersResult]:
    """Show what is registered."""
    return Answer(_folders(call))


async def run_add(call: Call, args: FolderArgs) -> Answer[FoldersResult]:
    """Open a registered or discoverable folder; its language servers learn of it in one notification."""
    workspaces = call.services.workspaces
    workspace = workspaces.resolve(args.folder, None, call.session.discovery)
    await call.services.indexes.of(workspace)
    return Answer(_folders(call))


async def run_remove(call: Call, args: FolderArgs) -> Answer[FoldersResult]:
    """Close a folder; it stays registered and its index stays on disk."""
    workspace = call.services.workspaces.registered(args.folder)
    if workspace is None:
        raise SightlineError(
            ErrorCode.WORKSPACE_NOT_REGISTERED,
            f"'{args.folder}' is not registered.",
            hint="list_workspace_folders shows what is.",
        )
    await call.services.language_servers.closed(workspace)
    await call.services.indexes.forget(workspace)
    return Answer(_folders(call))


def _folders(call: Call) -> FoldersResult:
    return FoldersResult(
        folders=[
            FolderModel(
                path=workspace.path,
                project_id=workspace.project_id,
                origin=workspace.origin.value,
                trusted=workspace.trusted,
                open=workspace.index is not None,
            )
            for workspace in call.services.workspaces.all()
        ]
    )


LIST_WORKSPACE_FOLDERS = Tool(
    name="list_workspace_folders",
    title="List workspace folders",
    description=(
        "Lists the registered folders, whether each is open and whether its code is trusted. "
        "health_check shows the state of their indexes as well."
    ),
    toolset=Toolset.SERVERS,
    kind=ToolKind.INDEX,
    args=ListFoldersArgs,
    result=FoldersResult,
    run=run_list,
    in_default_set=False,
    needs_workspace=False,
    list_field="folders",
)

ADD_WORKSPACE_FOLDER = Tool(
    name="add_workspace_folder",
    title="Add a workspace folder",
    description=(
        "Opens one more folder for searching and for the language servers, so that they see code across folders. The "
        "folder must be registered, or lie below an allowed root of a server with --auto-workspace. "
        "Searching a folder opens it as well; use this to warm it up."
    ),
    toolset=Toolset.SERVERS,
    kind=ToolKind.INDEX,
    args=FolderArgs,
    result=FoldersResult,
    run=run_add,
    in_default_set=False,
    needs_workspace=False,
    changes_state=True,
    list_field="folders",
)

REMOVE_WORKSPACE_FOLDER = Tool(
    name="remove_workspace_folder",
    title="Remove a workspace folder",
    description=(
        "Closes a folder: its language servers forget it and its index is put away, not deleted. It stays registered "
        "and opens again when it is asked about. Use list_workspace_folders to see what is open."
    ),
    toolset=Toolset.SERVERS,
    kind=ToolKind.INDEX,
    args=FolderArgs,
    result=FoldersResult,
    run=run_remove,
    in_default_set=False,
    needs_workspace=False,
    changes_state=True,
    list_field="folders",
)
