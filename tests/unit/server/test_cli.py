"""The command line as a user meets it: a real process each time."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sightline_core.version import __version__
from sightline_server.cli.parser import COMMANDS, all_commands, build_parser
from support.clients import command, environment

HEAVY = (
    "mcp",
    "mcp_types",
    "pydantic",
    "tantivy",
    "tree_sitter",
    "uvicorn",
    "starlette",
    "anyio",
    "asyncio",
    "msgspec",
)
TIMEOUT_S = 30


def run(tmp_path: Path, *args: str, **extra: str) -> subprocess.CompletedProcess[str]:
    """One command with its own data directory and no configuration of the user's."""
    env = environment(None, SIGHTLINE_DATA_DIR=str(tmp_path / "data"), **extra)
    return subprocess.run(
        command(*args),
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
    )


def test_version_is_printed(tmp_path: Path) -> None:
    done = run(tmp_path, "--version")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, f"sightline {__version__}", "")


def test_help_lists_every_command(tmp_path: Path) -> None:
    done = run(tmp_path, "--help")
    assert done.returncode == 0
    for known in all_commands():
        assert known.name in done.stdout.split()


def test_help_fits_a_screen_and_has_examples_that_parse(tmp_path: Path) -> None:
    lines = run(tmp_path, "--help").stdout.splitlines()
    assert len(lines) <= 24
    assert max(len(line) for line in lines) <= 80
    examples = [known.example for known in all_commands() if known.example]
    assert len(examples) >= 5
    for example in examples:
        assert any(example in line for line in lines)
        args = build_parser().parse_args(shlex.split(example)[1:])
        assert args.command.example == example


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_its_own_help(tmp_path: Path, name: str) -> None:
    done = run(tmp_path, name, "--help")
    assert done.returncode == 0
    assert "--config" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    "args", [["--version"], ["--help"], ["serve-mcp", "--help"], ["config"], ["completions", "bash"]]
)
def test_quick_commands_import_nothing_heavy(tmp_path: Path, args: list[str]) -> None:
    script = f"""
import sys
from sightline_server.cli import main
try:
    main({args!r})
except SystemExit:
    pass
sys.stderr.write(" ".join(sorted({{name.split(".")[0] for name in sys.modules}})))
"""
    env = environment(None, SIGHTLINE_DATA_DIR=str(tmp_path / "data"))
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=TIMEOUT_S)
    loaded = set(done.stderr.split())
    assert "argparse" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_a_command_loads_no_other(tmp_path: Path) -> None:
    script = """
import sys
from sightline_server.cli import main
main(["locate", "greet"])
found = [name.rpartition(".")[2] for name in sys.modules if name.startswith("sightline_server.cli.")]
sys.stderr.write(" ".join(found))
"""
    env = environment(None, SIGHTLINE_DATA_DIR=str(tmp_path / "data"))
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    loaded = set(done.stderr.splitlines()[-1].split())
    assert loaded & set(COMMANDS.values()) == {"search"}


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["serve-mcp", "--transprt", "http"], "--transport"),
        (["serve-mcp", "--workspce=/x"], "--workspace"),
        (["config", "--jsn"], "--json"),
        (["--versoin"], "--version"),
        (["serve-mcp", "--transport", "pigeon"], "stdio"),
        (["serve-mcp", "--port", "many"], "--port"),
        (["serve-mpc"], "serve-mcp"),
        (["completions", "tcsh"], "fish"),
        ([], "--help"),
    ],
)
def test_a_mistake_names_what_was_meant_and_exits_with_2(tmp_path: Path, args: list[str], named: str) -> None:
    done = run(tmp_path, *args)
    assert done.returncode == 2
    assert named in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1 or not args


def test_flags_are_not_abbreviated(tmp_path: Path) -> None:
    assert run(tmp_path, "serve-mcp", "--trans", "http").returncode == 2


