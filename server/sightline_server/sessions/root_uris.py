"""Which directory a client's root means.

Only `file:` URIs count; percent-encoding and the forms that Windows clients send are understood.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes, urlsplit

_DRIVE = re.compile(r"^/?([A-Za-z])[:|](?=$|[/\\])")


@dataclass(frozen=True, slots=True)
class RefusedRoot:
    """A root that does not count, and why."""

    uri: str
    reason: str


def directory_of(uri: str, *, windows: bool = os.name == "nt") -> str | RefusedRoot:
    """The absolute path that a root's URI names; whether it exists is not looked at."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return RefusedRoot(uri, "it is no URI")
    if parts.scheme.lower() != "file":
        return RefusedRoot(uri, "it is no file URI")
    # A client that forgot to encode '?' or '#' still means a path.
    raw = parts.path + (f"?{parts.query}" if parts.query else "") + (f"#{parts.fragment}" if parts.fragment else "")
    text = os.fsdecode(unquote_to_bytes(raw))
    if not text or "\0" in text:
        return RefusedRoot(uri, "it names no path")
    drive = _DRIVE.match(text)
    host = parts.netloc.lower()
    # `file://C:/x` puts the drive where the host belongs.
    if re.fullmatch(r"[a-z][:|]", host):
        drive, text, host = _DRIVE.match(f"/{host}/"), f"/{host}{text}", ""
    if drive is not None and windows:
        return f"{drive[1].upper()}:" + text[drive.end() :].replace("/", "\\")
    if drive is not None:
        return RefusedRoot(uri, "it is on a Windows drive")
    if host not in ("", "localhost"):
        if windows:
            return "\\\\" + host + text.replace("/", "\\")
        return RefusedRoot(uri, "it is on another machine")
    return text if text.startswith("/") else RefusedRoot(uri, "it is not absolute")
