"""Which processes a test's own process has started."""

from __future__ import annotations

import os
from pathlib import Path


def children_running(program: str) -> set[int]:
    """The ids of this process's living children whose command line names a program."""
    found: set[int] = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            state, parent = Path(f"/proc/{name}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[:2]
            command = Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        if int(parent) == os.getpid() and state != "Z" and program.encode() in command.split(b"\0"):
            found.add(int(name))
    return found
