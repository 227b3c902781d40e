"""stdio: only JSON-RPC on stdout, an error for every bad line, a clean end on every way out."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
from pathlib import Path

import pytest

from sightline_core.config import Config
from sightline_core.limits import Limits
from sightline_server.transports.lines import LineSplitter
from sightline_server.transports.messages import BadLine, parse_line
from support.clients import command, config_file, environment

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def start(config: Config, **options: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command("serve-mcp", "--config", config_file(config)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(config),
        cwd=config.workspace[0],
        **options,
    )


def ask(process: subprocess.Popen[bytes], line: bytes) -> dict[str, object]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + b"\n")
    process.stdin.flush()
    ready, _, _ = select.select([process.stdout], [], [], 20)
    assert ready, "no answer in time"
    return json.loads(process.stdout.readline())


BAD_LINES = [
    (b"nonsense", -32700, None),
    (b"\xff\xfe\x00", -32700, None),
    (b"[" * 100_000, -32700, None),
    (b"[]", -32600, None),
    (b'{"jsonrpc":"2.0","id":3}', -32600, 3),
    (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
    (b'"text"', -32600, None),
    (b'{"jsonrpc":"2.0","id":9,"method":"nothing/there"}', -32601, 9),
    (b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":7}}', -32602, 8),
]


def test_a_bad_line_gets_an_error_and_the_session_goes_on(config: Config) -> None:
    with start(config) as process:
        assert ask(process, json.dumps(INITIALIZE).encode())["id"] == 0
        for line, code, identity in BAD_LINES:
            reply = ask(process, line)
            assert reply["error"]["code"] == code, line
            assert reply["error"]["data"]["code"] == "invalid_input"
            assert reply["id"] == identity
        assert ask(process, b'{"jsonrpc":"2.0","id":1,"method":"ping"}') == {"jsonrpc": "2.0", "id": 1, "result": {}}
        process.stdin.close()
        assert process.wait(20) == 0


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18"])
def test_the_text_of_an_answer_is_its_structured_content_to_the_letter(config: Config, version: str) -> None:
    greeting = {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": version}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "index_status"}}
    with start(config) as process:
        assert ask(process, json.dumps(greeting).encode())["result"]["protocolVersion"] == version
        assert process.stdin is not None
        process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        result = ask(process, json.dumps(call).encode())["result"]
        (content,) = result["content"]
        assert content["type"] == "text"
        assert not result["isError"]
        body = result["structuredContent"]
        assert body["metadata"]["workspace"]
        assert content["text"] == json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        process.stdin.close()
        assert process.wait(20) == 0


def test_a_line_over_the_limit_is_refused_without_being_kept() -> None:
    splitter = LineSplitter(max_bytes=10)
    assert splitter.feed(b"a" * 8) == []
    assert splitter.feed(b"b" * 8) == []
    assert splitter.feed(b"c\nshort\nrest") == [None, b"short"]
    assert splitter.feed(b"\n") == [b"rest"]
    refused = parse_line(None, Limits())
    assert isinstance(refused, BadLine)
    assert refused.code == -32600


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_server_cleanly(config: Config, number: signal.Signals) -> None:
    with start(config) as process:
        assert ask(process, json.dumps(INITIALIZE).encode())["id"] == 0
        process.send_signal(number)
        assert process.wait(20) == 0
        assert process.stdout.read() == b""
        assert b"Traceback" not in process.stderr.read()


def test_a_client_that_vanishes_ends_the_server(config: Config) -> None:
    with start(config) as process:
        assert ask(process, json.dumps(INITIALIZE).encode())["id"] == 0
        process.stdin.close()
        process.stdout.close()
        assert process.wait(20) == 0
        assert b"Traceback" not in process.stderr.read()


def test_a_deleted_start_directory_is_no_obstacle(config: Config, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); os.execv"
    line = f"{script}({command()[0]!r}, {command('serve-mcp', '--config', config_file(config))!r})"
    with subprocess.Popen(
        [command()[0], "-c", line],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(config),
    ) as process:
        assert ask(process, json.dumps(INITIALIZE).encode())["id"] == 0
        process.stdin.close()
        assert process.wait(20) == 0


def test_stray_output_of_the_process_never_reaches_the_client(config: Config) -> None:
    program = (
        "import os, sys, threading\n"
        "from sightline_server.transports import lines\n"
        "enter = lines.claimed_streams.__enter__\n"
        "def noisy(self):\n"
        "    result = enter(self)\n"
        "    print('STRAY', flush=True); os.write(1, b'STRAY'); os.system('echo STRAY')\n"
        "    return result\n"
        "lines.claimed_streams.__enter__ = noisy\n"
        "from sightline_server.cli import main\n"
        f"main(['serve-mcp', '--config', {config_file(config)!r}])\n"
    )
    with subprocess.Popen(
        [command()[0], "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(config),
        cwd=os.sep,
    ) as process:
        assert ask(process, json.dumps(INITIALIZE).encode())["id"] == 0
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.stderr.read().count(b"STRAY") == 3


def test_answers_to_piped_input_arrive_before_the_end(config: Config, tmp_path: Path) -> None:
    lines = [INITIALIZE, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "health_check"}}]
    source = tmp_path / "input"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    with source.open("rb") as stdin:
        done = subprocess.run(
            command("serve-mcp", "--config", config_file(config)),
            stdin=stdin,
            capture_output=True,
            timeout=20,
            env=environment(config),
        )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0, 1]
    assert done.returncode == 0
