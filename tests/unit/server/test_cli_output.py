"""What commands print: paths that can be opened from here, and nothing that a terminal would obey."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
from pathlib import Path

import pytest

from support.clients import command, environment

TIMEOUT_S = 60
HOSTILE = "new\nline\x1b[31m.py"


def run(cwd: Path, data: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = environment(None, SIGHTLINE_DATA_DIR=str(data))
    return subprocess.run(
        command(*args), env=env, cwd=cwd, capture_output=True, text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "till").mkdir(parents=True)
    (folder / "till" / "pay.py").write_text("class Basket:\n    def total(self):\n        return 1\n", "utf-8")
    (folder / "till" / HOSTILE).write_text("def refund():\n    return unknown_name\n", "utf-8")
    assert run(folder, tmp_path / "data", "index", "-q").returncode == 0
    return folder


@pytest.mark.parametrize(
    ("args", "printed"),
    [
        (["search", "Basket.total"], "pay.py:2  method def total(self)\n"),
        (["locate", "Basket"], "pay.py:1  class Basket\n"),
        (["search", "-F", "return 1", "--count"], "pay.py:1\n"),
        (["outline", "pay.py", "--top"], "    1  class Basket\n"),
        (["outline", "till/pay.py", "--top"], "    1  class Basket\n"),
        (["def", "Basket"], "pay.py:1:7 class Basket:\n"),
    ],
)
def test_paths_are_taken_and_printed_as_seen_from_here(shop: Path, args: list[str], printed: str) -> None:
    done = run(shop / "till", shop.parent / "data", *args)
    assert (done.returncode, done.stdout) == (0, printed)


def test_paths_of_a_workspace_elsewhere_are_whole(shop: Path) -> None:
    elsewhere = shop.parent / "elsewhere"
    elsewhere.mkdir()
    done = run(elsewhere, shop.parent / "data", "locate", "Basket", "--workspace", str(shop))
    assert done.stdout == f"{shop}/till/pay.py:1  class Basket\n"
    above = run(shop.parent, shop.parent / "data", "locate", "Basket", "--workspace", "shop")
    assert above.stdout == "shop/till/pay.py:1  class Basket\n"


@pytest.mark.parametrize(
    "args",
    [
        ["search", "refund"],
        ["search", "-F", "unknown_name", "--count"],
        ["search", "-m", "path", "line"],
        ["def", "refund"],
        ["refs", "refund"],
        ["def", f"till/{HOSTILE}:1:5"],
        ["diagnostics", f"till/{HOSTILE}"],
        ["outline", "nothing\x1b[31m\n.py"],
        ["def", "nothing\x1b[31m\n.py"],
        ["index", "/nothing\x1b[31m\n"],
        ["nothing\x1b[31m\n"],
        ["search", "x", "--nothing\x1b[31m\n"],
    ],
)
def test_a_name_cannot_steer_the_terminal_and_takes_one_line(shop: Path, args: list[str]) -> None:
    done = run(shop, shop.parent / "data", *args)
    printed = done.stdout + done.stderr
    assert "\x1b" not in printed
    assert all(line.startswith(("till/", "sightline")) for line in printed.splitlines())


def test_json_is_the_answer_of_the_tool_to_the_letter(shop: Path) -> None:
    body = json.loads(run(shop, shop.parent / "data", "locate", "refund", "--json").stdout)
    assert [found["path"] for found in body["results"]] == [f"till/{HOSTILE}"]


@pytest.mark.parametrize(
    ("redirection", "code"), [(">/dev/full", 2), (">&-", 0), (">&- 2>&-", 0), ("<&- >&- 2>&-", 0), ("| true", 0)]
)
def test_an_output_that_cannot_be_written_is_no_fault_of_ours(shop: Path, redirection: str, code: int) -> None:
    env = environment(None, SIGHTLINE_DATA_DIR=str(shop.parent / "data"))
    line = f"{shlex.join(command('locate', 'Basket'))} {redirection}"
    done = subprocess.run(
        ["/bin/sh", "-c", line], env=env, cwd=shop, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S
    )
    assert done.returncode == code
    assert done.stderr.count("\n") == (1 if code else 0)
    assert "internal error" not in done.stderr


def test_trust_that_cannot_be_stored_is_an_error(shop: Path) -> None:
    env = environment(None, SIGHTLINE_DATA_DIR=str(shop.parent / "data"))
    line = f"ulimit -f 0; {shlex.join(command('trust', str(shop)))}"
    done = subprocess.run(["/bin/sh", "-c", line], env=env, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert run(shop, shop.parent / "data", "trust").returncode == 1


@pytest.mark.parametrize(("terminal", "coloured"), [("xterm", True), ("dumb", False)])
@pytest.mark.parametrize("args", [["locate", "Basket"], ["def", "Basket"], ["sync"]])
def test_a_terminal_without_colours_gets_none(shop: Path, args: list[str], terminal: str, *, coloured: bool) -> None:
    ours, theirs = pty.openpty()
    env = environment(None, SIGHTLINE_DATA_DIR=str(shop.parent / "data"), TERM=terminal)
    with subprocess.Popen(command(*args), env=env, cwd=shop, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        pieces: list[bytes] = []
        while True:
            try:
                pieces.append(os.read(ours, 65536))
            except OSError:
                break
    os.close(ours)
    assert process.returncode == 0
    assert (b"\x1b" in b"".join(pieces)) == coloured
