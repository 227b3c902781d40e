"""JSON of one line in the few kilobytes of the interpreter's own C functions.

The `json` package brings `re` and `enum`, a megabyte in every front; what is read and written is the same, and a
test compares. A light module, see `place`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    def make_scanner(context: type, /) -> Callable[[str, int], tuple[Any, int]]: ...
    def make_encoder(*settings: object) -> Callable[[Any, int], tuple[str, ...]]: ...
    def encode_basestring_ascii(text: str, /) -> str: ...
else:
    from _json import encode_basestring_ascii, make_encoder, make_scanner

_SPACE = " \t\n\r"


class _Reading:
    """What the scanner asks its decoder for."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    # NaN and the infinities, which `float` reads by the names that they have here.
    parse_constant = float


def _refuse(value: object) -> None:
    raise TypeError(f"{type(value).__name__} is no JSON")


_scan = make_scanner(_Reading)
_chunks = make_encoder({}, _refuse, encode_basestring_ascii, None, ":", ",", False, False, True)


def encode(value: Any) -> bytes:
    """A value without spaces and without the end of the line."""
    return "".join(_chunks(value, 0)).encode("ascii")


def read(data: bytes) -> Any:
    """The value of a text; raises `ValueError` or `RecursionError`."""
    text = data.decode("utf-8", "surrogatepass").strip(_SPACE)
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("no value") from None
    if end != len(text):
        raise ValueError("more than one value")
    return value


def decode(line: bytes) -> dict[str, Any] | None:
    """The object on a line, or None when it is something else."""
    try:
        body = read(line)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None  # pyright: ignore[reportUnknownVariableType]
