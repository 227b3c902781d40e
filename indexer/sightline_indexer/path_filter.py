"""Whether one path would be indexed (placeholder of this branch: everything but `.git`)."""

from __future__ import annotations

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_indexer.walk import SkipReason


class PathFilter:
    """The rules of a walk for single paths."""

    def __init__(self, root: RepoRoot, limits: Limits) -> None:
        self.root = root
        self.limits = limits

    def accepts(self, relative: str) -> SkipReason | None:
        """Why a path is not indexed, None when it is."""
        return SkipReason.TOO_LARGE if ".git" in relative.split("/") else None

    def reset(self) -> None:
        """Forget what was read."""
