"""Configuration layers, their origins, and how mistakes are named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sightline_core.config import (
    SERVER_FIELDS,
    SETTINGS,
    Config,
    default_config_file,
    default_data_dir,
    load_config,
)
from sightline_core.errors import ErrorCode, SightlineError


def load(tmp_path: Path, text: str = "", env: Mapping[str, str] | None = None, **flags: Any) -> Config:
    """The configuration of a file's text, an environment and flags."""
    file = tmp_path / "config.toml"
    file.write_text(text, "utf-8")
    return load_config(environment={"HOME": str(tmp_path), **(env or {})}, file=str(file), flags=flags)


def mistake(tmp_path: Path, text: str = "", env: Mapping[str, str] | None = None, **flags: Any) -> str:
    """What a wrong configuration says."""
    with pytest.raises(SightlineError) as caught:
        load(tmp_path, text, env, **flags)
    assert caught.value.code is ErrorCode.INVALID_INPUT
    return str(caught.value)


# A value of every setting in each layer: text of the file, text of the environment, value of the flag, as read.
SAMPLES: dict[str, tuple[str, str, Any, tuple[Any, Any, Any]]] = {
    "data_dir": ('"/f"', "/e", "/g", ("/f", "/e", "/g")),
    "transport": ('"http"', "stdio", "http", ("http", "stdio", "http")),
    "port": ("1", "2", 3, (1, 2, 3)),
    "bind": ('"::1"', "localhost", "127.0.0.2", ("::1", "localhost", "127.0.0.2")),
    "workspace": ('["/f"]', "/a:/b", ["/g"], (("/f",), ("/a", "/b"), ("/g",))),
    "allow_write": ("true", "no", True, (True, False, True)),
    "auto_workspace": ("true", "no", True, (True, False, True)),
    "allowed_root": ('["/f"]', "/a:/b", ["/g"], (("/f",), ("/a", "/b"), ("/g",))),
    "toolset": ('["core"]', "core,all", ["all"], (("core",), ("core", "all"), ("all",))),
    "prewarm": ("false", "on", False, (False, True, False)),
    "watch": ("false", "YES", False, (False, True, False)),
    "token_file": ('"/f"', "/e", "/g", ("/f", "/e", "/g")),
    "audit_log": ('"/f"', "/e", "/g", ("/f", "/e", "/g")),
    "daemon": ("false", "YES", False, (False, True, False)),
    "runtime_dir": ('"/f"', "/e", "/g", ("/f", "/e", "/g")),
}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_a_flag_beats_the_environment_beats_the_file_beats_the_default(tmp_path: Path, setting: Any) -> None:
    key = setting.key
    in_file, in_env, in_flag, (from_file, from_env, from_flag) = SAMPLES[key]
    file_text, env = f"{key} = {in_file}", {setting.env: in_env}

    assert load(tmp_path).origin(key) == "default"
    config = load(tmp_path, file_text)
    assert (getattr(config, key), config.origin(key)) == (from_file, str(tmp_path / "config.toml"))
    config = load(tmp_path, file_text, env)
    assert (getattr(config, key), config.origin(key)) == (from_env, f"environment {setting.env}")
    config = load(tmp_path, file_text, env, **{key: in_flag})
    assert (getattr(config, key), config.origin(key)) == (from_flag, f"flag --{key.replace('_', '-')}")


def test_every_setting_is_a_field_with_a_default_and_a_help() -> None:
    default = Config()
    for setting in SETTINGS:
        value = getattr(default, setting.key)
        assert isinstance(value, tuple if setting.kind is list else setting.kind)
        assert setting.help
    assert set(SAMPLES) == {setting.key for setting in SETTINGS}


def test_data_goes_to_the_cache_directory_unless_told_otherwise(tmp_path: Path) -> None:
    assert load(tmp_path).data_dir == str(tmp_path / ".cache" / "sightline")
    assert default_data_dir({"XDG_CACHE_HOME": "/c"}) == "/c/sightline"
    assert load(tmp_path, env={"SIGHTLINE_DATA_DIR": "/moved"}).data_dir == "/moved"
    assert load(tmp_path, data_dir="relative").data_dir == str(Path.cwd() / "relative")


def test_the_users_file_is_read_when_it_is_there(tmp_path: Path) -> None:
    environment = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert load_config(environment=environment).port == 9100
    file = Path(default_config_file(environment))
    file.parent.mkdir()
    file.write_text("port = 1", "utf-8")
    assert load_config(environment=environment).port == 1


@pytest.mark.parametrize("how", ["flag", "environment"])
def test_a_file_that_was_named_must_exist(tmp_path: Path, how: str) -> None:
    missing = str(tmp_path / "missing.toml")
    environment = {"SIGHTLINE_CONFIG": missing} if how == "environment" else {}
    with pytest.raises(SightlineError) as caught:
        load_config(environment=environment, file=missing if how == "flag" else None)
    assert caught.value.code is ErrorCode.INVALID_INPUT
    assert missing in str(caught.value)


