"""`sightline init`: what a client's file holds before, after and after taking it back."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline_core.errors import ErrorCode, SightlineError
from sightline_server.cli.init import INIT
from sightline_server.cli.parser import build_parser
from sightline_server.client_setup import jsonc
from sightline_server.client_setup.clients import CLIENTS, Scope, entry_for, file_of
from sightline_server.client_setup.config_file import apply, planned, undone
from support.clients import command, environment

TIMEOUT_S = 30
JSON_FILES = {
    "comments": '// mine\n{\n  "mcpServers": {\n    "a": {"k": "x"} // note\n  }, /* b */\n  "o": [1, 2,],\n}\n',
    "minified": '{"mcpServers":{"a":{"command":"x"}},"z":null}',
    "tabs and carriage returns": '{\r\n\t"z": {\r\n\t\t"deep": true\r\n\t}\r\n}\r\n',
    "empty section": '{\n    "mcpServers": {}\n}',
    "a mark": '\ufeff{"a": 1}\n',
    "nothing": "",
    "unicode": '{\n  "name": "Jürgen \\ud83d\\ude00"\n}\n',
}
TOML_FILES = {
    "comments": '# top\nmodel = "o"  # w\n\n[mcp_servers.other] # keep\ncommand = "y"\n\n# of z\n[z]\nx = 1\n',
    "no last line end": "[a]\nb = 1",
    "a look-alike in a text": 'note = """\n[mcp_servers.other]\n"""\n',
    "nothing": "",
}
DAMAGED = {
    "cursor": ['{"a": ', "[]", '{"mcpServers": 1}', '{"a": 1} x', "[" * 90_000],
    "codex": ["[a", 'mcp_servers = "x"'],
}


def client(name: str):
    return next(item for item in CLIENTS if item.name == name)


def entry_of(name: str, text: str) -> dict[str, object]:
    known = client(name)
    body = tomllib.loads(text) if known.is_toml else jsonc.decode(text.removeprefix("\ufeff"))
    return body[known.section]["sightline"]


def round_trip(name: str, folder: Path, before: str) -> str:
    """Set up twice, take back; returns what was written."""
    known = client(name)
    path, data = folder / "file", str(folder / "data")
    path.write_text(before, "utf-8", newline="")
    entry = entry_for(known, Scope.PROJECT, None, str(folder), None)
    apply(planned(known, str(path), entry), data, undo=False)
    after = path.read_bytes().decode()
    assert not planned(known, str(path), entry).is_needed
    apply(undone(known, str(path), data), data, undo=True)
    assert path.read_bytes().decode() == before
    return after


@pytest.mark.parametrize("before", JSON_FILES.values(), ids=list(JSON_FILES))
def test_json_keeps_what_is_there_and_comes_back(tmp_path: Path, before: str) -> None:
    after = round_trip("cursor", tmp_path, before)
    assert entry_of("cursor", after)["command"] == "sightline"
    old, new = (jsonc.decode(text.removeprefix("\ufeff")) for text in (before, after))
    new["mcpServers"].pop("sightline")
    assert {key: value for key, value in new.items() if value} == {key: value for key, value in old.items() if value}
    for comment in ("// mine", "// note", "/* b */"):
        assert (comment in before) == (comment in after)
    assert ("\r\n" in before) == ("\r\n" in after)


@pytest.mark.parametrize("before", TOML_FILES.values(), ids=list(TOML_FILES))
def test_toml_keeps_what_is_there_and_comes_back(tmp_path: Path, before: str) -> None:
    after = round_trip("codex", tmp_path, before)
    assert entry_of("codex", after)["command"] == "sightline"
    assert after.startswith(before)


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("cursor", '{"mcpServers": {"sightline": {"url": "http://x/mcp", "env": {"A": "b"}, "off": true}}}'),
        (
            "codex",
            '[mcp_servers.sightline]\nurl = "x"\nargs = [\n  "old",\n]\nenv = {A = "b"}\n# c\noff = true\n[z]\n',
        ),
    ],
)
def test_an_older_entry_is_replaced_and_its_other_keys_stay(tmp_path: Path, name: str, before: str) -> None:
    entry = entry_of(name, round_trip(name, tmp_path, before))
    assert (entry["env"], entry["off"]) == ({"A": "b"}, True)
    assert "url" not in entry
    assert entry["command"] == "sightline"


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in DAMAGED.items() for text in texts])
def test_a_damaged_file_is_left_as_it_is(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text, "utf-8")
    with pytest.raises(SightlineError) as caught:
        planned(client(name), str(path), {"command": "sightline"})
    assert caught.value.code is ErrorCode.INVALID_INPUT
    assert path.read_text("utf-8") == text


@pytest.mark.parametrize("name", ["cursor", "codex"])
def test_undo_takes_out_only_our_entry_when_others_wrote_since(tmp_path: Path, name: str) -> None:
    known = client(name)
    path, data = tmp_path / "file", str(tmp_path / "data")
    apply(planned(known, str(path), {"command": "sightline"}), data, undo=False)
    text = path.read_text("utf-8")
    more = text + "\n[z]\na = 1\n" if known.is_toml else text.replace("{", '{\n  "z": 1,', 1)
    path.write_text(more, "utf-8")
    apply(undone(known, str(path), data), data, undo=True)
    left = path.read_text("utf-8")
    body = tomllib.loads(left) if known.is_toml else jsonc.decode(left)
    assert "z" in body
    assert not body.get(known.section)


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "file"
    change = planned(client("cursor"), str(path), {"command": "sightline"})
    path.write_text("{}", "utf-8")
    with pytest.raises(SightlineError):
        apply(change, str(tmp_path / "data"), undo=False)
    assert path.read_text("utf-8") == "{}"


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("{}", "utf-8")
    real.chmod(0o600)
    link.symlink_to(real)
    apply(planned(client("cursor"), str(link), {"command": "x"}), str(tmp_path / "data"), undo=False)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert [name for name in os.listdir(tmp_path) if name.startswith(".sightline-")] == []


@pytest.mark.parametrize("known", CLIENTS, ids=lambda known: known.name)
@pytest.mark.parametrize("scope", list(Scope))
def test_every_entry_starts_our_server(known, scope: Scope) -> None:
    entry = entry_for(known, scope, None, "/p", None)
    args = [word for word in entry["args"] if word not in ("-m", "sightline_server")]  # type: ignore[attr-defined]
    assert build_parser().parse_args(args).command.name == "serve-mcp"
    assert (scope is Scope.PROJECT) == (entry["command"] == "sightline")
    assert file_of(known, scope, "/p", {"HOME": "/h"}).startswith("/p/" if scope is Scope.PROJECT else "/h/")


def run(tmp_path: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = environment(None, SIGHTLINE_DATA_DIR=str(tmp_path / "data"), HOME=str(tmp_path))
    return subprocess.run(
        command("init", *args), env=env, cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_S
    )


def test_the_command_shows_writes_and_takes_back(tmp_path: Path) -> None:
    shown = run(tmp_path, "claude-code", "--dry-run")
    assert shown.returncode == 0
    assert '+    "sightline": {' in shown.stdout
    assert not (tmp_path / ".claude.json").exists()
    done = json.loads(run(tmp_path, "claude-code", "--json", "--url", "http://127.0.0.1:9100/mcp").stdout)
    assert (done["changed"], done["written"]) == (True, True)
    written = json.loads((tmp_path / ".claude.json").read_text("utf-8"))
    assert written["mcpServers"]["sightline"] == {"type": "http", "url": "http://127.0.0.1:9100/mcp"}
    assert json.loads(run(tmp_path, "claude-code", "--undo", "--json").stdout)["written"]
    assert not (tmp_path / ".claude.json").exists()


def test_printing_writes_nothing_and_mistakes_are_one_line(tmp_path: Path) -> None:
    assert "sightline" in tomllib.loads(run(tmp_path, "codex", "--print").stdout)["mcp_servers"]
    assert not (tmp_path / ".codex").exists()
    (tmp_path / ".claude.json").write_text("{", "utf-8")
    for args in (["claude-code"], ["gemini", "--url", "x"], ["cursor", "--project", "missing"]):
        wrong = run(tmp_path, *args)
        assert (wrong.returncode, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)


def test_the_flag_knows_every_client() -> None:
    parser = build_parser()
    for known in CLIENTS:
        assert parser.parse_args(["init", known.name]).command is INIT


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.text(), VALUES), st.sampled_from([None, 1, "\t"]), st.booleans())
def test_any_json_keeps_its_content(body: dict[str, object], indent: int | str | None, plain: bool) -> None:
    text = json.dumps(body, indent=indent, ensure_ascii=plain)
    assert jsonc.decode(text) == json.loads(text)
    body.pop("s", None)
    without = json.dumps(body, indent=indent, ensure_ascii=plain)
    after = jsonc.with_member(without, ("s", "x"), {"args": ["a"]})
    assert jsonc.decode(after) == {**body, "s": {"x": {"args": ["a"]}}}
    assert jsonc.decode(jsonc.without_member(after, ("s", "x"))) == {**body, "s": {}}
