"""The argument parser, derived from the table of commands."""

from __future__ import annotations

import argparse
import sys

from sightline_core.version import __version__
from sightline_server.cli.command import Command, Group, add_common_flags
from sightline_server.cli.completions import COMPLETIONS
from sightline_server.cli.config import CONFIG
from sightline_server.cli.daemon import DAEMON
from sightline_server.cli.doctor import DOCTOR
from sightline_server.cli.index import INDEX, SYNC
from sightline_server.cli.init import INIT
from sightline_server.cli.navigate import CALLERS, DEF, DIAGNOSTICS, HOVER, REFS
from sightline_server.cli.search import LOCATE, OUTLINE, SEARCH
from sightline_server.cli.serve_mcp import SERVE_MCP
from sightline_server.cli.status import CANCEL, STATUS
from sightline_server.cli.told import visible
from sightline_server.cli.trust import TRUST

COMMANDS: tuple[Command, ...] = (
    INIT,
    SERVE_MCP,
    SEARCH,
    LOCATE,
    OUTLINE,
    INDEX,
    SYNC,
    STATUS,
    CANCEL,
    DOCTOR,
    DEF,
    REFS,
    CALLERS,
    HOVER,
    DIAGNOSTICS,
    TRUST,
    CONFIG,
    DAEMON,
    COMPLETIONS,
)
_EXAMPLE_CELLS = 46
_SCREEN_CELLS = 80


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line with the nearest flag."""

    def error(self, message: str) -> None:  # type: ignore[override]
        sys.stderr.write(f"{self.prog}: {visible(message)}{self._nearest(message)}. Try '{self.prog} --help'.\n")
        raise SystemExit(2)

    def _nearest(self, message: str) -> str:
        if "unrecognized arguments: " not in message:
            return ""
        given = message.split(": ", 1)[1].split()[0].split("=")[0]
        return _meant(given, [flag for action in self._actions for flag in action.option_strings])


def _meant(given: str, known: list[str]) -> str:
    from sightline_core.errors import nearest_name

    near = nearest_name(given, known)
    return f" (did you mean {near}?)" if near else ""


class _RootParser(_Parser):
    """The whole command line, whose help fits a screen: each command's own help has the rest."""

    def format_help(self) -> str:
        """Commands by group, then examples."""
        width = max(len(group) for group in Group)
        rows = [
            f"  {group.value:<{width}}  {'  '.join(command.name for command in COMMANDS if command.group is group)}"
            for group in Group
        ]
        examples = [_example_line(command) for command in COMMANDS if command.example]
        return "\n".join(
            [
                "usage: sightline COMMAND [options]",
                "",
                f"{self.description}",
                "",
                *rows,
                "",
                "examples:",
                *examples,
                "",
                "`sightline COMMAND --help` tells more, --version the version.",
                "Exit code: 0 something was found, 1 nothing was, 2 an error.",
                "",
            ]
        )


def _example_line(command: Command) -> str:
    line = f"  {command.example:<{_EXAMPLE_CELLS}}{command.help}"
    return line if len(line) <= _SCREEN_CELLS else f"  {command.example}"


def parse(argv: list[str]) -> argparse.Namespace:
    """The arguments of one command; ends the process on --help, --version and mistakes."""
    parser = build_parser()
    names = [command.name for command in COMMANDS]
    if argv and not argv[0].startswith("-") and argv[0] not in names:
        parser.error(f"there is no command {argv[0]!r}{_meant(argv[0], names)}")
    args, unknown = parser.parse_known_args(argv)
    if not hasattr(args, "command"):
        if unknown:
            parser.error(f"unrecognized arguments: {' '.join(unknown)}")
        parser.print_help(sys.stderr)
        raise SystemExit(2)
    if unknown:
        # Reported by the command's own parser, which knows its flags.
        args.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return args


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = _RootParser(
        prog="sightline",
        description="Indexed code search with language servers, for coding agents and people.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"sightline {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    for command in COMMANDS:
        sub = commands.add_parser(
            command.name,
            help=command.help,
            description=command.help[0].upper() + command.help[1:] + ".",
            epilog=f"example: {command.example}" if command.example else None,
            allow_abbrev=False,
        )
        add_common_flags(sub)
        command.configure(sub)
        sub.set_defaults(command=command, parser=sub)
    return parser
