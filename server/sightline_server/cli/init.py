"""`sightline init`: set a client up, show what would change, or take it back."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from sightline_server.cli.command import Command, Group, config_of

if TYPE_CHECKING:
    from sightline_server.client_setup.clients import Client
    from sightline_server.client_setup.config_file import Change

_NAMES = ("claude-code", "codex", "gemini", "cursor", "vscode")


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("client", choices=_NAMES, help="the client to set up")
    parser.add_argument(
        "--scope", choices=("user", "project"), help="for you, or for a project's team (a file in it)"
    )
    parser.add_argument("--workspace", metavar="PATH", help="always serve this directory (default: the open project)")
    parser.add_argument(
        "--project", default=".", metavar="DIR", help="the project of --scope project (default: here)"
    )
    parser.add_argument(
        "--url", metavar="URL", help="connect to a server that runs, such as http://127.0.0.1:9100/mcp"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-n", "--dry-run", action="store_true", help="show what would change as a diff")
    what.add_argument("--print", action="store_true", help="print the entry only, for pasting")
    parser.add_argument("--undo", action="store_true", help="bring back what was there before")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _run(args: argparse.Namespace) -> int:
    from sightline_core.path_text import real_directory
    from sightline_server.client_setup.clients import Scope, client_named, entry_for, file_of
    from sightline_server.client_setup.config_file import apply, planned, undone

    client = client_named(args.client)
    scope = Scope(args.scope) if args.scope else client.default_scope
    project = real_directory(args.project)
    workspace = real_directory(args.workspace) if args.workspace is not None else None
    _check_url(args.url)
    path = file_of(client, scope, project, os.environ)
    entry = entry_for(client, scope, workspace, project, args.url)
    if args.print:
        _print_entry(client, entry, as_json=args.json)
        return 0
    data_dir = config_of(args).data_dir
    change = undone(client, path, data_dir) if args.undo else planned(client, path, entry)
    if not args.dry_run:
        apply(change, data_dir, undo=args.undo)
    if args.json:
        body = {
            "client": client.name,
            "scope": scope.value,
            "file": path,
            "changed": change.is_needed,
            "written": change.is_needed and not args.dry_run,
            "entry": None if args.undo else entry,
        }
        sys.stdout.write(json.dumps(body) + "\n")
    else:
        sys.stdout.write(_told(change, client, dry_run=args.dry_run, undo=args.undo))
    return 0


def _check_url(url: str | None) -> None:
    if url is None or url.startswith(("http://", "https://")):
        return
    from sightline_core.errors import ErrorCode, SightlineError

    raise SightlineError(
        ErrorCode.INVALID_INPUT, "--url must begin with http:// or https://.", hint="Try http://127.0.0.1:9100/mcp."
    )


def _print_entry(client: Client, entry: dict[str, Any], *, as_json: bool) -> None:
    from sightline_server.client_setup import jsonc, toml_text
    from sightline_server.client_setup.clients import ENTRY_NAME

    keys = (client.section, ENTRY_NAME)
    if client.is_toml and not as_json:
        sys.stdout.write(toml_text.with_table("", keys, entry, ()))
    else:
        sys.stdout.write(jsonc.with_member("", keys, entry))


def _told(change: Change, client: Client, *, dry_run: bool, undo: bool) -> str:
    if not change.is_needed:
        return f"{change.path} has {'no entry of ours' if undo else 'the entry already'}; nothing to do.\n"
    if dry_run:
        return _diff(change) + "Nothing was written; run it again without --dry-run.\n"
    if undo:
        gone = "was removed" if change.after is None else "is as it was before"
        return f"{change.path} {gone}.\n"
    return f"{client.title} is set up in {change.path}.\n{client.next_step} Take it back with --undo.\n"


def _diff(change: Change) -> str:
    lines = difflib.unified_diff(
        (change.before or "").splitlines(),
        (change.after or "").splitlines(),
        change.path if change.before is not None else os.devnull,
        change.path if change.after is not None else os.devnull,
        lineterm="",
    )
    return "".join(f"{line}\n" for line in lines)


INIT = Command(
    "init",
    "connect a client to this server",
    _configure,
    _run,
    example="sightline init claude-code",
    group=Group.AGENTS,
)