@pytest.mark.parametrize("damage", [b"port = ", b"\xff\xfe", b"port = 1\nport = 2", b"[limits", b"a = 'x\n"])
def test_a_damaged_file_is_named(tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "damaged.toml"
    file.write_bytes(damage)
    with pytest.raises(SightlineError) as caught:
        load_config(environment={}, file=str(file))
    assert caught.value.code is ErrorCode.INVALID_INPUT
    assert str(file) in str(caught.value)


def test_a_directory_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SightlineError) as caught:
        load_config(environment={}, file=str(tmp_path))
    assert caught.value.code is ErrorCode.INVALID_INPUT


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("prot = 1", ("'prot'", "'port'")),
        ("workspaces = []", ("'workspaces'", "'workspace'")),
        ("[limit]", ("'limit'", "'limits'")),
        ("[limits]\ncall_deadline = 1", ("'call_deadline'", "'call_deadline_s'", "[limits]")),
        ("[language.python]\nserver = []", ("'server'", "'servers'", "[language.python]")),
        ("[language.pyton]\nservers = []", ("'pyton'", "'python'", "[language]")),
        ("[server.ty]\ncomand = []", ("'comand'", "'command'", "[server.ty]")),
        ("qqqqqqqq = 1", ("'qqqqqqqq'",)),
    ],
)
def test_an_unknown_key_is_an_error_that_names_the_nearest(tmp_path: Path, text: str, named: tuple[str, ...]) -> None:
    said = mistake(tmp_path, text)
    assert all(name in said for name in (*named, str(tmp_path / "config.toml")))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("port = '1'", "port"),
        ("port = true", "port"),
        ("port = 65536", "port"),
        ("port = -1", "port"),
        ("bind = 1", "bind"),
        ("watch = 1", "watch"),
        ("watch = 'yes'", "watch"),
        ("workspace = '/a'", "workspace"),
        ("workspace = [1]", "workspace"),
        ("transport = 'carrier pigeon'", "transport"),
        ("limits = 1", "limits"),
        ("[limits]\ndefault_results = 1.5", "default_results"),
        ("[limits]\ndefault_results = -1", "default_results"),
        ("[limits]\ndefault_results = true", "default_results"),
        ("[limits]\ndefault_results = '1'", "default_results"),
        ("[limits]\ncall_deadline_s = nan", "call_deadline_s"),
        ("[limits]\ncall_deadline_s = inf", "call_deadline_s"),
        ("language = []", "language"),
        ("[language]\npython = 1", "python"),
        ("[language.python]\nservers = 'ty'", "servers"),
        ("[language.python]\nservers = [1]", "servers"),
        ("server = 1", "server"),
        ("[server]\nty = 1", "server.ty"),
        *((f"[server.x]\n{key} = 1", key) for key in SERVER_FIELDS),
        ("[server.x]\ncommand = [1]", "command"),
    ],
)
def test_a_value_of_the_wrong_type_is_an_error_that_names_its_key(tmp_path: Path, text: str, named: str) -> None:
    assert named in mistake(tmp_path, text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SIGHTLINE_PORT", "many"),
        ("SIGHTLINE_PORT", "70000"),
        ("SIGHTLINE_WATCH", "maybe"),
        ("SIGHTLINE_TRANSPORT", "x"),
    ],
)
def test_a_wrong_environment_variable_is_named(tmp_path: Path, name: str, value: str) -> None:
    assert name in mistake(tmp_path, env={name: value})


def test_a_wrong_flag_is_named(tmp_path: Path) -> None:
    assert "--port" in mistake(tmp_path, port=70_000)


def test_limits_are_overridden_one_by_one(tmp_path: Path) -> None:
    config = load(tmp_path, "[limits]\nlsp_enrich_budget_ms = 50\ncall_deadline_s = 3")
    assert (config.limits.lsp_enrich_budget_ms, config.limits.call_deadline_s) == (50, 3)
    assert config.limits.default_results == Config().limits.default_results
    assert config.origin("limits.call_deadline_s") == str(tmp_path / "config.toml")
    assert config.origin("limits.default_results") == "default"


def test_language_servers_are_chosen_and_switched_off_per_language(tmp_path: Path) -> None:
    config = load(tmp_path, "[language.python]\nservers = ['ty', 'basedpyright']\n[language.go]\nservers = []")
    assert config.language_servers == {"python": ("ty", "basedpyright"), "go": ()}
    assert config.origin("language.go.servers") == str(tmp_path / "config.toml")


def test_an_empty_language_table_switches_nothing_off(tmp_path: Path) -> None:
    assert load(tmp_path, "[language.python]\n").language_servers == {}


def test_a_server_table_keeps_its_values(tmp_path: Path) -> None:
    text = """
[server.ty]
command = ["ty", "server"]
languages = ["python"]
settings = { deep = { er = 1 } }
init_options = {}
multi_root = true
runs_workspace_code = false
"""
    config = load(tmp_path, text)
    assert config.server_tables["ty"]["command"] == ["ty", "server"]
    assert config.server_tables["ty"]["settings"] == {"deep": {"er": 1}}
    assert config.origin("server.ty") == str(tmp_path / "config.toml")