@pytest.mark.parametrize(
    "args",
    [
        ["serve-mcp", "--workspace", "missing"],
        ["serve-mcp", "--auto-workspace"],
        ["serve-mcp", "--auto-workspace", "--allowed-root", "missing"],
        ["serve-mcp", "--toolset", "nonsense"],
        ["serve-mcp", "--transport", "http", "--bind", "0.0.0.0", "--port", "0"],
        ["serve-mcp", "--transport", "http", "--port", "70000"],
        ["serve-mcp", "--transport", "http", "--token-file", "missing", "--port", "0"],
        ["serve-mcp", "--config", "missing.toml"],
        ["trust", "missing"],
    ],
)
def test_a_start_that_cannot_work_says_why_and_exits_with_2(tmp_path: Path, args: list[str]) -> None:
    done = run(tmp_path, *args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("sightline: ")
    assert "Traceback" not in done.stderr


def test_config_shows_every_value_and_who_set_it(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("watch = false\n[limits]\ndefault_results = 7\n[language.go]\nservers = []\n", "utf-8")
    done = run(tmp_path, "config", "--json", "--config", str(file), SIGHTLINE_PORT="1234")
    assert done.returncode == 0
    shown = json.loads(done.stdout)
    assert shown["port"] == {"value": 1234, "origin": "environment SIGHTLINE_PORT"}
    assert shown["watch"] == {"value": False, "origin": str(file)}
    assert shown["limits.default_results"] == {"value": 7, "origin": str(file)}
    assert shown["language.go.servers"] == {"value": [], "origin": str(file)}
    assert shown["bind"] == {"value": "127.0.0.1", "origin": "default"}


def test_config_is_readable_by_people(tmp_path: Path) -> None:
    lines = run(tmp_path, "config").stdout.splitlines()
    assert any(line.split() == ["port", "9100", "#", "default"] for line in lines)


def test_a_wrong_configuration_is_told_by_every_command(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("prot = 1", "utf-8")
    for name in ("config", "trust", "serve-mcp"):
        done = run(tmp_path, name, "--config", str(file))
        assert done.returncode == 2
        assert "'port'" in done.stderr


def test_trust_is_given_listed_and_taken_back(tmp_path: Path) -> None:
    folder = (tmp_path / "folder").resolve()
    folder.mkdir()
    assert run(tmp_path, "trust").returncode == 1
    assert run(tmp_path, "trust", "folder").returncode == 0
    listed = run(tmp_path, "trust", "--json")
    assert (listed.returncode, json.loads(listed.stdout)) == (0, {"trusted": [str(folder)]})
    assert run(tmp_path, "trust", "folder", "--revoke").returncode == 0
    assert run(tmp_path, "trust").returncode == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_every_command_and_parse(tmp_path: Path, shell: str) -> None:
    done = run(tmp_path, "completions", shell)
    assert done.returncode == 0
    for known in all_commands():
        assert known.name in done.stdout
    assert "workspace" in done.stdout
    # zsh reads the bash script through bashcompinit, so bash can check the syntax of both.
    checker = shutil.which("fish" if shell == "fish" else "bash")
    if checker is not None:
        check = subprocess.run([checker, "-n"], input=done.stdout, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert (check.returncode, check.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_flags_of_the_command(tmp_path: Path) -> None:
    script = run(tmp_path, "completions", "bash").stdout
    script += 'COMP_WORDS=(sightline serve-mcp --work); COMP_CWORD=2; _sightline; echo "${COMPREPLY[@]}"\n'
    script += 'COMP_WORDS=(sightline ser); COMP_CWORD=1; _sightline; echo "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash"], input=script, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.stdout.split("\n")[:2] == ["--workspace", "serve-mcp"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_values(tmp_path: Path) -> None:
    script = run(tmp_path, "completions", "bash").stdout
    script += 'COMP_WORDS=(sightline init vs); COMP_CWORD=2; _sightline; echo "${COMPREPLY[@]}"\n'
    script += 'COMP_WORDS=(sightline init vscode --scope ""); COMP_CWORD=4; _sightline; echo "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash"], input=script, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.stdout.split("\n")[:2] == ["vscode", "user project"]


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    env = environment(None, SIGHTLINE_DATA_DIR=str(tmp_path / "data"))
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command("config"), env=env, stdout=writer, stderr=subprocess.PIPE, timeout=TIMEOUT_S)
    finally:
        os.close(writer)
    assert b"Traceback" not in done.stderr
    assert done.returncode == 0
