"""`sightline index` and `sightline sync`: bring an index up to date, with progress."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING

from sightline_server.cli.ask import job_on_workspace
from sightline_server.cli.command import Command, Group, add_workspace_flags

if TYPE_CHECKING:
    from sightline_core.progress import Progress


def _configure(parser: argparse.ArgumentParser) -> None:
    add_workspace_flags(parser, positional=True)
    parser.add_argument("--force", action="store_true", help="do it all again, trusting nothing that is stored")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, only the summary")


def _run_index(args: argparse.Namespace) -> int:
    return _run(args, full=True)


def _run_sync(args: argparse.Namespace) -> int:
    return _run(args, full=False)


def _run(args: argparse.Namespace, *, full: bool) -> int:
    from sightline_server.cli.progress_bar import ProgressBar

    _check_breadth(args.workspace)
    bar = ProgressBar()

    def show(progress: Progress) -> None:
        if not args.quiet:
            bar.show(progress)

    try:
        report = job_on_workspace(args, full=full, show=show)
    finally:
        bar.done()
    text = json.dumps(report["body"]) if args.json else "\n".join(report["lines"])
    sys.stdout.write(text + "\n")
    return 0 if report["published"] else 2


def _check_breadth(path: str) -> None:
    from sightline_core.errors import ErrorCode, SightlineError
    from sightline_server.workspaces import is_too_broad

    if path == "." and is_too_broad(path):
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            "This is the home directory or the root of the file system, which nobody means to index by accident.",
            hint=f"Go to a project, or name it: sightline index {os.getcwd()}",
        )


INDEX = Command(
    "index",
    "build the index of a workspace",
    _configure,
    _run_index,
    example="sightline index ~/src/project",
    group=Group.INDEX,
)
SYNC = Command("sync", "bring changed files into the index", _configure, _run_sync, group=Group.INDEX)
