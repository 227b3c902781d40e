"""`codebase_map`: the folders, files and main definitions of a workspace within a token budget."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from pydantic import Field

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.types import Note
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.records import FileRecord
from sightline_indexer.store import Snapshot
from sightline_search.locate import holes_of
from sightline_search.tokens import estimate_tokens
from sightline_server.completeness import Facts, ToolKind
from sightline_server.syntactic import in_snapshot
from sightline_server.tools.base import Answer, Args, Call, Result, Tool, Toolset

_FOREIGN = FileTrait.GENERATED | FileTrait.VENDORED | FileTrait.MINIFIED
_INDENT = "  "


class CodebaseMapArgs(Args):
    """Which part, and how long."""

    path: Annotated[str, Field(description="A folder; the whole workspace when omitted.")] = ""
    max_tokens: Annotated[
        int,
        Field(
            ge=DEFAULT_LIMITS.map_min_tokens,
            le=DEFAULT_LIMITS.map_max_tokens,
            description="Most tokens of the map.",
        ),
    ] = DEFAULT_LIMITS.map_tokens
    include_tests: Annotated[bool, Field(description="Show test files, too.")] = False


class CodebaseMapResult(Result):
    """The map as an indented text: folders with their number of files, files with their main definitions."""

    map: str
    files: Annotated[int, Field(description="Files in that part.")]
    shown_files: Annotated[int, Field(description="Files that have a line of their own in the map.")]
    languages: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Map:
    text: str
    files: int
    shown: int
    languages: dict[str, int]
    cuts: tuple[Note, ...]
    holes: tuple[Note, ...]


async def run(call: Call, args: CodebaseMapArgs) -> Answer[CodebaseMapResult]:
    """Draw the map from one snapshot."""
    root = call.require_workspace().root
    folder = root.resolve(args.path).relative if args.path else ""

    def nothing(holes: tuple[Note, ...]) -> _Map:
        raise SightlineError(ErrorCode.INDEX_NOT_READY, holes[0].message)

    drawn = await in_snapshot(call, partial(_draw, folder, args, call.limits), nothing)
    result = CodebaseMapResult(map=drawn.text, files=drawn.files, shown_files=drawn.shown, languages=drawn.languages)
    return Answer(result, Facts(cuts=drawn.cuts, holes=drawn.holes))


def _draw(folder: str, args: CodebaseMapArgs, limits: Limits, snapshot: Snapshot) -> _Map:
    prefix = f"{folder}/" if folder else ""
    files = [file for file in snapshot.files() if file.path.startswith(prefix)]
    if folder and not files:
        raise SightlineError(
            ErrorCode.FILE_NOT_FOUND, f"There is no indexed file below '{folder}'.", hint="Name a folder."
        )
    drawable = [file for file in files if _is_drawn(file, include_tests=args.include_tests)]
    lines = _folder_lines(files, prefix, args.max_tokens // 3)
    used = sum(estimate_tokens(line) + 1 for line in lines.values())
    shown = 0
    # Files with the most definitions first: they say most about a code base.
    for file in sorted(drawable, key=lambda file: (-file.symbol_count, file.path)):
        text = _file_text(snapshot, file, limits)
        indent = _INDENT * (file.path[len(prefix) :].count("/"))
        line = indent + text
        parents = _missing_parents(file.path, prefix, lines)
        cost = estimate_tokens(line) + 1 + sum(estimate_tokens(parent) + 1 for parent in parents.values())
        if used + cost > args.max_tokens:
            break
        lines.update(parents)
        lines[file.path] = line
        used += cost
        shown += 1
    text = "\n".join(lines[path] for path in sorted(lines, key=_tree_order))
    languages = Counter(file.language for file in files if file.language)
    left_out = len(drawable) - shown
    message = f"{left_out} files with definitions have no line; raise `max_tokens` or name a folder in `path`."
    cuts = (Note("token_budget", message),) if left_out else ()
    return _Map(text, len(files), shown, dict(languages.most_common()), cuts, holes_of(snapshot))


def _is_drawn(file: FileRecord, *, include_tests: bool) -> bool:
    if file.traits & _FOREIGN or not file.symbol_count:
        return False
    return include_tests or FileTrait.TEST not in file.traits


def _folder_lines(files: list[FileRecord], prefix: str, budget: int) -> dict[str, str]:
    """Folders with their number of files, upper levels and larger ones first, within the budget."""
    counts: Counter[str] = Counter()
    for file in files:
        parts = file.path[len(prefix) :].split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            counts[prefix + "/".join(parts[:depth]) + "/"] += 1
    lines: dict[str, str] = {}
    used = 0
    for path, count in sorted(counts.items(), key=lambda item: (item[0].count("/"), -item[1], item[0])):
        line = _folder_line(path, prefix, count)
        used += estimate_tokens(line) + 1
        if used > budget:
            break
        lines[path] = line
    return lines


def _folder_line(path: str, prefix: str, count: int | None = None) -> str:
    inner = path[len(prefix) :].rstrip("/")
    files = f" ({count} files)" if count is not None else ""
    return f"{_INDENT * inner.count('/')}{inner.rsplit('/', 1)[-1]}/{files}"


def _missing_parents(path: str, prefix: str, lines: dict[str, str]) -> dict[str, str]:
    parts = path[len(prefix) :].split("/")[:-1]
    parents = [prefix + "/".join(parts[:depth]) + "/" for depth in range(1, len(parts) + 1)]
    return {parent: _folder_line(parent, prefix) for parent in parents if parent not in lines}


def _file_text(snapshot: Snapshot, file: FileRecord, limits: Limits) -> str:
    top = [record.symbol for record in snapshot.symbols_in(file) if not record.symbol.container]
    names = list(dict.fromkeys(symbol.name for symbol in top))
    shown = ", ".join(names[: limits.map_file_symbols])
    more = f", +{len(names) - limits.map_file_symbols}" if len(names) > limits.map_file_symbols else ""
    return f"{file.path.rsplit('/', 1)[-1]}: {shown}{more}"


def _tree_order(path: str) -> tuple[tuple[bool, str], ...]:
    """Folders before files at every level, each followed by what is in it."""
    parts = path.rstrip("/").split("/")
    is_folder = path.endswith("/")
    return tuple((number == len(parts) - 1 and not is_folder, part) for number, part in enumerate(parts))


CODEBASE_MAP = Tool(
    name="codebase_map",
    title="Codebase map",
    description=(
        "Draws the folders of the workspace or of one folder, and its main files with what they define, within "
        "max_tokens. A good first call in an unknown code base. For one file use get_file_outline, for code that "
        "answers a question get_code_context."
    ),
    toolset=Toolset.ANALYSIS,
    kind=ToolKind.INDEX,
    args=CodebaseMapArgs,
    result=CodebaseMapResult,
    run=run,
)
