"""`sightline completions`: completion scripts, derived from the parser."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

from sightline_server.cli.command import Command

_SHELLS = ("bash", "zsh", "fish")


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, help="the shell to complete in")


def _run(args: argparse.Namespace) -> int:
    from sightline_server.cli.parser import all_commands

    words = [_words(command) for command in all_commands()]
    sys.stdout.write({"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](words))
    return 0


@dataclass(frozen=True, slots=True)
class _Words:
    """What can follow one command."""

    command: Command
    flags: dict[str, str]
    choices: dict[str, tuple[str, ...]]
    values: tuple[str, ...]


def _words(command: Command) -> _Words:
    from sightline_server.cli.command import add_common_flags

    parser = argparse.ArgumentParser()
    add_common_flags(parser)
    command.configure(parser)
    flags: dict[str, str] = {}
    choices: dict[str, tuple[str, ...]] = {}
    values: tuple[str, ...] = ()
    for action in parser._actions:  # noqa: SLF001
        known = tuple(str(choice) for choice in action.choices or ())
        for flag in action.option_strings:
            if flag.startswith("--"):
                flags[flag] = action.help or ""
            if known:
                choices[flag] = known
        if not action.option_strings:
            values += known
    return _Words(command, flags, choices, values)


def _bash(commands: list[_Words]) -> str:
    names = " ".join(words.command.name for words in commands)
    cases = "\n".join(
        f"    {words.command.name}) words='{' '.join([*words.values, *words.flags])}' ;;" for words in commands
    )
    after = "\n".join(
        f"    {words.command.name}:{flag}) words='{' '.join(known)}' ;;"
        for words in commands
        for flag, known in words.choices.items()
    )
    return f"""_sightline() {{
  local words
  case "${{COMP_WORDS[1]}}" in
{cases}
    *) words='{names} --help --version' ;;
  esac
  case "${{COMP_WORDS[1]}}:${{COMP_WORDS[COMP_CWORD-1]}}" in
{after}
  esac
  [ "$COMP_CWORD" -eq 1 ] && words='{names} --help --version'
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _sightline sightline
"""


def _zsh(commands: list[_Words]) -> str:
    return "autoload -U +X bashcompinit && bashcompinit\n" + _bash(commands)


def _fish(commands: list[_Words]) -> str:
    lines: list[str] = []
    for words in commands:
        name = words.command.name
        lines.append(f"complete -c sightline -n __fish_use_subcommand -a {name} -d {_quoted(words.command.help)}")
        condition = f"-n '__fish_seen_subcommand_from {name}'"
        if words.values:
            lines.append(f"complete -c sightline {condition} -a '{' '.join(words.values)}'")
        for flag, told in words.flags.items():
            known = f" -xa '{' '.join(words.choices[flag])}'" if flag in words.choices else ""
            lines.append(f"complete -c sightline {condition} -l {flag[2:]} -d {_quoted(told)}{known}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


COMPLETIONS = Command("completions", "print a completion script for your shell", _configure, _run)
