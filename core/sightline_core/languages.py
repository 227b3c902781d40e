"""The languages Sightline knows, read from `languages.toml`.

**Invariant**: a language is one table of that file; nothing else in the product lists languages.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources

from sightline_core.types import SymbolKind


@dataclass(frozen=True, slots=True)
class Language:
    """One row of the table; `symbols` is empty for a language that is indexed as text."""

    name: str
    extensions: tuple[str, ...]
    filenames: tuple[str, ...]
    interpreters: tuple[str, ...]
    grammar: str
    lsp_id: str
    symbols: str
    primary_values: tuple[str, ...]
    secondary_declarations: bool


_SECONDARY = frozenset(
    {
        SymbolKind.VARIABLE,
        SymbolKind.CONSTANT,
        SymbolKind.FIELD,
        SymbolKind.PROPERTY,
        SymbolKind.ENUM_MEMBER,
        SymbolKind.NAMESPACE,
        SymbolKind.MODULE,
        SymbolKind.PACKAGE,
    }
)
_FIELDS = {f.name for f in fields(Language)} - {"name"}


@cache
def languages() -> dict[str, Language]:
    """Every language by name."""
    text = resources.files("sightline_core").joinpath("languages.toml").read_text("utf-8")
    return {name: _decode(name, row) for name, row in tomllib.loads(text).items()}


def is_primary(kind: SymbolKind, language: str, *, declaration: bool = False) -> bool:
    """True for what is looked for by name first: functions, types, and the values that the language counts in."""
    row = languages().get(language)
    if declaration and row is not None and row.secondary_declarations:
        return False
    return kind not in _SECONDARY or (row is not None and kind.value in row.primary_values)


def language_of(path: str, head: bytes = b"") -> str:
    """The language of a file by its name, or by the interpreter line in its first bytes; empty when unknown."""
    name = path.rsplit("/", 1)[-1]
    by_filename, by_extension, by_interpreter = _lookups()
    found = by_filename.get(name)
    if found is None and "." in name:
        found = by_extension.get(name.rsplit(".", 1)[1].lower())
    if found is None and head.startswith(b"#!"):
        found = by_interpreter.get(_interpreter(head))
    return found or ""


@cache
def _lookups() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    rows = languages().values()
    return (
        {filename: row.name for row in rows for filename in row.filenames},
        {extension: row.name for row in rows for extension in row.extensions},
        {program: row.name for row in rows for program in row.interpreters},
    )


def _interpreter(head: bytes) -> str:
    words = head[2:].split(b"\n", 1)[0].decode("ascii", "ignore").split()
    if words and words[0].rsplit("/", 1)[-1] == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    program = words[0].rsplit("/", 1)[-1] if words else ""
    # python3.11 is python3
    return program.split(".", 1)[0]


def _decode(name: str, row: dict[str, object]) -> Language:
    unknown = row.keys() - _FIELDS
    if unknown:
        raise ValueError(f"languages.toml: [{name}] has unknown keys {sorted(unknown)}")
    return Language(
        name=name,
        extensions=_strings(row, "extensions"),
        filenames=_strings(row, "filenames"),
        interpreters=_strings(row, "interpreters"),
        grammar=str(row.get("grammar", name)),
        lsp_id=str(row.get("lsp_id", name)),
        symbols=str(row.get("symbols", "")),
        primary_values=_strings(row, "primary_values"),
        secondary_declarations=row.get("secondary_declarations") is True,
    )


def _strings(row: dict[str, object], key: str) -> tuple[str, ...]:
    value = row.get(key, [])
    if not isinstance(value, list):
        raise TypeError(f"languages.toml: {key} must be a list")
    return tuple(str(item) for item in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
