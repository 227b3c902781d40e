"""How a process of many threads treats its memory: what is freed goes back, what stays is not looked at again.

A writer of the text index takes tables of megabytes and frees them with every commit. Left to itself the library
learns from that to keep such blocks, in as many pools as there were threads: four workspaces with a save each second
held 270 MB where 60 MB were in use, and the more workspaces the more it grew. And whenever many objects came to be,
Python's collector of cycles walked through all modules too, and held up every thread meanwhile.
"""

from __future__ import annotations

import ctypes
import gc
import sys

# Numbers of `mallopt` in malloc.h.
_MMAP_THRESHOLD = -3
_ARENA_MAX = -8
_LARGE_BLOCK_BYTES = 1 << 20
_POOLS = 4


def settle_memory() -> None:
    """Call it when everything is imported. Safe to call again."""
    gc.freeze()
    _return_freed_blocks()


def _return_freed_blocks() -> None:
    """Have large freed blocks go back to the system at once; does nothing where the library cannot be told."""
    if sys.platform != "linux":
        return
    try:
        tell = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    tell(_MMAP_THRESHOLD, _LARGE_BLOCK_BYTES)
    tell(_ARENA_MAX, _POOLS)
