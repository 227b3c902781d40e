"""How long `sightline --version` and `--help` take, as a ratio to a bare interpreter in the same run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 15
PROGRAM = str(Path(sys.executable).parent / "sightline")
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "sightline --version": [PROGRAM, "--version"],
    "sightline --help": [PROGRAM, "--help"],
}


def main() -> None:
    """Interleaved rounds, so that a noisy machine is noisy to all of them."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            times[name].append(time.perf_counter() - start)
    bare = statistics.median(times["python -c pass"])
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:<22} median {median * 1000:6.1f} ms  best {min(taken) * 1000:6.1f} ms  ×{median / bare:.2f}")


if __name__ == "__main__":
    main()
