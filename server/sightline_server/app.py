"""The process: its services, made once and closed in reverse.

**Invariant**: services outlive every client session; nothing here knows a transport.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from sightline_core.config import Config
from sightline_indexer.job import Job
from sightline_indexer.pipeline import Difference
from sightline_search.search_helpers import SearchHelpers
from sightline_server.audit import AuditLog
from sightline_server.finders import Finders
from sightline_server.indexes import Indexes
from sightline_server.job_follow import follow
from sightline_server.language_servers import LanguageServers
from sightline_server.process_memory import settle_memory
from sightline_server.registry import Registry
from sightline_server.sessions.announcer import Announcer
from sightline_server.sessions.outbox import Channel, Outbox
from sightline_server.sessions.session import Choice, Session, TransportKind
from sightline_server.sessions.turns import Turns
from sightline_server.tools.table import select_tools
from sightline_server.workspaces import Workspace, Workspaces


@dataclass(slots=True, eq=False)
class Services:
    """What all sessions share."""

    config: Config
    registry: Registry
    workspaces: Workspaces
    indexes: Indexes
    language_servers: LanguageServers
    finders: Finders
    helpers: SearchHelpers
    start_directory: str | None
    search_threads: anyio.CapacityLimiter
    tasks: TaskGroup
    turns: Turns
    announcer: Announcer
    audit: AuditLog
    sessions: set[Session]
    started_at: float = field(default_factory=time.monotonic)
    active_calls: int = 0
    is_warming: bool = False

    def new_session(self, transport: TransportKind, choice: Choice | None = None) -> Session:
        """A session with its own choice, or this process's permissions and the default workspace of its start; end
        it with `end_session`."""
        limits = self.config.limits
        default = self.workspaces.default_for(self.start_directory) if choice is None else choice.default_workspace
        session = Session(
            transport=transport,
            tools=select_tools(self.config.toolset) if choice is None else choice.tools,
            start_workspace=default,
            discovery=None if choice is None else choice.discovery,
            may_write=self.config.allow_write if choice is None else choice.may_write,
            call_limit=limits.max_inflight_calls_per_session,
            outbox=Outbox(limits.max_unsent_messages),
        )
        self.sessions.add(session)
        return session

    def attach(self, session: Session, channel: Channel) -> None:
        """Send what is posted to a session through its connection."""
        if not session.is_attached:
            session.is_attached = True
            self.tasks.start_soon(session.outbox.run, channel)

    def end_session(self, session: Session) -> None:
        """The client is gone: nothing is kept for it."""
        if session in self.sessions:
            self.sessions.discard(session)
            session.outbox.close()
            for act in session.on_end:
                act()


@asynccontextmanager
async def open_services(
    config: Config, *, start_directory: str | None = None, open_default: bool = True, sync_on_open: bool = True
) -> AsyncGenerator[Services, None]:
    """The services of one process; raises `invalid_input` for a configuration that cannot work.

    The workspaces that were named are opened and brought up to date in the background unless `prewarm` is off;
    so is the default one unless `open_default` is off. Without `sync_on_open` no job starts unasked.
    """
    settle_memory()
    select_tools(config.toolset)
    audit = AuditLog(config.audit_log, config.limits)
    registry = Registry(config.data_dir)
    language_servers = LanguageServers(config, registry)
    async with language_servers.pool, anyio.create_task_group() as group:

        async def on_open(workspace: Workspace, job: Job | None) -> None:
            await language_servers.opened(workspace)
            if job is not None:
                group.start_soon(_tell_when_indexed, language_servers, workspace, job)

        def on_evict(workspace: Workspace) -> None:
            finders.forget(workspace)
            group.start_soon(indexes.forget, workspace)
            group.start_soon(language_servers.closed, workspace)

        sessions: set[Session] = set()
        announcer = Announcer(config.limits, group, sessions)
        language_servers.on_state = announcer.server_changed
        finders = Finders(config.limits)
        helpers = SearchHelpers(config.limits, len(os.sched_getaffinity(0)))
        indexes = Indexes(
            config,
            sync_on_open=sync_on_open,
            on_open=on_open,
            on_difference=_tell_both(language_servers, announcer),
            on_job=announcer.job_started,
        )
        workspaces = Workspaces(config, registry, on_evict)
        services = Services(
            config,
            registry,
            workspaces,
            indexes,
            language_servers,
            finders,
            helpers,
            start_directory or _current_directory(),
            anyio.CapacityLimiter(config.limits.search_threads),
            group,
            Turns(config.limits.search_threads),
            announcer,
            audit,
            sessions,
        )
        group.start_soon(_keep_house, services, open_default)
        try:
            yield services
        finally:
            group.cancel_scope.cancel()
            await _close(finders, helpers, indexes, audit)


def _tell_both(language_servers: LanguageServers, announcer: Announcer) -> Callable[[Workspace, Difference], None]:
    def on_difference(workspace: Workspace, difference: Difference) -> None:
        language_servers.files_changed(workspace, difference)
        announcer.files_changed(workspace)

    return on_difference


async def _close(finders: Finders, helpers: SearchHelpers, indexes: Indexes, audit: AuditLog) -> None:
    finders.close()
    helpers.close()
    with anyio.CancelScope(shield=True):
        await indexes.close()
        await anyio.to_thread.run_sync(audit.close)


async def _tell_when_indexed(language_servers: LanguageServers, workspace: Workspace, job: Job) -> None:
    """The languages of a workspace are known when it is indexed: then its eager servers can start."""
    async for _ in follow(job, interval_s=1.0):
        pass
    await language_servers.opened(workspace)


async def _keep_house(services: Services, open_default: bool) -> None:
    if services.config.prewarm:
        await _prewarm(services, open_default)
    while True:
        await anyio.sleep(services.config.limits.helper_idle_s)
        await anyio.to_thread.run_sync(services.helpers.end_idle)


async def _prewarm(services: Services, open_default: bool) -> None:
    services.is_warming = True
    try:
        chosen: list[Workspace | None] = list(services.workspaces.named)
        if open_default:
            chosen.append(services.workspaces.default_for(services.start_directory))
        for workspace in dict.fromkeys(found for found in chosen if found is not None):
            await services.indexes.of(workspace)
    finally:
        services.is_warming = False


def _current_directory() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None
