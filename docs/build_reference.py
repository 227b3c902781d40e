"""Writes docs/reference.md from the code: `make docs`. A test compares the two."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from sightline_core.config import SERVER_FIELDS, SETTINGS, Config
from sightline_core.errors import MEANINGS
from sightline_core.languages import languages
from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_server.cli.command import add_common_flags
from sightline_server.cli.parser import all_commands
from sightline_server.envelope import Metadata
from sightline_server.schema import output_schema
from sightline_server.tools.base import Result
from sightline_server.tools.table import DEFAULT_SET, TOOLS

TARGET = Path(__file__).parent / "reference.md"
HEAD = """# Reference

Written by `make docs` from the code; a test fails when the two differ. Edit the code, not this file.
"""
# What the type of a field does not say.
FIELD_NOTES = {
    "sightline_protocol_version": "Version of this envelope.",
    "indexing_status": "Whether the workspace can be searched.",
    "freshness_status": "How far the index may lag behind the disk.",
    "schema_status": "Whether the stored index can be read by this version.",
    "sources": "Only for tools that ask a language server: how each took part.",
    "warnings": "What the reader must know; absent when there is nothing.",
}


def build() -> str:
    """The whole page."""
    parts = [HEAD, tools(), metadata(), errors(), commands(), settings(), servers(), limits(), language_table()]
    return "\n".join(parts)


def table(title: str, intro: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A section with one table."""
    lines = [f"## {title}", "", intro, "", f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def code(value: Any) -> str:
    """A value as it is written in a file or on a command line."""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return "`[" + ", ".join(f'"{item}"' for item in value) + "]`"
    return f"`{value}`" if value != "" else "none"


def tools() -> str:
    """Tools by toolset, with the first sentence of each description."""
    rows = [
        (
            f"`{tool.name}`",
            tool.toolset.value,
            "yes" if tool.in_default_set else "no",
            first_sentence(tool.description),
        )
        for tool in TOOLS
    ]
    intro = f"`--toolset` takes these toolsets, `{DEFAULT_SET}`, `all`, or single tools, separated by commas."
    return table("Tools", intro, ("tool", "toolset", f"in `{DEFAULT_SET}`", "what it does"), rows)


def first_sentence(text: str) -> str:
    """The text up to its first full stop."""
    return text.split(". ", 1)[0].rstrip(".") + "."


def metadata() -> str:
    """The fields that every answer carries."""
    schema = output_schema(Result)["properties"]["metadata"]["properties"]
    rows = [
        (f"`{name}`", values_of(schema[name]), schema[name].get("description") or FIELD_NOTES[name])
        for name in Metadata.model_fields
    ]
    return table("Metadata", "Every answer has these under `metadata`.", ("field", "values", "meaning"), rows)


def values_of(schema: dict[str, Any]) -> str:
    """The choices of a field, or its type."""
    if "enum" in schema:
        return " ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return "list of {" + ", ".join(f"`{name}`" for name in schema["items"]["properties"]) + "}"
    return schema.get("type", "")


def errors() -> str:
    """Every error code."""
    rows = [(f"`{error.value}`", meaning) for error, meaning in MEANINGS.items()]
    return table("Error codes", "In `error.code` of a failing call.", ("code", "meaning"), rows)


def commands() -> str:
    """The commands and the flags of each."""
    rows = [(f"`sightline {command.name}`", "", command.help) for command in all_commands()]
    shared = flags_of(add_common_flags)
    rows += [("every command", flag, text) for flag, text in shared]
    for command in all_commands():
        rows += [(f"`{command.name}`", flag, text) for flag, text in flags_of(command.configure)]
    intro = "Exit codes: 0 found, 1 nothing found, 2 error."
    return table("Command line", intro, ("command", "flag or argument", "what it does"), rows)


def flags_of(configure: Any) -> list[tuple[str, str]]:
    """The flags and arguments that a command adds to its parser."""
    parser = argparse.ArgumentParser(add_help=False)
    configure(parser)
    return [
        (
            f"`{' '.join([*action.option_strings, *([action.metavar] if action.metavar else [])]) or action.dest}`",
            str(action.help),
        )
        for action in parser._actions  # noqa: SLF001 - argparse offers no public list
    ]


def settings() -> str:
    """The keys of the configuration file."""
    default = Config()
    rows = [(f"`{item.key}`", f"`{item.env}`", code(getattr(default, item.key)), item.help) for item in SETTINGS]
    intro = (
        "In `~/.config/sightline/config.toml`, or the file of `--config` or `SIGHTLINE_CONFIG`. "
        "A flag beats the environment, which beats the file. `sightline config` shows the result with its origins. "
        "In the environment, lists are separated like PATH (`SIGHTLINE_TOOLSET` by commas). "
        "Without `data_dir`, `~/.cache/sightline` is used. "
        "The token itself comes from `SIGHTLINE_TOKEN` or `token_file`."
    )
    return table("Settings", intro, ("key", "environment", "default", "meaning"), rows)


def servers() -> str:
    """The keys of a server table."""
    names = {list: "list of strings", dict: "table", bool: "true or false", str: "string"}
    rows = [(f"`{key}`", names[kind]) for key, kind in SERVER_FIELDS.items()]
    intro = (
        "Keys of a `[server.NAME]` table. `[language.NAME]` has one key, `servers`; an empty list switches LSP off."
    )
    return table("Language servers", intro, ("key", "type"), rows)


def limits() -> str:
    """Every bound."""
    rows = [(f"`{item.name}`", code(getattr(DEFAULT_LIMITS, item.name))) for item in fields(Limits)]
    intro = "Keys of the `[limits]` table. The last part of a name is its unit; other names say what they count."
    return table("Limits", intro, ("key", "default"), rows)


def language_table() -> str:
    """Every language."""
    rows = [
        (
            row.name,
            " ".join(f"`.{item}`" for item in row.extensions),
            " ".join(f"`{item}`" for item in row.filenames),
            "yes" if row.symbols else "text",
        )
        for row in languages().values()
    ]
    intro = "How files are recognised. `text` means that the table holds no symbol rules for the language."
    return table("Languages", intro, ("language", "extensions", "file names", "symbol rules"), rows)


if __name__ == "__main__":
    TARGET.write_text(build(), "utf-8")
