"""Which branch or commit a work tree is at (placeholder of this branch)."""

from __future__ import annotations


def read_ref(root: str) -> str:
    """The branch or short commit, `live` outside git."""
    return "live"
