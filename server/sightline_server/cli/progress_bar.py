"""Progress for people: a live bar on a terminal, plain lines in a pipe."""

from __future__ import annotations

import shutil
import sys
import time
from collections import deque
from typing import TextIO

from sightline_core.progress import Progress, Stage
from sightline_server.cli.paint import is_live

_BAR_CELLS = 24
_PIPE_STEP_PERCENT = 10
_MIN_SECONDS_FOR_ESTIMATE = 1.0
_RATE_WINDOW_S = 8.0
_TENTHS_BELOW_S = 10


class ProgressBar:
    """Shows the progress of one job on a stream until `done`."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = is_live(self._stream)
        self._begun = time.monotonic()
        self._shown_percent = -_PIPE_STEP_PERCENT
        self._stage: Stage | None = None
        self._marks: deque[tuple[float, int]] = deque([(self._begun, 0)])

    def show(self, progress: Progress) -> None:
        """Show the newest state."""
        if self._live:
            self._stream.write("\r\x1b[2K" + self._line(progress))
            self._stream.flush()
            return
        new_stage = progress.stage is not self._stage
        if new_stage or progress.percentage - self._shown_percent >= _PIPE_STEP_PERCENT:
            self._stage, self._shown_percent = progress.stage, progress.percentage
            self._stream.write(f"{progress.percentage:3d}%  {progress.message}{self._estimate(progress)}\n")
            self._stream.flush()

    def done(self) -> None:
        """Leave the line free for what follows."""
        if self._live:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()

    def _line(self, progress: Progress) -> str:
        filled = progress.percentage * _BAR_CELLS // 100
        bar = "█" * filled + "░" * (_BAR_CELLS - filled)
        text = f"{bar} {progress.percentage:3d}%  {progress.message}{self._estimate(progress)}"
        return text[: shutil.get_terminal_size().columns - 1]

    def _estimate(self, progress: Progress) -> str:
        now = time.monotonic()
        if now - self._begun < _MIN_SECONDS_FOR_ESTIMATE or not 0 < progress.files_parsed < progress.files_total:
            return ""
        self._marks.append((now, progress.files_parsed))
        # The rate of the last seconds: files come in the order of folders, and folders differ.
        while len(self._marks) > 2 and now - self._marks[0][0] > _RATE_WINDOW_S:
            self._marks.popleft()
        then, parsed = self._marks[0]
        if progress.files_parsed <= parsed or now <= then:
            return ""
        rate = (progress.files_parsed - parsed) / (now - then)
        left = max(0, progress.files_total - progress.files_parsed) / rate
        return f"  {rate:,.0f} files/s, {duration(left)} left"


def duration(seconds: float) -> str:
    """A duration as people say it: 0.8 s, 12 s, 3 min 20 s."""
    if seconds < _TENTHS_BELOW_S:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"
