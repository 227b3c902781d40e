"""The command line: one module a command, loaded only when it runs.

**Invariant**: importing this package costs next to nothing, so `--version` and `--help` are instant.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from sightline_core.errors import SightlineError

EXIT_FOUND = 0
EXIT_NOTHING = 1
EXIT_ERROR = 2
_EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code: 0 found, 1 nothing found, 2 error."""
    from sightline_core.errors import SightlineError
    from sightline_server.cli.parser import parse

    _fill_closed_streams()
    args = parse(list(sys.argv[1:] if argv is None else argv))
    try:
        code = _run(args)
        # A short output is still buffered: a reader that left must be noticed here, not at the interpreter's exit.
        sys.stdout.flush()
        return code
    except SightlineError as error:
        from sightline_server.cli.told import tell_error

        return tell_error(_body(error), as_json=getattr(args, "json", False))
    except KeyboardInterrupt:
        return _EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (head, less) has seen enough.
        _silence_stdout()
        return EXIT_FOUND
    except OSError as error:
        # A full disk behind the output, a folder that cannot be read: the system's word says more than ours.
        return _tell_system_error(error, verbose=bool(args.verbose))
    except Exception as error:  # noqa: BLE001 - the last handler of a command
        _tell_fault(error, verbose=bool(args.verbose))
        return EXIT_ERROR


def _run(args: argparse.Namespace) -> int:
    try:
        return args.command.run(args)
    except ExceptionGroup as group:
        # What fails inside a task group comes wrapped; people are told of the failure itself.
        raise _cause(group) from None


def _cause(group: ExceptionGroup[Exception]) -> Exception:
    """The failure that a group holds; one that has a remedy before others."""
    from sightline_core.errors import SightlineError

    first = (group.subgroup(SightlineError) or group).exceptions[0]
    return _cause(first) if isinstance(first, ExceptionGroup) else first  # pyright: ignore[reportUnknownArgumentType]


def _body(error: SightlineError) -> dict[str, Any]:
    """The body of a failure that came before any tool was asked, in the shape that tools give."""
    data = {"data": dict(error.data)} if error.data else {}
    return {"error": {"code": error.code.value, "message": error.full_message, **data}}


def _tell_system_error(error: OSError, *, verbose: bool) -> int:
    from sightline_server.cli.told import visible

    what = f"{visible(os.fsdecode(error.filename))}: " if isinstance(error.filename, str | bytes) else ""
    hint = "" if verbose else " Check it, or run again with -v for more."
    sys.stderr.write(f"sightline: {what}{error.strerror or error}.{hint}\n")
    if verbose:
        _tell_frames(error)
    _silence_stdout()
    return EXIT_ERROR


def _tell_fault(error: Exception, *, verbose: bool) -> None:
    """One line for people; with -v also where it happened, for a report."""
    told = " ".join(str(error).split())
    more = "Report these lines." if verbose else "Run again with -v for more."
    sys.stderr.write(f"sightline: internal error: {type(error).__name__}: {told}. {more}\n")
    if verbose:
        _tell_frames(error)


def _tell_frames(error: Exception) -> None:
    import traceback

    for frame in traceback.extract_tb(error.__traceback__):
        sys.stderr.write(f"  at {frame.filename}:{frame.lineno} in {frame.name}\n")


def _fill_closed_streams() -> None:
    """Put the null device where a standard stream was closed, lest the next file that is opened takes its place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115


def _silence_stdout() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
