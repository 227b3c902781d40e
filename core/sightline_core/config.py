"""Layered configuration: flag > environment > user file > default, and where each value came from.

**Invariant**: the searched repository sets nothing here. Unknown keys and wrong types are errors that name the
nearest known key; nothing is ignored in silence.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

from sightline_core.errors import ErrorCode, SightlineError, nearest_name
from sightline_core.limits import Limits

ENV_PREFIX = "SIGHTLINE_"
DEFAULT_ORIGIN = "default"
_TRUTHS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True)
class Setting:
    """One configurable value: its key in the file; the environment name is derived."""

    key: str
    kind: type
    help: str
    choices: tuple[str, ...] = ()

    @property
    def env(self) -> str:
        """The environment variable that sets it; lists are separated like PATH."""
        return ENV_PREFIX + self.key.upper()


SETTINGS: tuple[Setting, ...] = (
    Setting("data_dir", str, "where indexes and the registry live"),
    Setting("transport", str, "how serve-mcp talks to clients", ("stdio", "http")),
    Setting("port", int, "TCP port of the HTTP transport"),
    Setting("bind", str, "address of the HTTP transport"),
    Setting("workspace", list, "directories that are always registered"),
    Setting("auto_workspace", bool, "register unknown workspaces on demand"),
    Setting("allowed_root", list, "directories below which workspaces may be discovered"),
    Setting("toolset", list, "toolsets or single tools to offer"),
    Setting("allow_write", bool, "let tools change files of a workspace; none of this release does"),
    Setting("prewarm", bool, "open indexes at start"),
    Setting("watch", bool, "watch workspaces for changes"),
    Setting("token_file", str, "file that holds the bearer token of the HTTP transport"),
    Setting("audit_log", str, "file that gets one JSON line for each tool call"),
    Setting("daemon", bool, "share one background process among all stdio sessions and commands"),
    Setting("runtime_dir", str, "where the sockets of the daemon live"),
)


@dataclass(frozen=True, slots=True)
class Config:
    """The effective settings of one process; `origins` tells for each key who set it."""

    data_dir: str = ""
    transport: str = "stdio"
    port: int = 9100
    bind: str = "127.0.0.1"
    workspace: tuple[str, ...] = ()
    auto_workspace: bool = False
    allowed_root: tuple[str, ...] = ()
    toolset: tuple[str, ...] = ("default",)
    allow_write: bool = False
    prewarm: bool = True
    watch: bool = True
    token_file: str = ""
    audit_log: str = ""
    daemon: bool = True
    runtime_dir: str = ""
    limits: Limits = field(default_factory=Limits)
    language_servers: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    server_tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    origins: Mapping[str, str] = field(default_factory=dict[str, str])

    def origin(self, key: str) -> str:
        """Who set `key`: `default`, an environment variable, a file or a flag."""
        return self.origins.get(key, DEFAULT_ORIGIN)


# The keys of a [server.NAME] table; the built-in servers are written in the same form.
SERVER_FIELDS: Mapping[str, type] = {
    "command": list,
    "languages": list,
    "root_markers": list,
    "settings": dict,
    "init_options": dict,
    "multi_root": bool,
    "runs_workspace_code": bool,
    "eager": bool,
    "install": str,
    "quirks": list,
    "connect": str,
}


def load_config(
    *, environment: Mapping[str, str], file: str | None = None, flags: Mapping[str, Any] | None = None
) -> Config:
    """The effective configuration; raises `invalid_input` that names the layer and the key.

    `file` is the `--config` argument: it must exist then. Without it the user's default file is read if there.
    """
    path = file or environment.get(ENV_PREFIX + "CONFIG") or default_config_file(environment)
    required = bool(file or environment.get(ENV_PREFIX + "CONFIG"))
    config = _apply_file(Config(), _read_toml(path, required=required), path)
    config = _apply_scalars(config, _from_environment(environment))
    config = _apply_scalars(config, {k: (v, f"flag --{k.replace('_', '-')}") for k, v in (flags or {}).items()})
    if not config.data_dir:
        config = replace(config, data_dir=default_data_dir(environment))
    config = replace(config, data_dir=os.path.abspath(os.path.expanduser(config.data_dir)))
    runtime = config.runtime_dir or default_runtime_dir(environment, config.data_dir)
    return replace(config, runtime_dir=os.path.abspath(os.path.expanduser(runtime)))


def default_config_file(environment: Mapping[str, str]) -> str:
    """Where the user's file is looked for."""
    base = environment.get("XDG_CONFIG_HOME") or os.path.join(_home(environment), ".config")
    return os.path.join(base, "sightline", "config.toml")


