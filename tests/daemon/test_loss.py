"""Death of either side: one clear error per pending request, and the session goes on; nothing is left of a front."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import time

from support.daemon_kit import DEADLINE_S, Front, Yard, until

KILLS = int(os.environ.get("DAEMON_KILLS", "10"))


def test_the_death_of_the_daemon_costs_one_error_per_pending_request(yard: Yard) -> None:
    front = yard.start().open()
    front.call("sync_repo", wait=True)
    pid = yard.daemon()["pid"]
    # Stopped, it cannot answer: all of these are pending when it dies.
    os.kill(pid, signal.SIGSTOP)
    asked = [front.send("tools/call", {"name": "health_check", "arguments": {}}) for _ in range(3)]
    until(lambda: _unread(front) == 0, "the front did not read")
    os.kill(pid, signal.SIGKILL)
    replies = [front.read() for _ in asked]
    assert sorted(reply["id"] for reply in replies) == asked
    assert {reply["error"]["data"]["code"] for reply in replies} == {"internal_error"}
    assert {reply["error"]["data"]["detail"] for reply in replies} == {"daemon_ended"}
    # The same session goes on with another daemon, without a handshake of the client's.
    found = front.call("locate_symbol", name="greet")
    assert [result["name"] for result in found["results"]] == ["greet"]
    assert yard.daemon()["pid"] != pid
    assert yard.daemon()["sessions"][0]["client"] == "test 1"


def test_the_error_does_not_wait_for_the_next_daemon(yard: Yard) -> None:
    front = yard.start().open()
    daemon = yard.daemon()
    os.kill(daemon["pid"], signal.SIGSTOP)
    asked = front.send("tools/call", {"name": "health_check", "arguments": {}})
    until(lambda: _unread(front) == 0, "the front did not read")
    lock = os.open(os.path.join(yard.environment["SIGHTLINE_RUNTIME_DIR"], f"{daemon['name']}.lock"), os.O_RDWR)
    try:
        # Nobody can start a daemon while this is held.
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.kill(daemon["pid"], signal.SIGKILL)
        assert front.read(yard.config.limits.daemon_start_s / 2)["id"] == asked
    finally:
        os.close(lock)
    assert front.call("health_check")["status"]


def test_a_handshake_under_way_is_not_lost(yard: Yard) -> None:
    yard.start().open()
    pid = yard.daemon()["pid"]
    front = yard.start()
    until(lambda: len(yard.daemon()["sessions"]) == 2, "no session")
    os.kill(pid, signal.SIGSTOP)
    front.send(
        "initialize",
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
    )
    until(lambda: _unread(front) == 0, "the front did not read")
    os.kill(pid, signal.SIGKILL)
    assert front.read()["result"]["serverInfo"]["name"] == "sightline"


def test_a_stopped_daemon_comes_back_with_the_next_request(yard: Yard) -> None:
    front = yard.start().open()
    pid = yard.daemon()["pid"]
    assert yard.run("daemon", "stop").stdout == f"stopped {pid}\n"
    assert yard.daemons() == []
    assert front.call("health_check")["status"]
    assert yard.daemon()["pid"] != pid


def test_the_death_of_a_front_ends_its_session_and_its_work(yard: Yard) -> None:
    others = yard.start().open()
    front = yard.start().open()
    front.send("tools/call", {"name": "index_repo", "arguments": {"wait": True, "force": True}})
    until(lambda: len(yard.daemon()["sessions"]) == 2, "no session")
    front.process.kill()
    until(lambda: [s["pid"] for s in yard.daemon()["sessions"]] == [others.pid], "the session stayed")
    until(lambda: yard.daemon()["sessions"][0]["active_calls"] == 0, "its work stayed")


def test_fronts_of_a_client_that_forks_and_dies_all_end(yard: Yard) -> None:
    """The pipes of each front leak into the next ones, as with a client that forks without closing them."""
    program = (
        "import os, subprocess, sys, time\n"
        "argv = sys.argv[1:]\n"
        "for _ in range(3):\n"
        "    r, w = os.pipe(); os.set_inheritable(w, True)\n"
        "    subprocess.Popen(argv, stdin=r, stdout=subprocess.DEVNULL, close_fds=False)\n"
        "    os.close(r)\n"
        "sys.stdin.read()\n"
    )
    client = subprocess.Popen(
        [sys.executable, "-c", program, *yard.command("serve-mcp")],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=yard.environment,
        cwd="/",
    )
    try:
        until(lambda: yard.daemons() and len(yard.daemon()["sessions"]) == 3, "no sessions")
    finally:
        client.kill()
        client.wait(DEADLINE_S)
        client.stdin.close()
    until(lambda: not yard.daemon()["sessions"], "sessions stayed")
    until(lambda: len(yard.processes()) >= 1 and not _fronts(yard), "fronts stayed")


def test_kills_at_random_moments_under_load(yard: Yard) -> None:
    """Fronts ask all the time while daemon and fronts are killed: nobody hangs, every answer is labelled."""
    chance = random.Random(7)
    fronts = [yard.start().open() for _ in range(3)]
    daemon_kills = 0
    for _ in range(KILLS):
        asked = {front.pid: [_ask_something(front, chance) for _ in range(4)] for front in fronts}
        time_box = chance.random() * 0.05
        end = time.monotonic() + time_box
        while time.monotonic() < end:
            pass
        victim = chance.choice([None, *fronts])
        if victim is None:
            daemon_kills += 1
            # The one that serves now; between two of them there is none to kill.
            for found in yard.daemons():
                os.kill(found["pid"], signal.SIGKILL)
        else:
            victim.process.kill()
            victim.process.wait(DEADLINE_S)
            fronts[fronts.index(victim)] = yard.start().open()
        for front in fronts:
            for _ in asked.get(front.pid, ()):
                _check_label(front.read())
    for front in fronts:
        _check_label(front.ask("tools/call", {"name": "health_check", "arguments": {}}))
    until(lambda: len(yard.daemon()["sessions"]) == len(fronts), "sessions of the dead stayed")
    assert daemon_kills


def test_a_flooding_session_does_not_stop_another(yard: Yard) -> None:
    flood, calm = yard.start().open(), yard.start().open()
    calm.call("sync_repo", wait=True)
    alone = min(_seconds_of_call(calm) for _ in range(10))
    line = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "search_code", "arguments": {"query": "x"}}}
    # Nobody reads the answers of this one, and its requests never end.
    os.set_blocking(flood.process.stdin.fileno(), False)
    data = b"".join(json.dumps({**line, "id": 1000 + n}).encode() + b"\n" for n in range(20_000))
    sent = 0
    times: list[float] = []
    for _ in range(30):
        with contextlib.suppress(BlockingIOError):
            sent += os.write(flood.process.stdin.fileno(), data[sent:])
        times.append(_seconds_of_call(calm))
    # A call waits at most for what the flood may have under way, not for all that it sent.
    assert sorted(times)[len(times) // 2] < alone * 20 + 0.5
    assert sent < len(data)


def _seconds_of_call(front: Front) -> float:
    begun = time.monotonic()
    assert front.call("locate_symbol", name="greet")["results"]
    return time.monotonic() - begun


def _ask_something(front: Front, chance: random.Random) -> int:
    tool, arguments = chance.choice(
        [("locate_symbol", {"name": "greet"}), ("search_code", {"query": "hello"}), ("index_status", {})]
    )
    return front.send("tools/call", {"name": tool, "arguments": arguments})


def _check_label(reply: dict) -> None:
    if "error" in reply:
        assert reply["error"]["data"]["code"] == "internal_error", reply
    else:
        assert reply["result"]["structuredContent"]["metadata"]["result_completeness"], reply


def _unread(front: Front) -> int:
    import array
    import fcntl
    import termios

    size = array.array("i", [0])
    fcntl.ioctl(front.process.stdin.fileno(), termios.FIONREAD, size)
    return size[0]


def _fronts(yard: Yard) -> list[int]:
    found = []
    for pid in yard.processes():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found += [pid] if b"serve-mcp" in file.read() else []
        except OSError:
            continue
    return found
