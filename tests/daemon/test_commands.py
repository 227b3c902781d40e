"""Commands answer the same through the daemon and alone; `sightline daemon` shows and ends it."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess

from support.daemon_kit import DEADLINE_S, Yard, until

VOLATILE = ("metadata",)


def body(yard: Yard, *args: str, alone: bool = False) -> dict:
    done = yard.run(*args, "--json") if not alone else _alone(yard, *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _alone(yard: Yard, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        yard.command(*args, "--json"),
        env={**yard.environment, "SIGHTLINE_DAEMON": "no"},
        cwd=yard.config.workspace[0],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        stdin=subprocess.DEVNULL,
    )


def test_commands_answer_the_same_through_the_daemon(yard: Yard) -> None:
    yard.start().open().call("sync_repo", wait=True)
    for args in (["locate", "greet"], ["search", "hello"], ["outline", "pkg/greeting.py"]):
        shared, alone = body(yard, *args), body(yard, *args, alone=True)
        for key in VOLATILE:
            shared.pop(key), alone.pop(key)
        assert shared == alone
    assert body(yard, "status")["watcher"] == {"state": "watching"}
    assert body(yard, "index")["status"] == "published"
    assert body(yard, "sync")["mode"] == "incremental"
    assert "Indexed" in yard.run("index", "--force").stdout
    assert yard.run("cancel", "nothing").returncode == 2


def test_a_workspace_that_no_session_has_open_is_answered_in_process(yard: Yard, tmp_path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("def lonely(): pass\n", "utf-8")
    yard.start().open()
    assert yard.run("index", str(other)).returncode == 0
    assert yard.run("locate", "lonely", "--workspace", str(other)).returncode == 0
    assert str(other) not in {found["repo_root"] for found in yard.daemon()["workspaces"]}


def test_a_command_starts_no_daemon(yard: Yard) -> None:
    assert yard.run("status").returncode == 1
    assert yard.run("daemon", "status").returncode == 1
    assert yard.run("daemon", "stop").returncode == 1
    assert yard.daemons() == []


def test_the_daemon_is_shown_restarted_and_stopped(yard: Yard) -> None:
    front = yard.start().open()
    shown = json.loads(yard.run("daemon", "status", "--json").stdout)["daemons"]
    assert [session["pid"] for session in shown[0]["sessions"]] == [front.pid]
    assert yard.config.workspace[0] in yard.run("daemon").stdout
    assert "serves" in yard.run("daemon", "logs", "-n", "5").stdout
    assert yard.run("daemon", "restart").returncode == 0
    assert yard.daemon()["pid"] != shown[0]["pid"]
    assert front.call("health_check")["status"]
    assert yard.run("daemon", "stop").returncode == 0
    until(lambda: yard.processes() == [front.pid], "it stayed")


def test_status_is_shown_again_and_again_on_a_terminal(yard: Yard) -> None:
    yard.start().open().call("sync_repo", wait=True)
    primary, secondary = pty.openpty()
    process = subprocess.Popen(
        yard.command("status", "--watch"),
        env=yard.environment,
        cwd=yard.config.workspace[0],
        stdin=subprocess.DEVNULL,
        stdout=secondary,
        stderr=secondary,
    )
    os.close(secondary)
    seen = b""
    try:
        while seen.count(b"\x1b[H\x1b[J") < 2:
            assert select.select([primary], [], [], DEADLINE_S)[0]
            seen += os.read(primary, 65536)
        assert b"workspace" in seen
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE_S) == 130
    finally:
        process.kill()
        process.wait(DEADLINE_S)
        os.close(primary)


def test_the_daemon_serves_http_beside_its_socket(yard: Yard) -> None:
    process = subprocess.Popen(
        yard.command("daemon", "run", "--port", "0"), env=yard.environment, stderr=subprocess.PIPE, text=True
    )
    try:
        assert any("serves MCP at http://127.0.0.1:" in line for line in process.stderr)
        yard.start().open()
        assert yard.daemon()["pid"] == process.pid
    finally:
        process.terminate()
        assert process.wait(DEADLINE_S) == 0
        process.stderr.close()
