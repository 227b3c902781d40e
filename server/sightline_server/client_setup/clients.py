"""The clients that can be set up: one row each, with its files and the shape of an entry."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sightline_core.errors import ErrorCode, SightlineError

ENTRY_NAME = "sightline"


class Scope(StrEnum):
    """For whom an entry counts."""

    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Client:
    """One client. `files` are relative to the home directory and to the project."""

    name: str
    title: str
    files: Mapping[Scope, str]
    section: str
    default_scope: Scope
    url_key: str = "url"
    says_type: bool = False
    # What the client replaces by the folder that is open, in project files.
    folder_variable: str = ""
    # True when the client starts servers in the folder that the user works in.
    starts_in_project: bool = True
    next_step: str = ""

    @property
    def is_toml(self) -> bool:
        """Whether its files are TOML; JSON otherwise."""
        return self.files[self.default_scope].endswith(".toml")


def _vscode_user_file() -> str:
    if sys.platform == "darwin":
        return "Library/Application Support/Code/User/mcp.json"
    return ".config/Code/User/mcp.json"


CLIENTS: tuple[Client, ...] = (
    Client(
        "claude-code",
        "Claude Code",
        {Scope.USER: ".claude.json", Scope.PROJECT: ".mcp.json"},
        "mcpServers",
        Scope.USER,
        says_type=True,
        next_step="Run `claude mcp list` to see it connect.",
    ),
    Client(
        "codex",
        "Codex",
        {Scope.USER: ".codex/config.toml", Scope.PROJECT: ".codex/config.toml"},
        "mcp_servers",
        Scope.USER,
        next_step="Run `codex mcp list` to see it.",
    ),
    Client(
        "gemini",
        "Gemini CLI",
        {Scope.USER: ".gemini/settings.json", Scope.PROJECT: ".gemini/settings.json"},
        "mcpServers",
        Scope.USER,
        url_key="httpUrl",
        next_step="Run `gemini mcp list` to see it connect.",
    ),
    Client(
        "cursor",
        "Cursor",
        {Scope.USER: ".cursor/mcp.json", Scope.PROJECT: ".cursor/mcp.json"},
        "mcpServers",
        Scope.PROJECT,
        folder_variable="${workspaceFolder}",
        starts_in_project=False,
        next_step="Switch it on in Cursor's settings under MCP.",
    ),
    Client(
        "vscode",
        "VS Code",
        {Scope.USER: _vscode_user_file(), Scope.PROJECT: ".vscode/mcp.json"},
        "servers",
        Scope.PROJECT,
        says_type=True,
        folder_variable="${workspaceFolder}",
        starts_in_project=False,
        next_step="Open the file in VS Code and press Start above the entry.",
    ),
)
# Keys of an entry that say how the server is reached; an entry of ours replaces all of them and keeps the rest.
TRANSPORT_KEYS = ("type", "command", "args", "url", "httpUrl")


def client_named(name: str) -> Client:
    """The client of that name."""
    return next(client for client in CLIENTS if client.name == name)


def file_of(client: Client, scope: Scope, project: str, environment: Mapping[str, str]) -> str:
    """The file that the client reads for a scope."""
    if scope is Scope.PROJECT:
        return os.path.join(project, client.files[scope])
    if client.name == "codex" and environment.get("CODEX_HOME"):
        return os.path.join(environment["CODEX_HOME"], "config.toml")
    home = environment.get("HOME") or os.path.expanduser("~")
    if not os.path.isabs(home):
        raise SightlineError(ErrorCode.INVALID_INPUT, "There is no home directory.", hint="Use --scope project.")
    return os.path.join(home, client.files[scope])


def entry_for(
    client: Client, scope: Scope, workspace: str | None, project: str, url: str | None
) -> dict[str, object]:
    """How the client starts or reaches the server.

    A project's file is shared with others, so it names no path of this machine: the command is found on the PATH.
    """
    if url is not None:
        body: dict[str, object] = {"type": "http"} if client.says_type else {}
        return {**body, client.url_key: url}
    command = [ENTRY_NAME] if scope is Scope.PROJECT else own_command()
    args = [*command[1:], "serve-mcp"]
    folder = workspace
    if folder is None and not client.starts_in_project:
        folder = client.folder_variable if scope is Scope.PROJECT else project
    if folder is not None:
        args += ["--workspace", folder]
    typed: dict[str, object] = {"type": "stdio"} if client.says_type else {}
    return {**typed, "command": command[0], "args": args}


def own_command() -> list[str]:
    """The command that starts this very installation, wherever the client looks for programs."""
    beside = os.path.join(os.path.dirname(sys.executable), ENTRY_NAME)
    if os.access(beside, os.X_OK):
        return [beside]
    found = shutil.which(ENTRY_NAME)
    return [found] if found else [sys.executable, "-m", "sightline_server"]
