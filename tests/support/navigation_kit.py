"""Workspaces that are indexed and asked through the tools, in one process."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio

from sightline_core.config import Config
from sightline_core.limits import Limits
from sightline_server.app import Services, open_services
from sightline_server.dispatch import call_tool
from sightline_server.sessions.session import Session, TransportKind

FIXTURES = Path(__file__).parent.parent.parent / "fixtures" / "repos"
DEADLINE_S = 60.0


@dataclass(frozen=True)
class Desk:
    """A session on indexed workspaces."""

    services: Services
    session: Session

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call."""
        return (await call_tool(self.services, self.session, tool, arguments)).body


@asynccontextmanager
async def desk(
    tmp_path: Path, *workspaces: Path, limits: Limits | None = None, index: bool = True, **settings: Any
) -> AsyncGenerator[Desk]:
    """Open services on some workspaces, index them, and wait for it."""
    config = Config(
        data_dir=str(tmp_path / "data"),
        workspace=tuple(str(path) for path in workspaces),
        toolset=("all",),
        watch=False,
        prewarm=False,
        limits=limits or Limits(),
        **settings,
    )
    with anyio.fail_after(DEADLINE_S):
        async with open_services(config, start_directory="/", sync_on_open=False) as services:
            made = Desk(services, services.new_session(TransportKind.MEMORY))
            for path in workspaces if index else ():
                answer = await made.ask("index_repo", wait=True, workspace=str(path))
                assert answer["status"] == "published", answer
            yield made


def copy_repo(name: str, tmp_path: Path) -> Path:
    """A fixture repository that a test may change."""
    return Path(shutil.copytree(FIXTURES / name, tmp_path / name)).resolve()


def with_servers(**servers: str) -> dict[str, Any]:
    """Settings that choose one server a language."""
    return {"language_servers": {language: (name,) for language, name in servers.items()}}


def quick(limits: Limits, **changes: Any) -> Limits:
    return replace(limits, **changes)
