"""The lines of code that results show at detail level `context`.

**Invariant**: lines come from the disk as it is now; a file that cannot be read leaves its result without lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_search.model import Hit
from sightline_search.snippet import best_lines
from sightline_search.tree_reader import TreeReader


def with_lines(hits: Iterable[Hit], root: RepoRoot, limits: Limits) -> tuple[Hit, ...]:
    """Results with the lines around their place; those that have lines already are left as they are."""
    shown: list[Hit] = []
    with TreeReader(root, limits) as reader:
        for hit in hits:
            text = None if hit.lines else reader.read(hit.path)
            if text is not None:
                lines = text.data.decode("utf-8", "replace").split("\n")
                hit = replace(hit, lines=tuple(best_lines(lines, [hit.line], limits)))
            shown.append(hit)
    return tuple(shown)
