"""What people read while and after an index is built, and when something breaks."""

from __future__ import annotations

import io
import os
import pty
import subprocess
from pathlib import Path

import pytest

from sightline_core.progress import Progress, Stage
from sightline_indexer.directory_rules import SkipReason
from sightline_server import cli
from sightline_server.cli import told
from sightline_server.cli.progress_bar import ProgressBar, duration
from support.clients import command, environment

TIMEOUT_S = 60


def environment_of(tmp_path: Path) -> dict[str, str]:
    return environment(None, SIGHTLINE_DATA_DIR=str(tmp_path / "data"), TERM="xterm", COLUMNS="100")


def test_the_summary_names_files_symbols_languages_skips_and_time(tmp_path: Path, workspace: Path) -> None:
    (workspace / "picture.bin").write_bytes(b"\0\1" * 50)
    done = subprocess.run(
        command("index", str(workspace)),
        env=environment_of(tmp_path),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0
    rows = dict(line.split(maxsplit=1) for line in done.stdout.splitlines()[1:])
    assert rows["files"].startswith("1 (")
    assert (rows["symbols"], rows["languages"], rows["skipped"]) == ("1", "1 python", "1 binary")
    assert " s" in rows["time"]


def test_a_terminal_sees_a_bar_that_leaves_no_trace(tmp_path: Path, workspace: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command("index", str(workspace)), env=environment_of(tmp_path), stdout=subprocess.PIPE, stderr=theirs
    ) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        process.wait(TIMEOUT_S)
    os.close(ours)
    assert process.returncode == 0
    assert seen.endswith(b"\r\x1b[2K")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_tells_rate_and_remaining_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100, 2))
    monkeypatch.setattr("sightline_server.cli.progress_bar.time.monotonic", lambda: float(next(clock)))
    stream = Terminal()
    bar = ProgressBar(stream)
    bar.show(Progress(Stage.PARSING, 40, "Parsing files", files_parsed=400, files_total=1000))
    assert "200 files/s, 3.0 s left" in stream.getvalue()


@pytest.mark.parametrize(("seconds", "told"), [(0.84, "0.8 s"), (12.4, "12 s"), (200, "3 min 20 s")])
def test_durations_are_told_as_people_say_them(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def test_every_reason_has_words() -> None:
    assert {reason.value for reason in SkipReason} <= set(told.REASONS)


@pytest.mark.parametrize("flags", [[], ["-v"]])
def test_a_fault_of_ours_is_one_line_and_never_a_traceback(
    flags: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a\nb")

    monkeypatch.setattr("sightline_server.cli.config.config_of", broken)
    assert cli.main(["config", *flags]) == 2
    told = capsys.readouterr().err
    assert "Traceback" not in told
    assert told.splitlines()[0].startswith("sightline: internal error: RuntimeError: a b.")
    assert (len(told.splitlines()) > 1) == bool(flags)
