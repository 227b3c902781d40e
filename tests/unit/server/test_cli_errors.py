"""Errors of commands: one line for people with what to run next, JSON for programs."""

from __future__ import annotations

import json
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


def test_a_tool_in_a_message_becomes_its_command_but_not_in_what_the_user_wrote() -> None:
    assert for_people("No 'search_code'. Run sync_repo.") == "No 'search_code'. Run `sightline sync`."
    named = {shown.strip("`").split()[1] for shown in COMMAND_OF.values() if shown.startswith("`sightline ")}
    assert named <= {command.name for command in COMMANDS}
