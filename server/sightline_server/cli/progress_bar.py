"""Progress for people: a live bar on a terminal, plain lines in a pipe."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TextIO

from sightline_core.progress import Progress, Stage

_BAR_CELLS = 24
_PIPE_STEP_PERCENT = 10
_MIN_SECONDS_FOR_ESTIMATE = 2.0


class ProgressBar:
    """Shows the progress of one job on a stream until `done`."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._begun = time.monotonic()
        self._shown_percent = -_PIPE_STEP_PERCENT
        self._stage: Stage | None = None

    def show(self, progress: Progress) -> None:
        """Show the newest state."""
        if self._live:
            self._stream.write("\r\x1b[2K" + self._line(progress))
            self._stream.flush()
            return
        new_stage = progress.stage is not self._stage
        if new_stage or progress.percentage - self._shown_percent >= _PIPE_STEP_PERCENT:
            self._stage, self._shown_percent = progress.stage, progress.percentage
            self._stream.write(f"{progress.percentage:3d}%  {progress.message}\n")
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
        seconds = time.monotonic() - self._begun
        if seconds < _MIN_SECONDS_FOR_ESTIMATE or not progress.files_parsed:
            return ""
        rate = progress.files_parsed / seconds
        left = max(0, progress.files_total - progress.files_parsed) / rate
        return f"  {rate:.0f} files/s, {left:.0f} s left"
