"""What a command is, and the flags that commands share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sightline_core.config import Config


class Group(StrEnum):
    """Under which heading `sightline --help` lists a command."""

    FIND = "find code"
    INDEX = "the index"
    AGENTS = "for agents"
    SELF = "sightline"


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its flags and what it does."""

    name: str
    help: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    example: str = ""
    group: Group = Group.SELF


def add_common_flags(parser: argparse.ArgumentParser) -> None:
    """The flags every command has."""
    parser.add_argument("--config", metavar="FILE", help="configuration file to use in place of the user's")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="log more (twice: everything)")


def add_workspace_flags(parser: argparse.ArgumentParser, *, positional: bool) -> None:
    """Which workspace a command is about, and how it prints."""
    if positional:
        parser.add_argument("workspace", nargs="?", default=".", metavar="PATH", help="the workspace (default: here)")
    else:
        parser.add_argument("--workspace", default=".", metavar="PATH", help="the workspace (default: here)")
    parser.add_argument("--json", action="store_true", help="print the tool's structured content")


def config_of(args: argparse.Namespace, **flags: Any) -> Config:
    """The effective configuration of a command; flags that are None were not given."""
    from sightline_core.config import load_config

    given = {key: value for key, value in flags.items() if value is not None}
    return load_config(environment=os.environ, file=args.config, flags=given)


def set_up_logging(verbose: int, *, quiet: bool = False) -> None:
    """Logs go to stderr; warnings only unless asked for more, and when `quiet` not even these.

    A command that ends with its answer is quiet: what matters to a person stands in the answer or in the one line
    of its error.
    """
    import logging

    level = {0: logging.ERROR if quiet else logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG)
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True)
    # Libraries chat at INFO; their warnings are enough unless everything was asked for.
    if verbose < 2:
        for name in ("mcp", "uvicorn", "watchdog", "asyncio"):
            logging.getLogger(name).setLevel(logging.WARNING)
