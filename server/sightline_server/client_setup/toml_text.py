"""TOML edited as text: one table is written, every other line stays.

**Invariant**: the result is only returned when it decodes to the old content plus the table.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from sightline_server.client_setup.jsonc import DamagedError

_HEADER = re.compile(r"^\s*\[")


def decode(text: str) -> dict[str, Any]:
    """The content of the text; raises `DamagedError`."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise DamagedError("\n" * (int(line[1]) - 1 if line else 0), len(text), "TOML") from None


def with_table(text: str, keys: tuple[str, ...], value: Mapping[str, Any], drop: Iterable[str]) -> str:
    """The text with the keys of `value` set in the table and those of `drop` gone from it."""
    decode(text)
    lines = text.splitlines(keepends=True)
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    rows = [f"{key} = {_shown(item)}{end_of_line}" for key, item in value.items()]
    start = _header_line(lines, keys)
    if start is None:
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += end_of_line
        space = [end_of_line] if "".join(lines).strip() else []
        return "".join([*lines, *space, f"[{'.'.join(keys)}]{end_of_line}", *rows])
    if not lines[start].endswith("\n"):
        lines[start] += end_of_line
    end = _next_header(lines, start)
    kept = _without_keys(lines[start + 1 : end], {*value, *drop})
    return "".join([*lines[: start + 1], *rows, *kept, *lines[end:]])


def without_table(text: str, keys: tuple[str, ...]) -> str:
    """The text without the table and the tables below it."""
    lines = text.splitlines(keepends=True)
    while True:
        start = _header_line(lines, keys, below=True)
        if start is None:
            return "".join(lines)
        end = _next_header(lines, start)
        while start > 0 and not lines[start - 1].strip() and (end == len(lines) or not lines[end - 1].strip()):
            start -= 1
        # A comment right above the next table belongs to that table.
        while end > start + 1 and end < len(lines) and lines[end - 1].lstrip().startswith("#"):
            end -= 1
        del lines[start:end]


def _header_line(lines: list[str], keys: tuple[str, ...], *, below: bool = False) -> int | None:
    names = r"\s*\.\s*".join(rf"""(?:{re.escape(key)}|"{re.escape(key)}"|'{re.escape(key)}')""" for key in keys)
    deeper = r"(?:\s*\.[^\]]*)?" if below else ""
    pattern = re.compile(rf"^\s*\[\s*{names}{deeper}\s*\]\s*(?:#.*)?$")
    return next((at for at, line in enumerate(lines) if pattern.match(line.rstrip("\r\n"))), None)


def _next_header(lines: list[str], start: int) -> int:
    at = start + 1
    while at < len(lines):
        if _HEADER.match(lines[at]) and _decodes("".join(lines[start + 1 : at])):
            return at
        at += 1
    return len(lines)


def _without_keys(lines: list[str], names: set[str]) -> list[str]:
    kept: list[str] = []
    at = 0
    while at < len(lines):
        key = re.match(r"""\s*["']?([\w-]+)["']?\s*=""", lines[at])
        size = 1
        if key:
            # A value may go on over several lines: it ends where the lines so far are whole TOML.
            while at + size < len(lines) and not _decodes("".join(lines[at : at + size])):
                size += 1
        if key is None or key[1] not in names:
            kept += lines[at : at + size]
        at += size
    return kept


def _decodes(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _shown(value: Any) -> str:
    # A JSON string or list of strings is also TOML.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
