"""The language servers Sightline knows: `servers.toml` with the user's tables laid over it, field by field.

**Invariant**: a server is one table of that file or of the user's; nothing else in the product names one. A table of
the user never makes a server more trusted than it says itself.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

from sightline_core.config import Config, bad_config, check_server_table
from sightline_core.errors import nearest_name
from sightline_core.languages import languages


class Quirk(StrEnum):
    """What a server needs beyond the protocol."""

    # Answers from the files themselves, so the settling time after the start is not needed.
    READY_AT_ONCE = "ready_at_once"
    # Loads a project only once a file of it is open; before that workspace symbols are empty or an error.
    OPEN_FIRST_FILE = "open_first_file"
    # Says that it is loaded by `language/status` (`ServiceReady`) and not by progress.
    STATUS_NOTIFICATION = "status_notification"


@dataclass(frozen=True, slots=True)
class ServerRow:
    """One server: how it is started and what is known about it."""

    name: str
    command: tuple[str, ...]
    languages: tuple[str, ...]
    root_markers: tuple[str, ...] = ()
    settings: Mapping[str, Any] | None = None
    init_options: Mapping[str, Any] | None = None
    multi_root: bool = True
    runs_workspace_code: bool = True
    eager: bool = False
    install: str = ""
    quirks: frozenset[Quirk] = frozenset()
    connect: str = ""
    configured: bool = False


class ServerTable:
    """The effective rows and which of them may serve a language."""

    def __init__(self, rows: Mapping[str, ServerRow], chosen: Mapping[str, tuple[str, ...]]) -> None:
        self.rows = rows
        self._chosen = chosen

    def candidates(self, language: str) -> tuple[ServerRow, ...]:
        """The rows for `language`, best first."""
        if language in self._chosen:
            return tuple(self.rows[name] for name in self._chosen[language])
        matching = [row for row in self.rows.values() if language in row.languages]
        # What the user added comes before what is built in; the sort is stable.
        return tuple(sorted(matching, key=lambda row: not row.configured))

    def is_off(self, language: str) -> bool:
        """Whether the user switched language servers off for `language`."""
        return language in self._chosen and not self._chosen[language]

    def is_configured(self, language: str) -> bool:
        """Whether the user named a server for `language`."""
        return bool(self._chosen.get(language)) or any(row.configured for row in self.candidates(language))

    def languages(self) -> tuple[str, ...]:
        """Every language some row serves."""
        return tuple(sorted({language for row in self.rows.values() for language in row.languages}))


def load_servers(config: Config) -> ServerTable:
    """The table under `config`; raises `invalid_input` that names the offending table."""
    rows = dict(builtin_servers())
    for name, table in config.server_tables.items():
        where = f"{config.origin(f'server.{name}')} [server.{name}]"
        base = rows.get(name) or ServerRow(name, (), ())
        rows[name] = replace(_overlay(base, table, where), configured=True)
        _check_complete(rows[name], where)
    for language, names in config.language_servers.items():
        where = f"{config.origin(f'language.{language}.servers')} [language.{language}]"
        if language not in languages():
            near = nearest_name(language, tuple(languages()))
            raise bad_config(where, "the language is unknown.", f"Did you mean '{near}'?" if near else "")
        for name in names:
            if name not in rows:
                near = nearest_name(name, tuple(rows))
                raise bad_config(where, f"no server '{name}' is known.", f"Did you mean '{near}'?" if near else "")
    return ServerTable(rows, config.language_servers)


@cache
def builtin_servers() -> Mapping[str, ServerRow]:
    """The rows that come with Sightline."""
    text = resources.files("sightline_lsp").joinpath("servers.toml").read_text("utf-8")
    rows: dict[str, ServerRow] = {}
    for name, table in tomllib.loads(text).items():
        where = f"servers.toml [{name}]"
        rows[name] = _overlay(ServerRow(name, (), ()), check_server_table(table, where), where)
        _check_complete(rows[name], where)
    return rows


def _overlay(base: ServerRow, table: Mapping[str, Any], where: str) -> ServerRow:
    changes: dict[str, Any] = {}
    for key, value in table.items():
        if key == "quirks":
            changes[key] = frozenset(_quirk(text, where) for text in value)
        else:
            changes[key] = tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType]
    return replace(base, **changes)


def _quirk(text: str, where: str) -> Quirk:
    try:
        return Quirk(text)
    except ValueError:
        known = tuple(str(quirk) for quirk in Quirk)
        raise bad_config(where, f"unknown quirk '{text}'.", f"Known are {', '.join(known)}.") from None


def _check_complete(row: ServerRow, where: str) -> None:
    if not row.command and not row.connect:
        raise bad_config(where, "command is missing.", "Give the program and its arguments as a list.")
    if not row.languages:
        raise bad_config(where, "languages is missing.", "Name at least one language.")
    for language in row.languages:
        if language not in languages():
            near = nearest_name(language, tuple(languages()))
            raise bad_config(where, f"unknown language '{language}'.", f"Did you mean '{near}'?" if near else "")
