"""JSON with comments, edited as text.

**Invariant**: every byte outside the edited member stays as it was: comments, order, indentation, line ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DEFAULT_UNIT = "  "


class DamagedError(ValueError):
    """The text is not JSON; says where."""

    def __init__(self, text: str, at: int, wanted: str) -> None:
        super().__init__(f"line {text.count(chr(10), 0, at) + 1}: {wanted} expected")


@dataclass(frozen=True, slots=True)
class Member:
    """One key of an object and where it stands."""

    key: str
    start: int
    node: Node


@dataclass(frozen=True, slots=True)
class Node:
    """One value and where it stands; `members` only for objects."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] = ()

    def member(self, key: str) -> Member | None:
        """The member that counts when a key stands twice: the last."""
        return next((member for member in reversed(self.members) if member.key == key), None)


def decode(text: str) -> dict[str, Any]:
    """The object that the text holds; an empty text is an empty object. Raises `DamagedError`."""
    return _root(text).value if text.strip() else {}


def with_member(text: str, keys: tuple[str, ...], value: Mapping[str, Any]) -> str:
    """The text with the value at the path of keys, objects on the way made where missing."""
    if not text.strip():
        text = "{}\n"
    node, depth = _root(text), 0
    while depth < len(keys) - 1:
        below = node.member(keys[depth])
        if below is None:
            break
        node, depth = below.node, depth + 1
        if not isinstance(node.value, dict):
            raise DamagedError(text, node.start, "an object")
    for key in reversed(keys[depth + 1 :]):
        value = {key: value}
    known = node.member(keys[depth])
    if known is not None:
        indent = _indent_at(text, known.start)
        return text[: known.node.start] + _shown(text, value, indent) + text[known.node.end :]
    return _inserted(text, node, keys[depth], value)


def without_member(text: str, keys: tuple[str, ...]) -> str:
    """The text without the member at the path of keys."""
    node = _root(text)
    for key in keys[:-1]:
        below = node.member(key)
        if below is None:
            return text
        node = below.node
    member = node.member(keys[-1])
    if member is None:
        return text
    at = node.members.index(member)
    start, end = member.start, member.node.end
    comma = _gap_end(text, end)
    if text[comma] == ",":
        end = comma + 1
    elif at > 0:
        before = _gap_end(text, node.members[at - 1].node.end)
        text = text[:before] + text[before + 1 :]
        start, end = start - 1, end - 1
    while start > 0 and text[start - 1] in " \t\r\n":
        start -= 1
    rest = text[end:]
    if text[start - 1] == "{" and rest.lstrip().startswith("}"):
        rest = rest.lstrip()
    return text[:start] + rest


def _inserted(text: str, node: Node, key: str, value: Any) -> str:
    close = node.end - 1
    last = node.members[-1] if node.members else None
    if last is not None and "\n" not in text[node.start : node.end]:
        member = f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        return f"{text[: last.node.end]}, {member}{text[last.node.end :]}"
    unit = _unit(text)
    outer = _indent_at(text, node.start)
    indent = _indent_at(text, last.start) if last is not None else outer + unit
    line = _line_end(text)
    member = f"{indent}{json.dumps(key)}: {_shown(text, value, indent)}"
    if last is None:
        inside = text[node.start + 1 : close].rstrip()
        return f"{text[: node.start + 1]}{inside}{line}{member}{line}{outer}{text[close:]}"
    after = _gap_end(text, last.node.end)
    has_comma = text[after] == ","
    head = text[: last.node.end] + ("" if has_comma else ",") + text[last.node.end : close].rstrip()
    return f"{head}{line}{member}{line}{outer}{text[close:]}"


def _shown(text: str, value: Any, indent: str) -> str:
    """The value over several lines, its innermost lists on one line each."""
    line = _line_end(text) + indent
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if not value:
        return "{}"
    unit = _unit(text)
    members: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
    rows = [f"{line}{unit}{json.dumps(key)}: {_shown(text, item, indent + unit)}" for key, item in members.items()]
    return "{" + ",".join(rows) + line + "}"


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else _DEFAULT_UNIT


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _gap_end(text: str, at: int) -> int:
    match = _GAP.match(text, at)
    return match.end() if match else at


def _root(text: str) -> Node:
    try:
        node = _value(text, _gap_end(text, 0))
    except RecursionError:
        raise DamagedError(text, 0, "less nesting") from None
    end = _gap_end(text, node.end)
    if end != len(text):
        raise DamagedError(text, end, "the end")
    if not isinstance(node.value, dict):
        raise DamagedError(text, node.start, "an object")
    return node


def _value(text: str, at: int) -> Node:
    opening = text[at : at + 1]
    if opening == "{":
        return _object(text, at)
    if opening == "[":
        return _list(text, at)
    match = _STRING.match(text, at) or _SCALAR.match(text, at)
    if match is None:
        raise DamagedError(text, at, "a value")
    try:
        return Node(at, match.end(), json.loads(match[0]))
    except ValueError:
        raise DamagedError(text, at, "a value") from None


def _object(text: str, start: int) -> Node:
    members: list[Member] = []
    at = _gap_end(text, start + 1)
    while text[at : at + 1] != "}":
        key = _STRING.match(text, at)
        if key is None:
            raise DamagedError(text, at, "a key or }")
        colon = _gap_end(text, key.end())
        if text[colon : colon + 1] != ":":
            raise DamagedError(text, colon, ":")
        node = _value(text, _gap_end(text, colon + 1))
        members.append(Member(json.loads(key[0]), at, node))
        at = _after_item(text, node.end, "}")
    return Node(start, at + 1, {member.key: member.node.value for member in members}, tuple(members))


def _list(text: str, start: int) -> Node:
    items: list[Any] = []
    at = _gap_end(text, start + 1)
    while text[at : at + 1] != "]":
        node = _value(text, at)
        items.append(node.value)
        at = _after_item(text, node.end, "]")
    return Node(start, at + 1, items)


def _after_item(text: str, end: int, close: str) -> int:
    at = _gap_end(text, end)
    found = text[at : at + 1]
    if found == ",":
        return _gap_end(text, at + 1)
    if found != close:
        raise DamagedError(text, at, f", or {close}")
    return at
