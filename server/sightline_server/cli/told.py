"""What a tool says, told to people: commands in place of tools, one line for one thing, paths as seen from here.

**Invariant**: nothing that a repository chose reaches the terminal as a control character.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any

# The command for each tool and argument that a message may name.
COMMANDS = {
    "search_code and mode=path": "`sightline search --mode path`",
    "mode=literal": "--literal",
    "search_code": "`sightline search`",
    "locate_symbol": "`sightline locate`",
    "get_file_outline": "`sightline outline`",
    "index_repo with force=true": "`sightline index --force`",
    "index_repo": "`sightline index`",
    "sync_repo": "`sightline sync`",
    "index_status": "`sightline status`",
    "health_check": "`sightline status`",
    "restart_lsp_server": "`sightline daemon restart`",
}
# Reasons for leaving a file out, in words; one that is not here is shown as it is called.
REASONS = {
    "ignored": "ignored by git",
    "hidden": "hidden",
    "built_in": "in folders that are never code",
    "cache": "in caches",
    "too_large": "too large",
    "too_deep": "too deep",
    "secret": "secrets",
    "symlink": "links",
    "not_regular": "not regular files",
    "bad_name": "unreadable names",
    "unreadable": "not readable",
    "duplicate": "seen twice",
    "binary": "binary",
    "parse": "without symbols, since parsing failed",
}
_SHOWN_COUNTS = 8
# A name in quotes is one that the user gave.
_NAMED = re.compile(rf"(?<![\w'`])(?:{'|'.join(map(re.escape, COMMANDS))})(?![\w'`])")


def for_people(message: str) -> str:
    """A message with the commands that do what the tools in it do."""
    return _NAMED.sub(lambda found: COMMANDS[found[0]], message)


def visible(text: str) -> str:
    """Text on one line, with what a terminal would obey spelled out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def seen_path(body: dict[str, Any], place: dict[str, Any]) -> str:
    """The path of a result as it is seen from the current directory, so that it can be opened."""
    root: str = place.get("root") or body["metadata"]["workspace"]
    absolute = os.path.join(root, place["path"])
    if place.get("external"):
        return visible(absolute)
    try:
        here = os.getcwd()
    except OSError:
        return visible(absolute)
    inside = os.path.commonpath([here, root]) in (here, root)
    return visible(os.path.relpath(absolute, here) if inside else absolute)


def counted(table: Mapping[str, int], *, total: int = 0) -> str:
    """Languages or reasons with their counts, the largest first; what is missing of the total is `other`."""
    ordered = sorted(((count, name) for name, count in table.items() if name), key=lambda item: -item[0])
    shown = [f"{count:,} {REASONS.get(name, name)}" for count, name in ordered[:_SHOWN_COUNTS]]
    rest = max(total, sum(table.values())) - sum(count for count, _ in ordered[:_SHOWN_COUNTS])
    if rest:
        shown.append(f"{rest:,} other")
    return ", ".join(shown) or "none"


def tell_error(body: dict[str, Any], *, as_json: bool) -> int:
    """Print a failed call: its line on stderr, with --json also its body on stdout. Returns the exit code."""
    error = body["error"]
    if as_json:
        sys.stdout.write(json.dumps(body, ensure_ascii=False) + "\n")
    sys.stderr.write(f"sightline: {visible(for_people(error['message']))}{_candidates(error)}\n")
    return 2


def _candidates(error: dict[str, Any]) -> str:
    """The places that an ambiguous name may mean, one to a line."""
    candidates: list[dict[str, Any]] = error.get("data", {}).get("candidates", [])
    return "".join(f"\n  {visible(one['path'])}:{one['line']}: {one['kind']} {one['symbol']}" for one in candidates)
