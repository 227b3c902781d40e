"""Lines that define a macro, found without a parser: headers of registers are made of hundreds of thousands.

**Invariant**: in doubt a line is left to the parser. One that is found here begins a line that continues no other,
stands in no comment, and ends where it ends for the parser, behind its line break.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_OPENS, _CLOSES = b"/*", b"*/"


class Macro(NamedTuple):
    """A definition from `#` to behind its line break, in bytes; `row` and `end_row` count lines from zero.

    A tuple, because a file may have a hundred thousand of them.
    """

    start: int
    end: int
    row: int
    end_row: int
    name_start: int
    name_end: int
    has_parameters: bool


def plain_macros(source: bytes, pattern: re.Pattern[bytes] | None, least: int = 1) -> list[Macro]:
    """The macros of a source in order of position; none without a `pattern`, or when there are less than `least`.

    It begins with the line break before a definition and ends before the one that ends it. Its groups are the
    definition, the name in it, and the parenthesis of parameters, which may be empty.
    """
    macros: list[Macro] = []
    if pattern is None:
        return macros
    add, count = macros.append, source.count
    # Up to `checked`, which is in no comment, the lines were counted.
    checked, row = 0, 0
    for found in pattern.finditer(source):
        start, last = found.span(1)
        if start != checked:
            if start < checked:
                continue
            opened = source.rfind(_OPENS, checked, start)
            if opened >= 0 and source.rfind(_CLOSES, opened + len(_OPENS), start) < 0:
                # Perhaps in a comment. If so, it ends at the next mark that closes one.
                closing = source.find(_CLOSES, start)
                if closing < 0:
                    break
                closing += len(_CLOSES)
                row += count(b"\n", checked, closing)
                checked = closing
                continue
            row += count(b"\n", checked, start)
        checked = last + 1
        end_row = row + count(b"\n", start, checked)
        name_start, name_end = found.span(2)
        add(Macro(start, checked, row, end_row, name_start, name_end, bool(found[3])))
        row = end_row
    return macros if len(macros) >= least else []


def stretches(macros: Sequence[Macro]) -> dict[tuple[int, int], int]:
    """Where macros stand, those that follow each other as one, and the row in which each stretch begins."""
    joined: dict[tuple[int, int], int] = {}
    begin = end = row = -1
    for macro in macros:
        if macro.start != end:
            if end >= 0:
                joined[begin, end] = row
            begin, row = macro.start, macro.row
        end = macro.end
    if end >= 0:
        joined[begin, end] = row
    return joined
