"""A command's tool call: through the daemon that has the workspace open, else in this process.

**Invariant**: both ways give the same body. A command never starts a daemon, and a daemon never opens a workspace
for a command: what a person asks once is not watched for ever.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sightline_server.cli.command import config_of, set_up_logging

if TYPE_CHECKING:
    from sightline_core.config import Config
    from sightline_core.progress import Progress
    from sightline_server.daemon.link import Lines

Body = dict[str, Any]


def call_on_workspace(args: argparse.Namespace, tool: str, arguments: Body, *, catch_up: bool = True) -> Body:
    """The structured content of one call on the command's workspace, whose changes count unless `catch_up` is off."""
    with _linked(args) as (link, config):
        if link is not None:
            from sightline_server.daemon.client import ask_tool

            body = ask_tool(link, config, tool, arguments)
            if body is not None:
                return body
    import functools

    from sightline_server.cli.in_process import call_tool_on, run_on_workspace

    return run_on_workspace(args, functools.partial(call_tool_on, tool, arguments, catch_up=catch_up))


def job_on_workspace(args: argparse.Namespace, *, full: bool, show: Callable[[Progress], None]) -> Body:
    """How the job ended: `body`, `lines` and `published`; raises what it failed with."""
    with _linked(args) as (link, config):
        if link is not None:
            from sightline_server.daemon.client import ask_job

            report = ask_job(link, config, full=full, force=args.force, show=show)
            if report is not None:
                return report
    from sightline_server.cli.in_process import job_in_process

    return job_in_process(args, full=full, show=show)


@contextmanager
def status_source(args: argparse.Namespace) -> Generator[Callable[[], Body], None, None]:
    """A function that reads the status again and again, over one link where a daemon has the workspace open."""
    with _linked(args) as (link, config):

        def read() -> Body:
            from sightline_server.daemon.client import ask_tool

            body = ask_tool(link, config, "index_status", {}) if link is not None else None
            return body or call_on_workspace(args, "index_status", {}, catch_up=False)

        yield read


@contextmanager
def _linked(args: argparse.Namespace) -> Generator[tuple[Lines | None, Config], None, None]:
    # Nothing is logged on the way to a daemon; work in this process sets the log up itself.
    if args.verbose:
        set_up_logging(args.verbose, quiet=True)
    from sightline_core.path_text import real_directory

    config = config_of(args)
    link: Lines | None = None
    if config.daemon:
        from sightline_server.daemon.client import command_link

        link = command_link(config, real_directory(args.workspace))
    try:
        yield link, config
    finally:
        if link is not None:
            link.socket.close()
