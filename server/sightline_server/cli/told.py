"""What a tool says, told to people: commands in place of tools, one line on stderr."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

# The command for each tool and argument that a message may name.
COMMANDS = {
    "search_code and mode=path": "`sightline search --mode path`",
    "mode=literal": "--literal",
    "search_code": "`sightline search`",
    "locate_symbol": "`sightline locate`",
    "get_file_outline": "`sightline outline`",
    "index_repo": "`sightline index`",
    "sync_repo": "`sightline sync`",
    "index_status": "`sightline status`",
    "health_check": "`sightline status`",
    "restart_lsp_server": "`sightline daemon restart`",
}
# A name in quotes is one that the user gave.
_NAMED = re.compile(rf"(?<![\w'`])(?:{'|'.join(map(re.escape, COMMANDS))})(?![\w'`])")


def for_people(message: str) -> str:
    """A message with the commands that do what the tools in it do."""
    return _NAMED.sub(lambda found: COMMANDS[found[0]], message)


def tell_error(body: dict[str, Any], *, as_json: bool) -> int:
    """Print a failed call: its line on stderr, with --json also its body on stdout. Returns the exit code."""
    error = body["error"]
    if as_json:
        sys.stdout.write(json.dumps(body, ensure_ascii=False) + "\n")
    sys.stderr.write(f"sightline: {for_people(error['message'])}{_candidates(error)}\n")
    return 2


def _candidates(error: dict[str, Any]) -> str:
    """The places that an ambiguous name may mean, one to a line."""
    candidates: list[dict[str, Any]] = error.get("data", {}).get("candidates", [])
    return "".join(f"\n  {one['path']}:{one['line']}: {one['kind']} {one['symbol']}" for one in candidates)
