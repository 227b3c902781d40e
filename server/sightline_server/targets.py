"""What a navigation call is about: a place in a file, given by position, by pattern or by name.

**Invariant**: caller text becomes a `Target` here and nowhere else; its position lies in the file as it is on disk.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import anyio.to_thread
from pydantic import Field

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.paths import RepoPath, RepoRoot
from sightline_core.text import LineIndex
from sightline_core.types import Note, Position
from sightline_indexer.records import SymbolRecord
from sightline_indexer.secrets import is_secret
from sightline_indexer.workspace_index import WorkspaceIndex
from sightline_lsp.texts import Texts
from sightline_search.locate import holes_of
from sightline_server.envelope import WireModel
from sightline_server.symbol_lookup import choose_symbol, definition_at
from sightline_server.tools.base import Args, Call

CURSOR_MARK = "@@"
_IDENTIFIER = re.compile(r"[^\W\d][\w$]*|\$[\w$]+")


class TargetArgs(Args):
    """A target: `path` with `line` and `column`, `path` with `pattern`, or `symbol`."""

    symbol: Annotated[
        str,
        Field(
            max_length=DEFAULT_LIMITS.max_target_pattern_chars,
            description="A name: bare, dotted or Type::method; `path` and `line` narrow it down.",
        ),
    ] = ""
    path: Annotated[str, Field(description="A file, relative to the workspace.")] = ""
    line: Annotated[int | None, Field(ge=1, description="1-based line in `path`.")] = None
    column: Annotated[int | None, Field(ge=1, description="1-based column in code points.")] = None
    pattern: Annotated[
        str,
        Field(
            max_length=DEFAULT_LIMITS.max_target_pattern_chars,
            description="Text that occurs once in `path`, with @@ where the cursor is, as in `return @@total(x)`.",
        ),
    ] = ""


@dataclass(frozen=True, slots=True)
class Target:
    """A place in a file; `name` is the identifier there, `record` its definition when the index knows one there.

    `holes` is what the index could not see when it resolved a name.
    """

    path: RepoPath
    position: Position
    name: str
    record: SymbolRecord | None = None
    holes: tuple[Note, ...] = ()


class TargetModel(WireModel):
    """What the target was resolved to."""

    path: str
    line: int
    column: int
    symbol: str | None = None


def target_model(target: Target) -> TargetModel:
    """The target as it is shown."""
    name = target.record.symbol.qualified_name if target.record is not None else target.name
    return TargetModel(
        path=target.path.relative, line=target.position.line, column=target.position.column, symbol=name or None
    )


async def resolve_target(call: Call, args: TargetArgs) -> Target:
    """The place that the arguments mean.

    Raises `invalid_input`, `file_not_found`, `path_not_allowed`, `symbol_not_found` or `ambiguous_symbol`.
    """
    index = await call.index()
    door = _Door(call.require_workspace().root, call.services.language_servers.pool.texts)
    return await anyio.to_thread.run_sync(_resolve, door, index, args, call.limits)


@dataclass(frozen=True, slots=True)
class _Door:
    """A root with the texts that were read below it; what is read here, the language server is asked about next."""

    root: RepoRoot
    texts: Texts

    def lines(self, path: RepoPath) -> LineIndex:
        """The lines of a file as it is on disk; raises what `RepoRoot.read_file` raises."""
        return self.texts.read(self.root, path).lines


def _resolve(door: _Door, index: WorkspaceIndex, args: TargetArgs, limits: Limits) -> Target:
    if args.symbol:
        if args.pattern:
            raise _unclear("`symbol` and `pattern` are two ways to name one target.")
        return _by_symbol(door, index, args, limits)
    if not args.path:
        raise _unclear("No target was given.")
    path = readable_path(door.root, args.path)
    text = door.lines(path)
    if args.pattern:
        position = _by_pattern(text, args.pattern)
    elif args.line is not None and args.column is not None:
        position = _checked(text, args.line, args.column)
    else:
        raise _unclear("`path` alone is no place.")
    name = name_at(text.line(position.line), position.column)
    return Target(path, position, name, definition_at(index, path.relative, position, name))


def readable_path(root: RepoRoot, text: str) -> RepoPath:
    """The path that caller text means; raises `path_not_allowed` for secrets, too."""
    path = root.resolve(text)
    if may_hold_secrets(path.relative):
        raise SightlineError(
            ErrorCode.PATH_NOT_ALLOWED, f"'{path.relative}' may hold secrets.", hint="Name a source file."
        )
    return path


@lru_cache(maxsize=4096)
def may_hold_secrets(relative: str) -> bool:
    """True for files whose content is never shown."""
    folder, _, name = relative.rpartition("/")
    return is_secret(name, folder)


def name_at(line: str, column: int) -> str:
    """The identifier at or right before a column, empty when there is none."""
    for match in _IDENTIFIER.finditer(line):
        if match.start() < column <= match.end() + 1:
            return match[0]
    return ""


def _by_symbol(door: _Door, index: WorkspaceIndex, args: TargetArgs, limits: Limits) -> Target:
    relative = door.root.resolve(args.path).relative if args.path else ""
    with index.snapshot() as snapshot:
        record = choose_symbol(snapshot, args.symbol, relative, args.line, limits)
        holes = holes_of(snapshot)
    path = readable_path(door.root, record.path)
    symbol = record.symbol
    position = _find_name(door.lines(path), symbol.name, symbol.name_position)
    if position is None:
        raise SightlineError(
            ErrorCode.SYMBOL_NOT_FOUND,
            f"'{args.symbol}' was in '{record.path}' when it was indexed and is gone.",
            hint="Bring the index up to date with sync_repo.",
        )
    return Target(path, position, symbol.name, record, holes)


def _find_name(text: LineIndex, name: str, indexed: Position) -> Position | None:
    """Where a definition's name stands now: where it was, else on the nearest line that holds it."""
    if text.line(indexed.line)[indexed.column - 1 :].startswith(name):
        return indexed
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    lines = (text.line_of(match.start()) for match in word.finditer(text.text))
    nearest = min(lines, key=lambda line: abs(line - indexed.line), default=None)
    if nearest is None:
        return None
    match = word.search(text.line(nearest))
    return Position(nearest, match.start() + 1) if match else None


