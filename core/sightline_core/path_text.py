"""Text that is to be a path, before any file is opened; apart from `paths`, which quick commands do without."""

from __future__ import annotations

import os

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS, Limits


def real_directory(text: str) -> str:
    """The resolved path of an existing directory; raises `invalid_input`."""
    check_path_text(text, DEFAULT_LIMITS)
    resolved = os.path.realpath(os.path.expanduser(text))
    if not os.path.isdir(resolved):
        raise SightlineError(
            ErrorCode.INVALID_INPUT, f"'{text}' is not a directory.", hint="Give the path of an existing directory."
        )
    return resolved


def check_path_text(text: str, limits: Limits) -> None:
    """Raise `invalid_input` for text that can be no path."""
    if not text or "\0" in text or len(text) > limits.max_path_chars:
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            f"A path must not be empty, hold a NUL character or be longer than {limits.max_path_chars} characters.",
            hint="Give a path relative to the workspace.",
        )
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise SightlineError(
            ErrorCode.INVALID_INPUT, "A path must be valid Unicode text.", hint="Check how the path was encoded."
        ) from None
