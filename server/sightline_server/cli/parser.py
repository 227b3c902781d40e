"""The argument parser, derived from the table of commands."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any

from sightline_core.version import __version__
from sightline_server.cli.command import Command, Group, add_common_flags
from sightline_server.cli.told import visible

# Each command and the module of this package that has it, as a constant of the same name.
COMMANDS = {
    "init": "init",
    "serve-mcp": "serve_mcp",
    "search": "search",
    "locate": "search",
    "outline": "search",
    "index": "index",
    "sync": "index",
    "status": "status",
    "cancel": "status",
    "doctor": "doctor",
    "def": "navigate",
    "refs": "navigate",
    "callers": "navigate",
    "hover": "navigate",
    "diagnostics": "navigate",
    "trust": "trust",
    "config": "config",
    "daemon": "daemon",
    "completions": "completions",
}
_EXAMPLE_CELLS = 46
_SCREEN_CELLS = 80
_PROGRAM = "sightline"


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
        known = all_commands()
        width = max(len(group) for group in Group)
        rows = [
            f"  {group.value:<{width}}  {'  '.join(command.name for command in known if command.group is group)}"
            for group in Group
        ]
        examples = [_example_line(command) for command in known if command.example]
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


def load_command(name: str) -> Command:
    """The command of this name; imports its module and no other."""
    module = importlib.import_module(f"sightline_server.cli.{COMMANDS[name]}")
    return getattr(module, name.upper().replace("-", "_"))


def all_commands() -> tuple[Command, ...]:
    """Every command, in the order of the help."""
    return tuple(map(load_command, COMMANDS))


def parse(argv: list[str]) -> argparse.Namespace:
    """The arguments of one command; ends the process on --help, --version and mistakes."""
    if argv and argv[0] in COMMANDS:
        # By far the most calls: the other commands are neither imported nor built.
        command = load_command(argv[0])
        args, unknown = _configured(command, _Parser(**_options(command))).parse_known_args(argv[1:])
    else:
        parser = build_parser()
        if argv and not argv[0].startswith("-"):
            parser.error(f"there is no command {argv[0]!r}{_meant(argv[0], list(COMMANDS))}")
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
        prog=_PROGRAM,
        description="Indexed code search with language servers, for coding agents and people.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{_PROGRAM} {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    for command in all_commands():
        _configured(command, commands.add_parser(command.name, help=command.help, **_options(command)))
    return parser


def _options(command: Command) -> dict[str, Any]:
    return {
        "prog": f"{_PROGRAM} {command.name}",
        "description": command.help[0].upper() + command.help[1:] + ".",
        "epilog": f"example: {command.example}" if command.example else None,
        "allow_abbrev": False,
    }


def _configured(command: Command, parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    add_common_flags(parser)
    command.configure(parser)
    parser.set_defaults(command=command, parser=parser)
    return parser
