"""How fast the machine is right now, so that milliseconds of different hours can be compared."""

from __future__ import annotations

import time

_ROUNDS = 1_000_000
_REPEATS = 5


def speed_note() -> str:
    """What a plain loop takes at best; shared machines run at half their speed for hours."""
    best = min(_loop() for _ in range(_REPEATS))
    return f"machine: a plain loop takes {best * 1e9 / _ROUNDS:.0f} ns a round"


def _loop() -> float:
    begun = time.perf_counter()
    total = 0
    for number in range(_ROUNDS):
        total += number
    return time.perf_counter() - begun
