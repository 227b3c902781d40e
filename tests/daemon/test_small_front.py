"""A front goes on as a small program; whoever started it sees the same process with the same manners."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sightline_core.config import Config
from sightline_server.daemon import pump
from support.clients import ROOT
from support.daemon_kit import DEADLINE_S, Front, Yard, until, yard_of

# Each of these, or what it brings, would make every front larger by a tenth at least.
HEAVY = {
    "os",
    "re",
    "enum",
    "json",
    "typing",
    "socket",
    "signal",
    "logging",
    "contextlib",
    "collections",
    "sightline_core",
}


def program_of(front: Front) -> list[str]:
    with open(f"/proc/{front.pid}/cmdline", encoding="utf-8") as file:
        return file.read().split("\0")[:-1]


def test_light_modules_import_light_ones_alone() -> None:
    names = ("place", "plain_json", "link", "launch", "recall", "front", "pump")
    script = (
        f"import sys; sys.path.append({str(ROOT / 'server')!r})\n"
        + "".join(f"import sightline_server.daemon.{name}\n" for name in names)
        + "sys.stdout.write(' '.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, timeout=DEADLINE_S
    )
    loaded = set(done.stdout.split())
    assert "sightline_server.daemon.pump" in loaded, done.stderr
    assert loaded.isdisjoint(HEAVY)


def test_a_front_becomes_a_small_program_and_stays_one_when_its_daemon_dies(yard: Yard) -> None:
    front = yard.start().open()
    assert program_of(front)[-4:-2] == ["sightline", "serve-mcp"]
    before = program_of(front)
    os.kill(yard.daemon()["pid"], signal.SIGKILL)
    until(lambda: yard.daemons() and yard.daemon()["sessions"], "no session")
    assert front.call("health_check")["status"]
    assert [session["pid"] for session in yard.daemon()["sessions"]] == [front.pid]
    assert program_of(front) == before


def test_the_small_program_runs_the_modules_that_the_front_began_with(yard: Yard, tmp_path: Path) -> None:
    yard.start().open()
    other = tmp_path / "path" / "sightline_server"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("raise SystemExit('another installation')\n", "utf-8")
    front = yard.start(cwd=str(ROOT / "server"), env={"PYTHONPATH": f"{other.parent}:{ROOT / 'core'}"})
    assert program_of(front.open())[-4:-2] == ["sightline", "serve-mcp"]
    assert front.end() == 0


def test_a_front_whose_installation_is_gone_says_so_and_stays(yard: Yard, tmp_path: Path) -> None:
    package = tmp_path / "install" / "sightline_server"
    shutil.copytree(ROOT / "server" / "sightline_server", package, ignore=shutil.ignore_patterns("__pycache__"))
    others = [str(ROOT / name) for name in ("core", "indexer", "search", "lsp")]
    front = yard.start(cwd="/", env={"PYTHONPATH": ":".join([str(package.parent), *others])}).open()
    assert program_of(front)[-2] == str(package.parent)
    daemon = yard.daemon()["pid"]
    shutil.rmtree(package)
    os.kill(daemon, signal.SIGKILL)
    for _ in range(2):
        reply = front.ask("tools/call", {"name": "health_check", "arguments": {}})
        assert reply["error"]["data"]["code"] == "internal_error"
    assert reply["error"]["data"]["detail"] == "daemon_unavailable"
    assert front.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_while_the_program_changes_ends_the_front_in_order(yard: Yard, number: signal.Signals) -> None:
    yard.start().open()
    for _ in range(5):
        front = yard.start()
        # It has greeted: from here to the end a signal may meet either program or the way between them.
        until(lambda pid=front.pid: pid in {session["pid"] for session in yard.daemon()["sessions"]}, "no session")
        front.process.send_signal(number)
        assert front.process.wait(DEADLINE_S) == 0
        assert front.process.stderr.read() == b""
    until(lambda: len(yard.daemon()["sessions"]) == 1, "sessions stayed")


def test_a_front_whose_state_fits_no_pipe_stays_as_it_is(config: Config, tmp_path: Path) -> None:
    with yard_of(config, tmp_path) as yard:
        with open(yard.command()[-1], "a", encoding="utf-8") as file:
            file.write(f'\n[server.big]\ncommand = ["big"]\nlanguages = ["python"]\ninstall = "{"x" * 2**17}"\n')
        front = yard.start()
        assert front.open().call("health_check")["status"]
        assert program_of(front)[-2:] == yard.command()[-2:]
        front.process.terminate()
        assert front.process.wait(DEADLINE_S) == 0


def test_the_limits_of_a_front_are_limits() -> None:
    assert [name for name in pump.FRONT_LIMITS if not hasattr(Config().limits, name)] == []
