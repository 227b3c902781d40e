"""A client's configuration file: read, changed in one step, and brought back.

**Invariant**: a file that cannot be read whole, or that changed meanwhile, is left as it is. What is written decodes
to what was there plus our entry.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sightline_core.errors import ErrorCode, SightlineError
from sightline_server.client_setup import jsonc, toml_text
from sightline_server.client_setup.clients import ENTRY_NAME, TRANSPORT_KEYS, Client

_MARK = "\ufeff"
_RECORDS = "client-setup"


@dataclass(frozen=True, slots=True)
class Change:
    """What a file held and what it is to hold; None is no file."""

    path: str
    before: str | None
    after: str | None

    @property
    def is_needed(self) -> bool:
        """Whether anything differs."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class _Record:
    path: str
    before: str | None
    written: str


def planned(client: Client, path: str, entry: Mapping[str, Any]) -> Change:
    """The change that sets our entry in a file; raises `invalid_input` for a file that is damaged."""
    before = _read(path)
    mark, body = _marked(before or "")
    keys = (client.section, ENTRY_NAME)
    try:
        content = toml_text.decode(body) if client.is_toml else jsonc.decode(body)
        expected, merged = _merged(content, keys, entry, path)
        if client.is_toml:
            after = toml_text.with_table(body, keys, entry, TRANSPORT_KEYS)
            found = toml_text.decode(after)
        else:
            after = jsonc.with_member(body, keys, merged)
            found = jsonc.decode(after)
    except jsonc.DamagedError as error:
        raise _damaged(path, str(error)) from None
    if content == expected:
        return Change(path, before, before)
    if found != expected:
        raise _damaged(path, "it is written in a way that cannot be edited safely")
    return Change(path, before, mark + after)


def undone(client: Client, path: str, data_dir: str) -> Change:
    """The change that takes our entry back: to the very bytes from before, unless others wrote since."""
    now = _read(path)
    record = _recorded(data_dir, path)
    if now is None or (record is not None and _digest(now) == record.written):
        return Change(path, now, record.before if record and now is not None else now)
    keys = (client.section, ENTRY_NAME)
    mark, body = _marked(now)
    try:
        if client.is_toml:
            toml_text.decode(body)
            after = toml_text.without_table(body, keys)
            rest = toml_text.decode(after)
        else:
            jsonc.decode(body)
            after = jsonc.without_member(body, keys)
            rest = jsonc.decode(after)
    except jsonc.DamagedError as error:
        raise _damaged(path, str(error)) from None
    if ENTRY_NAME in rest.get(client.section, {}):
        raise _damaged(path, "the entry is written in a way that cannot be edited safely")
    return Change(path, now, mark + after)


def apply(change: Change, data_dir: str, *, undo: bool) -> None:
    """Write the change in one step and remember, or forget, what was there before."""
    if not change.is_needed:
        return
    if _read(change.path) != change.before:
        raise SightlineError(
            ErrorCode.INVALID_INPUT, f"{change.path} changed meanwhile.", hint="Run the command again."
        )
    try:
        if change.after is None:
            os.unlink(change.path)
        else:
            _write(change.path, change.after)
        _remember(data_dir, change, undo=undo)
    except OSError as error:
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            f"{change.path} cannot be written: {error.strerror}.",
            hint="Use --print and add it by hand.",
        ) from None


def _merged(
    content: dict[str, Any], keys: tuple[str, str], entry: Mapping[str, Any], path: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    section: Any = content.get(keys[0], {})
    old: Any = section.get(keys[1], {}) if isinstance(section, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(section, dict) or not isinstance(old, dict):
        raise _damaged(path, f"`{keys[0]}` is not a table of servers")
    kept: dict[str, Any] = {key: value for key, value in old.items() if key not in TRANSPORT_KEYS}  # pyright: ignore[reportUnknownVariableType]
    merged = {**entry, **kept}
    return {**content, keys[0]: {**section, keys[1]: merged}}, merged


def _marked(text: str) -> tuple[str, str]:
    """The byte order mark that some editors write, and the rest."""
    return (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)


def _damaged(path: str, why: str) -> SightlineError:
    return SightlineError(
        ErrorCode.INVALID_INPUT,
        f"{path} was left as it is: {why}.",
        hint="Mend the file, or use --print and add the entry by hand.",
    )


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise _damaged(path, "it is not UTF-8") from None
    except OSError as error:
        raise _damaged(path, f"it cannot be read ({error.strerror})") from None


def _write(path: str, text: str) -> None:
    # A link to a file kept elsewhere (dotfiles) stays a link.
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    os.makedirs(folder, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=".sightline-", dir=folder)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _record_file(data_dir: str, path: str) -> str:
    return os.path.join(data_dir, _RECORDS, hashlib.sha256(path.encode()).hexdigest()[:32] + ".json")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _recorded(data_dir: str, path: str) -> _Record | None:
    try:
        with open(_record_file(data_dir, path), encoding="utf-8") as file:
            return _Record(**json.load(file))
    except (OSError, ValueError, TypeError):
        # Without a record undo still takes the entry out; only the old bytes are unknown.
        return None


def _remember(data_dir: str, change: Change, *, undo: bool) -> None:
    target = _record_file(data_dir, change.path)
    if undo or change.after is None:
        if os.path.exists(target):
            os.unlink(target)
        return
    earlier = _recorded(data_dir, change.path)
    # Several runs in a row are one change to undo.
    follows = earlier is not None and change.before is not None and earlier.written == _digest(change.before)
    before = earlier.before if follows and earlier is not None else change.before
    _write(target, json.dumps(asdict(_Record(change.path, before, _digest(change.after)))))