def default_data_dir(environment: Mapping[str, str]) -> str:
    """The user's cache directory for Sightline."""
    base = environment.get("XDG_CACHE_HOME") or os.path.join(_home(environment), ".cache")
    return os.path.join(base, "sightline")


def default_runtime_dir(environment: Mapping[str, str], data_dir: str) -> str:
    """Where the system keeps the sockets of this user; beside the indexes where it names no place."""
    base = environment.get("XDG_RUNTIME_DIR")
    return os.path.join(base, "sightline") if base and os.path.isdir(base) else os.path.join(data_dir, "run")


def bad_config(origin: str, message: str, hint: str = "") -> SightlineError:
    """A configuration error that names its layer."""
    return SightlineError(ErrorCode.INVALID_INPUT, f"{origin}: {message}", hint=hint)


def _home(environment: Mapping[str, str]) -> str:
    return environment.get("HOME") or os.path.expanduser("~")


def _read_toml(path: str, *, required: bool) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        if required:
            raise bad_config(path, "the configuration file does not exist.", "Check --config.") from None
        return {}
    except OSError as error:
        raise _unreadable(path, error) from None
    # Imported here because most users have no such file and every command reads the configuration.
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> SightlineError:
    return bad_config(path, f"cannot be read: {error}.", "Correct the file or name another one.")


def _from_environment(environment: Mapping[str, str]) -> dict[str, tuple[Any, str]]:
    found: dict[str, tuple[Any, str]] = {}
    for setting in SETTINGS:
        text = environment.get(setting.env)
        if text is not None:
            origin = f"environment {setting.env}"
            found[setting.key] = (_parse_text(setting, text, origin), origin)
    return found


def _parse_text(setting: Setting, text: str, origin: str) -> Any:
    if setting.kind is bool:
        if text.lower() not in _TRUTHS:
            raise bad_config(origin, f"'{text}' is neither true nor false.")
        return _TRUTHS[text.lower()]
    if setting.kind is int:
        try:
            return int(text)
        except ValueError:
            raise bad_config(origin, f"'{text}' is not a whole number.") from None
    if setting.kind is list:
        separator = "," if setting.key == "toolset" else os.pathsep
        return [part for part in text.split(separator) if part]
    return text


def _apply_scalars(config: Config, values: Mapping[str, tuple[Any, str]]) -> Config:
    known = {setting.key: setting for setting in SETTINGS}
    changes: dict[str, Any] = {}
    origins = dict(config.origins)
    for key, (value, origin) in values.items():
        changes[key] = _check_setting(known[key], value, origin)
        origins[key] = origin
    return replace(config, **changes, origins=origins)


def _check_setting(setting: Setting, value: Any, origin: str) -> Any:
    _check_type(setting.key, value, setting.kind, origin)
    if setting.choices and value not in setting.choices:
        raise bad_config(origin, f"{setting.key} must be one of {', '.join(setting.choices)}.")
    if setting.kind is list:
        return _string_tuple(setting.key, value, origin)
    if setting.key == "port" and not 0 <= value <= 65535:
        raise bad_config(origin, "port must be between 0 and 65535.")
    return value


