"""The command line: one module a command, loaded only when it runs.

**Invariant**: importing this package costs next to nothing, so `--version` and `--help` are instant.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sightline_core.errors import SightlineError

EXIT_FOUND = 0
EXIT_NOTHING = 1
EXIT_ERROR = 2
_EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code: 0 found, 1 nothing found, 2 error."""
    from sightline_core.errors import SightlineError
    from sightline_server.cli.parser import parse

    args = parse(list(sys.argv[1:] if argv is None else argv))
    try:
        code = args.command.run(args)
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
    except Exception as error:  # noqa: BLE001 - the last handler of a command
        _tell_fault(error, verbose=bool(getattr(args, "verbose", 0)))
        return EXIT_ERROR


def _body(error: SightlineError) -> dict[str, Any]:
    """The body of a failure that came before any tool was asked, in the shape that tools give."""
    data = {"data": dict(error.data)} if error.data else {}
    return {"error": {"code": error.code.value, "message": error.full_message, **data}}


def _tell_fault(error: Exception, *, verbose: bool) -> None:
    """One line for people; with -v also where it happened, for a report."""
    import traceback

    told = " ".join(str(error).split())
    more = "Report these lines." if verbose else "Run again with -v for more."
    sys.stderr.write(f"sightline: internal error: {type(error).__name__}: {told}. {more}\n")
    if verbose:
        for frame in traceback.extract_tb(error.__traceback__):
            sys.stderr.write(f"  at {frame.filename}:{frame.lineno} in {frame.name}\n")


def _silence_stdout() -> None:
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
