"""Processes: none is left behind, nothing of a workspace is run, no secret is passed on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from sightline_core.config import Config
from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.types import Position
from sightline_lsp.commands import clean_environment, find_program
from sightline_lsp.pool import Pool, Root
from sightline_lsp.process import LaunchError, launch, session_usage
from support.fake_pool import FAKE, QUICK, fake_pool, make_root

AT = Position(1, 5)
needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


async def gone(*pids: int) -> None:
    with anyio.fail_after(10):
        while any(is_alive(pid) for pid in pids):
            await anyio.to_thread.run_sync(lambda: None)


HOLDER = """
import anyio, os, sys
from pathlib import Path
sys.path[:0] = {path!r}
from sightline_core.types import Position
from support.fake_pool import fake_pool
async def main():
    script = {script!r}
    async with fake_pool(Path({folder!r}), python=script) as fake:
        await fake.pool.hover(fake.root, fake.file(), Position(1, 5), 20)
        print(fake.pool.status()[0].pid, flush=True)
        await anyio.sleep_forever()
anyio.run(main)
"""


@needs_proc
async def test_kill_9_of_sightline_leaves_neither_server_nor_its_children(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("same", "own")]
    start = [
        {"do": "deaf"},
        {"do": "child", "pid_file": str(files[0])},
        {"do": "child", "session": True, "pid_file": str(files[1])},
    ]
    code = HOLDER.format(path=sys.path, script={"start": start}, folder=str(tmp_path))
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    server = int(await anyio.to_thread.run_sync(holder.stdout.readline))
    children = [int(file.read_text()) for file in files]
    assert all(is_alive(pid) for pid in (server, *children))
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    await gone(server, *children)


@needs_proc
async def test_death_of_the_guard_ends_the_server_too(tmp_path: Path) -> None:
    async with fake_pool(tmp_path, python={}) as fake:
        await fake.pool.hover(fake.root, fake.file(), AT, 10)
        (status,) = fake.pool.status()
        assert status.pid is not None
        assert status.rss_bytes > 0
        guard = int(Path(f"/proc/{status.pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
        os.kill(guard, signal.SIGKILL)
        await gone(status.pid)
        assert (await fake.pool.hover(fake.root, fake.file(), AT, 10)).value is not None


@needs_proc
async def test_a_hundred_lives_leave_no_process_descriptor_or_task(tmp_path: Path) -> None:
    children = lambda: Path("/proc/self/task", str(os.getpid()), "children").read_text().split()  # noqa: E731
    command = [sys.executable, "-I", "-S", FAKE, str(tmp_path / "script")]
    (tmp_path / "script").write_text("{}")
    environment = clean_environment((), os.environ)
    async with launch(command, environment, QUICK):
        pass
    before = (len(os.listdir("/proc/self/fd")), len(asyncio.all_tasks()), len(children()))
    for _ in range(80):
        async with launch(command, environment, QUICK) as process:
            pid = process.pid
        assert not is_alive(pid)
    for _ in range(20):
        async with fake_pool(tmp_path, python={}) as fake:
            await fake.pool.hover(fake.root, fake.file(), AT, 10)
    await anyio.wait_all_tasks_blocked()
    assert (len(os.listdir("/proc/self/fd")), len(asyncio.all_tasks()), len(children())) == before


async def test_what_cannot_be_executed_says_so(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("no program")
    program.chmod(0o755)
    for path in (program, tmp_path / "missing"):
        with pytest.raises(LaunchError):
            async with launch([str(path)], {}, QUICK):
                pass


async def test_a_server_gets_a_clean_environment(tmp_path: Path) -> None:
    given = {
        "PATH": f"/usr/bin:{tmp_path}/bin:.:",
        "HOME": "/h",
        "SECRET_TOKEN": "s",
        "LC_ALL": "C",
        "PYTHONPATH": "/x",
    }
    kept = clean_environment((str(tmp_path),), given | {"VIRTUAL_ENV": str(tmp_path / ".venv")})
    assert kept.keys() == {"PATH", "HOME", "LC_ALL"}
    assert kept["PATH"].split(":") == ["/usr/bin", os.path.dirname(sys.executable)]


def make_program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_nothing_inside_a_workspace_is_found_by_name(tmp_path: Path) -> None:
    root, safe = tmp_path / "root", tmp_path / "safe"
    inside = make_program(root / "node_modules" / ".bin" / "some-ls")
    safe.mkdir()
    (safe / "some-ls").symlink_to(inside)
    path = f"{inside.parent}:{safe}:.:"
    assert find_program("some-ls", (str(root),), {"PATH": path}) is None
    assert find_program("./some-ls", (), {"PATH": path}) is None
    assert find_program("some-ls", (), {"PATH": path}) == str(inside)
    assert find_program(str(inside), (str(root),), {"PATH": ""}) == str(inside)
    assert find_program("python", (os.path.dirname(os.path.dirname(sys.executable)),), {"PATH": ""}) is not None


async def test_a_running_server_is_reached_over_loopback_only(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("{}")
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    root = make_root(tmp_path / "root")

    def serve() -> None:
        peer, _ = listener.accept()
        with peer:
            command = [sys.executable, "-I", "-S", FAKE, str(tmp_path / "script")]
            subprocess.run(command, stdin=peer.fileno(), stdout=peer.fileno())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.to_thread.run_sync, serve)
        async with Pool(Config(), QUICK, environment={"PATH": ""}) as pool:
            await pool.set_roots([Root(root, True, frozenset({"lua"}))])
            for address in ("192.0.2.1:80", "example.com:80", "127.0.0.1", "127.0.0.1:x", ""):
                if address:
                    with pytest.raises(SightlineError) as caught:
                        await pool.start("lua", connect=address)
                    assert caught.value.code is ErrorCode.INVALID_INPUT
            await pool.start("lua", connect=f"127.0.0.1:{port}")
            found = await pool.workspace_symbols(root, "alpha", ["lua"], 10)
            assert [str(source.status) for source in found.sources] == ["ok"]
    listener.close()


@needs_proc
def test_usage_counts_the_whole_session() -> None:
    code = "import subprocess,sys; subprocess.Popen(['sleep','30']); print(1,flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    assert session_usage(process.pid).rss_bytes > 1_000_000
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert json.dumps(session_usage(process.pid).rss_bytes) == "0"
