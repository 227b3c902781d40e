"""What `sightline daemon status` shows of one daemon."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from sightline_core.version import __version__
from sightline_server.envelope import to_json
from sightline_server.health import read_health
from sightline_server.tools.health_check import project_model
from sightline_server.tools.server_models import server_model

if TYPE_CHECKING:
    from sightline_server.daemon.connections import Connections
    from sightline_server.daemon.sessions import LiveSession


def daemon_report(connections: Connections) -> dict[str, Any]:
    """The daemon now: itself, its sessions, the open workspaces and the language servers."""
    services = connections.services
    health = read_health(services)
    open_paths = {workspace.path for workspace in services.workspaces.all() if workspace.index is not None}
    return {
        "pid": os.getpid(),
        "version": __version__,
        "name": connections.place.name,
        "uptime_seconds": health.uptime_seconds,
        "rss_bytes": _rss_bytes(),
        "data_dir": services.config.data_dir,
        "retired": connections.retired,
        "sessions": [_session(live) for live in connections.live],
        "workspaces": [to_json(project_model(p)) for p in health.projects if p.repo_root in open_paths],
        "servers": [to_json(server_model(status)) for status in health.servers],
    }


def _session(live: LiveSession) -> dict[str, Any]:
    default = live.session.default_workspace
    return {
        "session_id": live.session.session_id,
        "client": live.session.client_name,
        "pid": live.pid,
        "workspace": default.path if default is not None else "",
        "active_calls": live.session.active_calls,
        "age_seconds": int(time.monotonic() - live.since),
    }


def _rss_bytes() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
