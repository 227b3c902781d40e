"""`sightline def`, `refs`, `callers`, `hover` and `diagnostics`: the navigation tools for people."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable
from typing import Any

from sightline_server.cli.ask import call_on_workspace
from sightline_server.cli.command import Command, Group, add_workspace_flags
from sightline_server.cli.paint import Paint
from sightline_server.cli.told import for_people, seen_path, tell_error, visible

_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+):(?P<column>\d+)", re.DOTALL)
Body = dict[str, Any]
Show = Callable[[Body, Paint], list[str]]


def _configure_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help="a name such as Basket.total, or PATH:LINE:COLUMN")
    parser.add_argument("--path", help="where to look for the name: a file or folder of the workspace")
    add_workspace_flags(parser, positional=False)


def _configure_list(parser: argparse.ArgumentParser) -> None:
    _configure_target(parser)
    parser.add_argument("--limit", type=int, help="most places to print")


def _configure_callers(parser: argparse.ArgumentParser) -> None:
    _configure_list(parser)
    parser.add_argument(
        "--direction", choices=("incoming", "outgoing", "both"), help="who calls it, or whom it calls"
    )
    parser.add_argument("--depth", type=int, help="how many calls away to go")


def _configure_diagnostics(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files to check (default: those changed last)")
    parser.add_argument("--min-severity", choices=("error", "warning", "information", "hint"), help="leave out less")
    add_workspace_flags(parser, positional=False)


def _run_definition(args: argparse.Namespace) -> int:
    return _run(args, "go_to_definition", _target(args), _places)


def _run_references(args: argparse.Namespace) -> int:
    return _run(args, "find_references", _target(args), _places)


def _run_callers(args: argparse.Namespace) -> int:
    options = {"direction": args.direction, "depth": args.depth}
    return _run(args, "find_callers", _target(args) | options, _relatives)


def _run_hover(args: argparse.Namespace) -> int:
    return _run(args, "inspect_symbol", _target(args), _hover)


def _run_diagnostics(args: argparse.Namespace) -> int:
    paths = [os.path.abspath(path) for path in args.paths] or None
    return _run(args, "get_diagnostics", {"paths": paths, "min_severity": args.min_severity}, _findings)


def _target(args: argparse.Namespace) -> Body:
    """The arguments of a target: a place when it reads like one, else a name."""
    place = _PLACE.fullmatch(args.target)
    limit = {"limit": getattr(args, "limit", None)}
    if place is None:
        return {"symbol": args.target, "path": args.path, **limit}
    path = os.path.abspath(place["path"])
    return {"path": path, "line": int(place["line"]), "column": int(place["column"]), **limit}


def _run(args: argparse.Namespace, tool: str, arguments: Body, shown: Show) -> int:
    given = {key: value for key, value in arguments.items() if value is not None}
    body = call_on_workspace(args, tool, given)
    if "error" in body:
        return tell_error(body, as_json=args.json)
    lines = shown(body, Paint(sys.stdout))
    if args.json:
        sys.stdout.write(json.dumps(body, ensure_ascii=False) + "\n")
    else:
        for warning in body["metadata"].get("warnings", ()):
            sys.stderr.write(f"sightline: {for_people(warning['message'])}\n")
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0 if lines else 1


def _places(body: Body, paint: Paint) -> list[str]:
    return [f"{_where(body, place, paint)} {visible(place.get('text', ''))}".rstrip() for place in body["locations"]]


def _relatives(body: Body, paint: Paint) -> list[str]:
    return [
        f"{_where(body, item, paint)} {item['direction']} {item['depth']} {item['name']}{_call_lines(item)}"
        for item in body["items"]
    ]


def _call_lines(item: Body) -> str:
    return f" (calls: {', '.join(map(str, item['call_lines']))})" if "call_lines" in item else ""


def _hover(body: Body, paint: Paint) -> list[str]:
    if "hover" in body:
        return body["hover"].splitlines()
    lines: list[str] = []
    for found in body["definitions"]:
        shown = {"path": found["path"], "line": found["line"], "column": 1}
        lines += [f"{_where(body, shown, paint)} {found.get('signature', found['qualified_name'])}"]
        lines += [found["doc"]] if "doc" in found else []
    return lines


def _findings(body: Body, paint: Paint) -> list[str]:
    return [
        f"{_where(body, found, paint)} {found['severity']}: {_indented(found['message'])}"
        + (f" [{found['code']}]" if "code" in found else "")
        for found in body["diagnostics"]
    ]


def _indented(message: str) -> str:
    """A message of several lines, of which only the first begins at the margin."""
    return "\n    ".join(visible(line) for line in message.splitlines())


def _where(body: Body, place: Body, paint: Paint) -> str:
    """`path:line:column`, the path as it is seen from here."""
    return f"{paint.path(seen_path(body, place))}:{paint.number(place['line'])}:{place.get('column', 1)}"


DEF = Command(
    "def",
    "show where a name is defined",
    _configure_list,
    _run_definition,
    "sightline def src/app.py:12:8",
    group=Group.FIND,
)
REFS = Command(
    "refs",
    "list the uses of a name",
    _configure_list,
    _run_references,
    "sightline refs Basket.total",
    group=Group.FIND,
)
CALLERS = Command(
    "callers", "list who calls a function, or whom it calls", _configure_callers, _run_callers, group=Group.FIND
)
HOVER = Command("hover", "show type and documentation of a name", _configure_target, _run_hover, group=Group.FIND)
DIAGNOSTICS = Command(
    "diagnostics",
    "list what the language servers find wrong",
    _configure_diagnostics,
    _run_diagnostics,
    group=Group.FIND,
)