def _apply_file(config: Config, table: Mapping[str, Any], origin: str) -> Config:
    scalars = {setting.key for setting in SETTINGS}
    known = [*scalars, "limits", "language", "server"]
    for key in table:
        _check_known(key, known, origin)
    config = _apply_scalars(config, {k: (v, origin) for k, v in table.items() if k in scalars})
    config = _apply_limits(config, _table(table, "limits", origin), origin)
    return _apply_servers(config, table, origin)


def _apply_limits(config: Config, table: Mapping[str, Any], origin: str) -> Config:
    known: dict[str, type] = {item.name: type(getattr(config.limits, item.name)) for item in fields(Limits)}
    origins = dict(config.origins)
    changes: dict[str, Any] = {}
    for key, value in table.items():
        _check_known(key, list(known), f"{origin} [limits]")
        accepted = (int, float) if known[key] is float else (int,)
        # TOML has nan and inf; a deadline of either would wait for ever.
        if isinstance(value, bool) or not isinstance(value, accepted) or not math.isfinite(value) or value < 0:
            raise bad_config(f"{origin} [limits]", f"{key} must be a finite number that is not negative.")
        changes[key] = value
        origins[f"limits.{key}"] = origin
    return replace(config, limits=replace(config.limits, **changes), origins=origins)


def _apply_servers(config: Config, table: Mapping[str, Any], origin: str) -> Config:
    origins = dict(config.origins)
    chosen: dict[str, tuple[str, ...]] = {}
    for name, row in _table(table, "language", origin).items():
        # Imported here because reading the table of languages costs more than all the rest of a configuration.
        from sightline_core.languages import languages

        _check_known(name, list(languages()), f"{origin} [language]")
        where = f"{origin} [language.{name}]"
        _check_type(name, row, dict, where)
        for key in row:
            _check_known(key, ["servers"], where)
        # An empty list switches the language off; an absent one says nothing.
        if "servers" in row:
            _check_type("servers", row["servers"], list, where)
            chosen[name] = _string_tuple("servers", row["servers"], where)
            origins[f"language.{name}.servers"] = origin
    servers: dict[str, Mapping[str, Any]] = {}
    for name, row in _table(table, "server", origin).items():
        servers[name] = check_server_table(row, f"{origin} [server.{name}]")
        origins[f"server.{name}"] = origin
    return replace(config, language_servers=chosen, server_tables=servers, origins=origins)


def check_server_table(row: Any, where: str) -> Mapping[str, Any]:
    """A `[server.NAME]` table whose keys and types are right; raises `invalid_input`."""
    _check_type("server", row, dict, where)
    table = cast("dict[str, Any]", row)
    for key, value in table.items():
        _check_known(key, list(SERVER_FIELDS), where)
        _check_type(key, value, SERVER_FIELDS[key], where)
        if SERVER_FIELDS[key] is list:
            _string_tuple(key, value, where)
    return table


def _table(table: Mapping[str, Any], key: str, origin: str) -> Mapping[str, Any]:
    value = table.get(key, {})
    _check_type(key, value, dict, origin)
    return cast("Mapping[str, Any]", value)


def _check_known(key: str, known: list[str], origin: str) -> None:
    if key not in known:
        near = nearest_name(key, known)
        raise bad_config(origin, f"unknown key '{key}'.", f"Did you mean '{near}'?" if near else "")


def _check_type(key: str, value: Any, kind: type, origin: str) -> None:
    good = isinstance(value, kind | tuple if kind is list else kind)
    if not good or (kind is int and isinstance(value, bool)):
        names = {str: "a string", int: "a whole number", bool: "true or false", list: "a list", dict: "a table"}
        raise bad_config(origin, f"{key} must be {names[kind]}.")


def _string_tuple(key: str, value: Any, origin: str) -> tuple[str, ...]:
    items: list[Any] = list(value)
    if not all(isinstance(item, str) for item in items):
        raise bad_config(origin, f"{key} must be a list of strings.")
    return tuple(items)
