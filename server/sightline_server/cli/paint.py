"""Colour on a terminal, plain text elsewhere, and lines that fit."""

from __future__ import annotations

import os
import re
import shutil
from typing import TextIO

from sightline_core.text import display_width

_SEQUENCE = re.compile(r"\x1b\[[0-9;]*m")


def is_live(stream: TextIO) -> bool:
    """Whether somebody looks at the stream on a terminal that knows colours and can go back in a line."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class Paint:
    """How one stream is written to; honours NO_COLOR."""

    def __init__(self, stream: TextIO) -> None:
        is_terminal = is_live(stream)
        self._colour = is_terminal and not os.environ.get("NO_COLOR")
        self._width = shutil.get_terminal_size().columns if is_terminal else 0

    def path(self, text: str) -> str:
        """A path."""
        return self._in("35", text)

    def number(self, value: object) -> str:
        """A line number."""
        return self._in("32", str(value))

    def kind(self, text: str) -> str:
        """The kind of a symbol."""
        return self._in("36", text)

    def dim(self, text: str) -> str:
        """What matters less."""
        return self._in("2", text)

    def match(self, text: str, wanted: str) -> str:
        """Text with the first place of what was looked for in bold."""
        at = text.find(wanted) if wanted else -1
        if at < 0 or not self._colour:
            return text
        return text[:at] + self._in("1;31", wanted) + text[at + len(wanted) :]

    def fit(self, line: str) -> str:
        """A line cut to the width of the terminal; colours take no room."""
        plain = _SEQUENCE.sub("", line)
        if not self._width or display_width(plain) <= self._width:
            return line
        kept: list[str] = []
        room = self._width - 1
        for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
            if _SEQUENCE.fullmatch(piece):
                kept.append(piece)
                continue
            taken = _prefix(piece, room)
            kept.append(taken)
            room -= display_width(taken)
        return "".join(kept) + "…"

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text


def _prefix(text: str, cells: int) -> str:
    width = 0
    for at, character in enumerate(text):
        width += display_width(character)
        if width > cells:
            return text[:at]
    return text
