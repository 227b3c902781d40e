"""Tells sessions what happens in the process: progress of jobs, notices, changed resources.

**Invariant**: it only posts to outboxes, so no client can hold it up; nothing about a job is posted after its end,
and only sessions that work with a workspace hear of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import anyio
from anyio.abc import TaskGroup

from sightline_core.limits import Limits
from sightline_core.progress import Progress
from sightline_core.types import JobMode, JobState
from sightline_indexer.job import Job
from sightline_indexer.watch import WatcherState
from sightline_lsp.answers import ServerState, ServerStatus
from sightline_server.job_follow import follow
from sightline_server.sessions.session import Session
from sightline_server.tools.job_answers import progress_token
from sightline_server.workspaces import Workspace

_TITLES = {JobState.PUBLISHED: "Indexing complete", JobState.CANCELLED: "Indexing cancelled"}
_BAD_WATCHER = (WatcherState.DEGRADED, WatcherState.FAILED)
DIAGNOSTICS_PREFIX = "sightline://diagnostics/"


class Announcer:
    """One for all sessions of a process; every method is called on the event loop and returns at once."""

    def __init__(self, limits: Limits, tasks: TaskGroup, sessions: set[Session]) -> None:
        self._limits = limits
        self._tasks = tasks
        self._sessions = sessions
        self._ready: set[str] = set()
        self._degraded: set[str] = set()
        self._crashed: set[str] = set()
        self._due: dict[str, set[str]] = {}
        self._on_update: list[Callable[[str, set[str]], None]] = []

    def on_update(self, tell: Callable[[str, set[str]], None]) -> Callable[[], None]:
        """Be told, debounced, of workspaces whose resources may have changed; returns how to stop it."""
        self._on_update.append(tell)
        return lambda: self._on_update.remove(tell)

    def job_started(self, workspace: Workspace, job: Job) -> None:
        """Follow a job to its end."""
        self._tasks.start_soon(self._follow, workspace, job)

    def files_changed(self, workspace: Workspace) -> None:
        """Files of a workspace are not what they were: what servers find in them will follow."""
        self._schedule("diagnostics", workspace, self._limits.diagnostics_update_s)

    def server_changed(self, status: ServerStatus) -> None:
        """A language server lives, died or was given up."""
        if status.detail and status.state in (ServerState.STOPPED, ServerState.DOWN):
            self._crashed.add(status.name)
            self._log(None, "warning", "server_crashed", {"server": status.name, "detail": status.detail})
        elif status.state is ServerState.RUNNING and status.name in self._crashed:
            self._crashed.discard(status.name)
            self._log(None, "info", "server_recovered", {"server": status.name})

    async def _follow(self, workspace: Workspace, job: Job) -> None:
        last = -1
        async for progress in follow(job, interval_s=self._limits.progress_interval_s):
            # Standard progress must increase with every notification.
            if not job.is_over and progress.percentage > last:
                last = progress.percentage
                self._post_progress(workspace, job, progress, "report", "Indexing project")
        title = _TITLES.get(job.state, "Indexing failed")
        self._post_progress(workspace, job, job.progress, "end", title)
        self._notice_end(workspace, job)
        self._schedule("index", workspace, self._limits.index_update_s)

    def _post_progress(self, workspace: Workspace, job: Job, progress: Progress, kind: str, title: str) -> None:
        token = progress_token(job)
        name = os.path.basename(workspace.path) or workspace.path
        value = {
            "kind": kind,
            "title": f"{title}: {name}",
            "message": progress.message,
            "percentage": progress.percentage,
        }
        params = {
            "progressToken": token,
            "progress": progress.percentage,
            "total": 100,
            "message": progress.message,
            "value": value,
        }
        for session in self._sessions:
            if session.wants_index_progress and session.concerns(workspace):
                session.outbox.post(token, "notifications/progress", params)

    def _notice_end(self, workspace: Workspace, job: Job) -> None:
        data: dict[str, Any] = {"workspace": workspace.path, "job_id": job.job_id, "message": job.progress.message}
        if job.state is JobState.PUBLISHED:
            # Every saved file ends in a small job: those are for whoever listens closely.
            self._log(workspace, "info" if job.mode is JobMode.FULL else "debug", "index_published", data)
            if workspace.path not in self._ready:
                self._ready.add(workspace.path)
                self._log(workspace, "info", "workspace_ready", {"workspace": workspace.path})
        elif job.state is JobState.FAILED:
            self._log(workspace, "error", "index_failed", data)
        self._notice_watcher(workspace)

    def _notice_watcher(self, workspace: Workspace) -> None:
        if workspace.index is None:
            return
        state, reason = workspace.index.watcher_health()
        if state in _BAD_WATCHER and workspace.path not in self._degraded:
            self._degraded.add(workspace.path)
            data = {"workspace": workspace.path, "state": state.value, "reason": reason}
            self._log(workspace, "warning", "watcher_degraded", data)
        elif state is WatcherState.WATCHING:
            self._degraded.discard(workspace.path)

    def _log(self, workspace: Workspace | None, level: str, event: str, data: dict[str, Any]) -> None:
        for session in self._sessions:
            if workspace is None or session.concerns(workspace):
                session.log(level, event, data)

    # -- resources -----------------------------------------------------------------------------

    def _schedule(self, kind: str, workspace: Workspace, delay_s: float) -> None:
        """Have a change told after a while, once, however many more come until then."""
        waiting = self._due.setdefault(kind, set())
        if not waiting:
            self._tasks.start_soon(self._tell_later, kind, delay_s)
        waiting.add(workspace.path)

    async def _tell_later(self, kind: str, delay_s: float) -> None:
        await anyio.sleep(delay_s)
        paths = self._due.pop(kind, set())
        for session in self._sessions:
            if not session.concerns_any(paths):
                continue
            for uri in session.subscriptions:
                if uri.startswith(DIAGNOSTICS_PREFIX) == (kind == "diagnostics"):
                    session.outbox.post(uri, "notifications/resources/updated", {"uri": uri})
        for tell in tuple(self._on_update):
            tell(kind, paths)
