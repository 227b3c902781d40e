"""Errors of commands: one line for people with what to run next, JSON for programs."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sightline_server import cli
from sightline_server.cli.parser import COMMANDS
from sightline_server.cli.told import COMMANDS as COMMAND_OF
from sightline_server.cli.told import for_people
from sightline_server.tools.table import TOOLS


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["cancel", "nothing"], "job_not_found"),
        (["outline", "nothing.py"], "file_not_found"),
        (["outline", "../nothing.py"], "path_not_allowed"),
        (["def", "nothing"], "symbol_not_found"),
        (["search", ""], "invalid_input"),
        (["search", "x", "--limit", "0"], "invalid_input"),
        (["search", "x", "--kind", "klass"], "invalid_input"),
        (["search", "-r", "("], "invalid_input"),
        (["locate", "x", "--language", "pythn"], "invalid_input"),
        (["locate", "x", "--workspace", "/nothing/there"], "invalid_input"),
        (["locate", "x", "--config", "/nothing/there"], "invalid_input"),
        (["diagnostics", "nothing.py"], "file_not_found"),
    ],
)
def test_an_error_is_one_line_without_names_of_tools_and_json_on_demand(
    args: list[str],
    code: str,
    workspace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SIGHTLINE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(workspace)
    assert cli.main(["index", "-q"]) == 0
    capsys.readouterr()
    assert cli.main([*args, "--json"]) == 2
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["code"] == code
    assert told.err.count("\n") == 1
    assert [tool.name for tool in TOOLS if tool.name in told.err] == []
    assert "freshness_policy" not in told.err, "a list of all arguments helps nobody who has one of them wrong"


@pytest.mark.parametrize("args", [["search", "x"], ["refs", "x"], ["index"], ["sync"]])
def test_an_index_that_cannot_be_used_names_the_command_that_builds_it_anew(
    args: list[str],
    workspace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SIGHTLINE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(workspace)
    assert cli.main(["index", "-q"]) == 0
    (manifest,) = (tmp_path / "data" / "projects").glob("*/*/manifest.db")
    with closing(sqlite3.connect(manifest)) as database:
        database.execute("PRAGMA user_version = 99")
    capsys.readouterr()
    assert cli.main([*args, "--json"]) == 2
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["code"] == "index_incompatible"
    assert "sightline index --force" in told.err
    assert cli.main(["doctor"]) == 1
    assert "sightline index --force" in capsys.readouterr().out
    assert cli.main(["status"]) == 1
    assert "sightline index --force" in capsys.readouterr().out


@pytest.mark.parametrize("args", [["locate", "x"], ["index"], ["serve-mcp", "--no-daemon"]])
def test_a_configured_workspace_that_is_gone_is_named(
    args: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIGHTLINE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("SIGHTLINE_WORKSPACE", str(tmp_path / "gone"))
    assert cli.main(args) == 2
    told = capsys.readouterr().err
    assert str(tmp_path / "gone") in told
    assert "internal error" not in told


def test_doctor_tells_of_a_data_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").write_text("a file", "utf-8")
    monkeypatch.setenv("SIGHTLINE_DATA_DIR", str(tmp_path / "data"))
    assert cli.main(["doctor", "--json"]) == 1
    checks = {check["name"]: check["verdict"] for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["data folder"] == "bad"


def test_a_tool_in_a_message_becomes_its_command_but_not_in_what_the_user_wrote() -> None:
    assert for_people("No 'search_code'. Run sync_repo.") == "No 'search_code'. Run `sightline sync`."
    named = {shown.strip("`").split()[1] for shown in COMMAND_OF.values() if shown.startswith("`sightline ")}
    assert named <= set(COMMANDS)