def _by_pattern(text: LineIndex, pattern: str) -> Position:
    if pattern.count(CURSOR_MARK) != 1:
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            f"`pattern` needs exactly one {CURSOR_MARK}, where the cursor is.",
            hint=f"For example `def {CURSOR_MARK}total`.",
        )
    if "\r\n" in text.text:
        pattern = pattern.replace("\r\n", "\n").replace("\n", "\r\n")
    before, _, after = pattern.partition(CURSOR_MARK)
    wanted = before + after
    if not wanted.strip():
        raise _unclear("`pattern` holds nothing beside the cursor.")
    starts = _occurrences(text.text, wanted)
    if len(starts) != 1:
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            f"The pattern occurs {len(starts)} times in the file, and must occur once.",
            hint="Take more of the line in, or give `line` and `column`." if starts else "Copy it from the file.",
            data={"matches": len(starts), "lines": [text.line_of(start) for start in starts[:10]]},
        )
    offset = starts[0] + len(before)
    return Position(text.line_of(offset), text.column_of(offset))


def _occurrences(text: str, wanted: str) -> list[int]:
    starts: list[int] = []
    at = text.find(wanted)
    while at >= 0:
        starts.append(at)
        at = text.find(wanted, at + 1)
    return starts


def _checked(text: LineIndex, line: int, column: int) -> Position:
    if line > text.line_count:
        raise SightlineError(
            ErrorCode.INVALID_INPUT, f"The file has {text.line_count} lines, not {line}.", hint="Lines begin with 1."
        )
    width = len(text.line(line))
    if column > width + 1:
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            f"Line {line} has {width} characters, so there is no column {column}.",
            hint="Columns begin with 1 and count code points.",
        )
    return Position(line, column)


def _unclear(message: str) -> SightlineError:
    return SightlineError(
        ErrorCode.INVALID_INPUT,
        message,
        hint=f"Give `symbol`; or `path` with `line` and `column`; or `path` with `pattern` holding {CURSOR_MARK}.",
    )
