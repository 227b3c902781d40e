"""Which directory a call is about: registration, resolution, discovery and eviction.

**Invariant**: a workspace is reached only if it was registered, or discovered below an allowed root. All methods
run on the event loop, so nothing here is locked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sightline_core.config import Config
from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_core.path_text import check_path_text
from sightline_core.paths import RepoRoot, relative_to
from sightline_indexer.workspace_index import WorkspaceIndex
from sightline_server.registry import Registry, project_id_of


class Origin(StrEnum):
    """How a workspace came to be known."""

    NAMED = "named"
    START_DIRECTORY = "start_directory"
    REMEMBERED = "remembered"
    CLIENT_ROOT = "client_root"
    HTTP_ROOT = "http_root"
    AUTO_DISCOVERED = "auto_discovered"


@dataclass(frozen=True, slots=True)
class Discovery:
    """Which unknown directories a session may make known: none, or those below its allowed roots."""

    enabled: bool
    allowed: tuple[str, ...]


_TRUSTED_ORIGINS = frozenset({Origin.NAMED, Origin.START_DIRECTORY, Origin.CLIENT_ROOT})


class Workspace:
    """A registered directory and what runs on it."""

    __slots__ = ("active_calls", "holders", "index", "last_used", "origin", "project_id", "root", "trusted")

    def __init__(self, root: RepoRoot, origin: Origin, *, trusted: bool) -> None:
        self.root = root
        self.origin = origin
        self.trusted = trusted
        self.project_id = project_id_of(root.path)
        self.last_used = time.monotonic()
        self.active_calls = 0
        # How many sessions have it as a root.
        self.holders = 0
        self.index: WorkspaceIndex | None = None

    @property
    def path(self) -> str:
        """The resolved directory."""
        return self.root.path

    @property
    def is_idle(self) -> bool:
        """True when evicting it would interrupt nobody."""
        return self.active_calls == 0 and (self.index is None or self.index.active_job is None)


class Workspaces:
    """Every workspace of this process."""

    def __init__(
        self, config: Config, registry: Registry, on_evict: Callable[[Workspace], None] = lambda _: None
    ) -> None:
        """Raises `invalid_input` for a missing workspace or allowed root: these are start-up errors."""
        self._on_evict = on_evict
        self._limits: Limits = config.limits
        self._registry = registry
        self.discovery = discovery_of(config)
        self._by_path: dict[str, Workspace] = {}
        self.named = tuple(self.register(path, Origin.NAMED) for path in config.workspace)
        self._restore()

    def all(self) -> list[Workspace]:
        """Every workspace, most recently used first."""
        return sorted(self._by_path.values(), key=lambda workspace: -workspace.last_used)

    @property
    def allowed_roots(self) -> tuple[str, ...]:
        """The directories below which workspaces may be discovered."""
        return self.discovery.allowed

    def register(self, path: str, origin: Origin) -> Workspace:
        """Make a directory known; raises `invalid_input` when it is none."""
        root = RepoRoot(path, self._limits)
        known = self._by_path.get(root.path)
        if known is not None:
            if origin in _TRUSTED_ORIGINS and known.origin not in _TRUSTED_ORIGINS:
                known.origin, known.trusted = origin, True
            return known
        on_demand = origin in (Origin.AUTO_DISCOVERED, Origin.HTTP_ROOT)
        entry = self._registry.remember(root.path, auto_discovered=on_demand)
        workspace = Workspace(root, origin, trusted=origin in _TRUSTED_ORIGINS or entry.trusted)
        self._by_path[root.path] = workspace
        return workspace

    def release(self, workspace: Workspace) -> bool:
        """No session has this root any more: the trust that came with it ends. True when it may be closed."""
        if workspace.origin not in (Origin.CLIENT_ROOT, Origin.HTTP_ROOT):
            return False
        entry = self._registry.get(workspace.path)
        workspace.trusted = entry is not None and entry.trusted
        is_http = workspace.origin is Origin.HTTP_ROOT
        workspace.origin = Origin.REMEMBERED
        if is_http and self._by_path.get(workspace.path) is workspace:
            # What a client over the network named is known no longer than it is used; its index stays on disk.
            del self._by_path[workspace.path]
            self._registry.forget(workspace.path)
        return workspace.active_calls == 0

    def default_for(
        self, start_directory: str | None, named: tuple[Workspace, ...] | None = None
    ) -> Workspace | None:
        """The workspace of a session that named none: the first `--workspace`, else the start directory.

        The file system's root and the home directory serve only when they were named.
        """
        chosen = self.named if named is None else named
        if chosen:
            return chosen[0]
        if start_directory is None or is_too_broad(start_directory):
            return None
        return self.register(start_directory, Origin.START_DIRECTORY)

    def resolve(self, text: str | None, default: Workspace | None, discovery: Discovery | None = None) -> Workspace:
        """The workspace that a call means; `discovery` is the session's policy, else the process's.

        Raises `workspace_not_registered`, `workspace_not_allowed`, `workspace_limit_exceeded` or `invalid_input`.
        """
        if text is None:
            if default is None:
                raise self._not_registered("No workspace was named and this session has no default one.")
            workspace = default
        else:
            workspace = self._resolve_path(text, discovery or self.discovery)
        workspace.last_used = time.monotonic()
        return workspace

    def registered(self, text: str) -> Workspace | None:
        """The workspace whose directory is exactly this one."""
        check_path_text(text, self._limits)
        return self._by_path.get(os.path.realpath(text))

    def find(self, path: str) -> Workspace | None:
        """The workspace that holds a resolved path: the longest registered prefix."""
        holding = [workspace for workspace in self._by_path.values() if relative_to(workspace.path, path) is not None]
        return max(holding, key=lambda workspace: len(workspace.path), default=None)

    def _resolve_path(self, text: str, discovery: Discovery) -> Workspace:
        check_path_text(text, self._limits)
        if not os.path.isabs(text):
            raise SightlineError(
                ErrorCode.INVALID_INPUT, "`workspace` must be an absolute path.", hint="Give the full path."
            )
        path = os.path.realpath(text)
        found = self.find(path)
        if found is not None:
            return found
        if not discovery.enabled:
            raise self._not_registered(f"'{text}' is not a registered workspace.")
        return self._discover(text, path, discovery)

    def _discover(self, text: str, path: str, discovery: Discovery) -> Workspace:
        if all(relative_to(allowed, path) is None for allowed in discovery.allowed):
            raise SightlineError(
                ErrorCode.WORKSPACE_NOT_ALLOWED,
                f"'{text}' lies outside every allowed root.",
                hint=f"Workspaces are discovered below: {', '.join(discovery.allowed)}.",
            )
        RepoRoot(path, self._limits)
        self._make_room()
        return self.register(path, Origin.AUTO_DISCOVERED)

    def _make_room(self) -> None:
        discovered = [w for w in self._by_path.values() if w.origin is Origin.AUTO_DISCOVERED]
        if len(discovered) < self._limits.max_auto_workspaces:
            return
        idle = sorted((w for w in discovered if w.is_idle), key=lambda w: w.last_used)
        if not idle:
            raise SightlineError(
                ErrorCode.WORKSPACE_LIMIT_EXCEEDED,
                f"{len(discovered)} discovered workspaces are all busy.",
                hint="Try again when one is idle, or name this one with --workspace.",
            )
        self.evict(idle[0])

    def evict(self, workspace: Workspace) -> None:
        """Forget a discovered workspace; its index stays on disk."""
        self._by_path.pop(workspace.path, None)
        self._registry.forget(workspace.path)
        self._on_evict(workspace)

    def _restore(self) -> None:
        for entry in self._registry.entries():
            if entry.path in self._by_path or not os.path.isdir(entry.path):
                continue
            if entry.auto_discovered and not self._may_rediscover(entry.path):
                continue
            origin = Origin.AUTO_DISCOVERED if entry.auto_discovered else Origin.REMEMBERED
            self._by_path[entry.path] = Workspace(RepoRoot(entry.path, self._limits), origin, trusted=entry.trusted)

    def _may_rediscover(self, path: str) -> bool:
        discovery = self.discovery
        return discovery.enabled and any(relative_to(allowed, path) is not None for allowed in discovery.allowed)

    def _not_registered(self, message: str) -> SightlineError:
        known = [workspace.path for workspace in self.all()]
        listing = f"Registered: {', '.join(known)}." if known else "None is registered."
        return SightlineError(
            ErrorCode.WORKSPACE_NOT_REGISTERED,
            message,
            hint=f"{listing} Pass `workspace`, or start the server with --workspace PATH.",
            data={"registered": known},
        )


def is_too_broad(path: str) -> bool:
    """True for directories that nobody means to index by accident."""
    resolved = os.path.realpath(path)
    return resolved in (os.path.realpath(os.path.expanduser("~")), os.path.abspath(os.sep))


def discovery_of(config: Config) -> Discovery:
    """The policy that a configuration asks for; raises `invalid_input` for one that cannot work."""
    if config.auto_workspace and not config.allowed_root:
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            "--auto-workspace needs at least one --allowed-root.",
            hint="Name the directory below which workspaces may be discovered.",
        )
    return Discovery(config.auto_workspace, tuple(RepoRoot(path).path for path in config.allowed_root))
