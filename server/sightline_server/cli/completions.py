"""`sightline completions`: completion scripts, derived from the parser."""

from __future__ import annotations

import argparse
import sys

from sightline_server.cli.command import Command

_SHELLS = ("bash", "zsh", "fish")


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, help="the shell to complete in")


def _run(args: argparse.Namespace) -> int:
    from sightline_server.cli.parser import COMMANDS

    flags = {command.name: _flags(command) for command in COMMANDS}
    sys.stdout.write({"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](flags))
    return 0


def _flags(command: Command) -> list[str]:
    from sightline_server.cli.command import add_common_flags

    parser = argparse.ArgumentParser()
    add_common_flags(parser)
    command.configure(parser)
    return [flag for action in parser._actions for flag in action.option_strings if flag.startswith("--")]  # noqa: SLF001


def _bash(flags: dict[str, list[str]]) -> str:
    cases = "\n".join(f"    {name}) words='{' '.join(known)}' ;;" for name, known in flags.items())
    return f"""_sightline() {{
  local words
  case "${{COMP_WORDS[1]}}" in
{cases}
    *) words='{" ".join(flags)} --help --version' ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words='{" ".join(flags)} --help --version'
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _sightline sightline
"""


def _zsh(flags: dict[str, list[str]]) -> str:
    return "autoload -U +X bashcompinit && bashcompinit\n" + _bash(flags)


def _fish(flags: dict[str, list[str]]) -> str:
    lines = [f"complete -c sightline -n __fish_use_subcommand -a {name}" for name in flags]
    for name, known in flags.items():
        condition = f"'__fish_seen_subcommand_from {name}'"
        lines += [f"complete -c sightline -n {condition} -l {flag[2:]}" for flag in known]
    return "\n".join(lines) + "\n"


COMPLETIONS = Command("completions", "print a completion script for your shell", _configure, _run)
