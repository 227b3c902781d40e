"""`sightline search`, `locate` and `outline`: the search tools for people."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from sightline_server.cli.ask import call_on_workspace
from sightline_server.cli.command import Command, Group, add_workspace_flags
from sightline_server.cli.told import for_people, seen_path, tell_error, visible

if TYPE_CHECKING:
    from sightline_server.cli.paint import Paint

_MODES = ("auto", "text", "regex", "literal", "symbol", "path")
_KINDS_LEFT_UNSAID = ("text", "file")


def _configure_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help="a name, words, a path or an error; filters such as lang:go work")
    parser.add_argument("-m", "--mode", choices=_MODES, default="auto", help="how to read the query (default: auto)")
    parser.add_argument("-r", "--regex", dest="mode", action="store_const", const="regex", help="a pattern (RE2)")
    parser.add_argument("-F", "--literal", dest="mode", action="store_const", const="literal", help="exact text")
    parser.add_argument("-i", "--ignore-case", action="store_true", help="case does not count")
    parser.add_argument("--path", default="", metavar="GLOB", help="only files that match")
    parser.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="not these files (repeatable)")
    parser.add_argument("--no-tests", action="store_true", help="leave test files out")
    parser.add_argument("-c", "--count", action="store_true", help="only how many matches each file has")
    parser.add_argument("-C", "--context", action="store_true", help="show the lines around each result")
    parser.add_argument("--explain", action="store_true", help="say how the query was read and scored")
    _add_narrowing(parser)


def _configure_locate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="bare or qualified: Foo, foo.bar, Foo::bar")
    parser.add_argument("--path", default="", metavar="GLOB", help="only files that match")
    _add_narrowing(parser)


def _configure_outline(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="the file")
    parser.add_argument("--top", action="store_true", help="only the outermost definitions")
    add_workspace_flags(parser, positional=False)


def _add_narrowing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-l", "--language", default="", metavar="NAME", help="only this language")
    parser.add_argument("-k", "--kind", metavar="KIND", help="only symbols of this kind, such as class or function")
    parser.add_argument("-n", "--limit", type=int, default=10, metavar="N", help="how many results (default: 10)")
    parser.add_argument("--enrich", action="store_true", help="ask language servers too, which takes longer")
    add_workspace_flags(parser, positional=False)


def _run_search(args: argparse.Namespace) -> int:
    arguments: dict[str, Any] = {
        "query": " ".join(args.query),
        "mode": args.mode,
        "path": args.path,
        "exclude": args.exclude,
        "language": args.language,
        "kind": args.kind,
        "case_sensitive": False if args.ignore_case else None,
        "include_tests": not args.no_tests,
        "limit": args.limit,
        "count_only": args.count,
        "detail_level": "context" if args.context else "signature",
        "enrich": args.enrich,
        "explain": args.explain,
    }
    return _answer(args, "search_code", arguments)


def _run_locate(args: argparse.Namespace) -> int:
    arguments = {
        "name": args.name,
        "path": args.path,
        "language": args.language,
        "kind": args.kind,
        "limit": args.limit,
        "enrich": args.enrich,
    }
    return _answer(args, "locate_symbol", arguments)


def _run_outline(args: argparse.Namespace) -> int:
    # A path that leads somewhere from here means that; else it is one of the workspace, as tools name it.
    path = os.path.abspath(args.path) if os.path.exists(args.path) else args.path
    return _answer(args, "get_file_outline", {"path": path, "depth": "top" if args.top else "all"})


def _answer(args: argparse.Namespace, tool: str, arguments: dict[str, Any]) -> int:
    given = {key: value for key, value in arguments.items() if value is not None}
    body = call_on_workspace(args, tool, given)
    if "error" in body:
        return tell_error(body, as_json=args.json)
    if args.json:
        sys.stdout.write(json.dumps(body, ensure_ascii=False) + "\n")
    else:
        _print(body)
    found = body.get("results") or body.get("values") or body.get("counts") or body.get("symbols")
    return 0 if found else 1


def _print(body: dict[str, Any]) -> None:
    from sightline_server.cli.paint import Paint

    paint = Paint(sys.stdout)
    lines: list[str] = []
    for count in body.get("counts", []):
        lines.append(f"{paint.path(seen_path(body, count))}:{count['matches']}")
    for result in body.get("results") or body.get("values", []):
        lines += _result_lines(body, result, paint)
    lines += _symbol_lines(body.get("symbols", []), paint, 0)
    sys.stdout.write("".join(line + "\n" for line in lines))
    for line in _remarks(body):
        sys.stderr.write(f"{line}\n")


def _result_lines(body: dict[str, Any], result: dict[str, Any], paint: Paint) -> list[str]:
    where = f"{paint.path(seen_path(body, result))}:{paint.number(result['line'])}"
    text = visible(result.get("signature", result["name"]).strip())
    inside = f"  {paint.dim('in ' + result['symbol'])}" if result.get("symbol") else ""
    lines = [paint.fit(f"{where}  {_kind(result, text, paint)}{paint.match(text, result['name'])}{inside}")]
    for line in result.get("lines", []):
        mark = ">" if line["line"] == result["line"] else " "
        number = paint.dim(format(line["line"], "5"))
        lines.append(paint.fit(f"  {mark}{number} {paint.match(line['text'], result['name'])}"))
    if "score_parts" in result:
        lines.append(paint.dim("        " + ", ".join(f"{k} {v:g}" for k, v in result["score_parts"].items())))
    return lines


def _kind(found: dict[str, Any], text: str, paint: Paint) -> str:
    """The kind, unless it goes without saying or the text says it: `class Basket`."""
    kind: str = found["kind"]
    return "" if kind in _KINDS_LEFT_UNSAID or kind in text.split() else paint.kind(kind) + " "


def _symbol_lines(symbols: list[dict[str, Any]], paint: Paint, depth: int) -> list[str]:
    lines: list[str] = []
    for symbol in symbols:
        text = visible(symbol.get("signature") or symbol["name"])
        number = paint.number(format(symbol["line"], "5"))
        lines.append(paint.fit(f"{number}  {'  ' * depth}{_kind(symbol, text, paint)}{text}"))
        lines += _symbol_lines(symbol.get("children", []), paint, depth + 1)
    return lines


def _remarks(body: dict[str, Any]) -> list[str]:
    remarks: list[str] = []
    if body.get("why"):
        remarks.append(f"read as {body['query_intent']}: {body['why']}")
    if body.get("did_you_mean"):
        remarks.append("did you mean: " + ", ".join(body["did_you_mean"]))
    metadata = body["metadata"]
    if metadata["result_completeness"] != "complete":
        remarks.append(f"the answer is {metadata['result_completeness']}:")
        remarks += [f"  {for_people(warning['message'])}" for warning in metadata.get("warnings", [])]
    if metadata["freshness_status"] != "fresh" and metadata["indexing_status"] == "ready":
        remarks.append("the index may be behind the disk; bring it up with: sightline sync")
    return remarks


SEARCH = Command(
    "search",
    "search names, text and questions",
    _configure_search,
    _run_search,
    example='sightline search "where are tokens refreshed"',
    group=Group.FIND,
)
LOCATE = Command(
    "locate",
    "find where a name is defined",
    _configure_locate,
    _run_locate,
    example="sightline locate Parser.parse",
    group=Group.FIND,
)
OUTLINE = Command("outline", "list what a file defines", _configure_outline, _run_outline, group=Group.FIND)
