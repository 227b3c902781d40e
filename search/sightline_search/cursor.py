"""Cursors: where a page ended, bound to one generation of the index and one question.

**Invariant**: a cursor is only accepted for the generation and the question it was made for, so a page never repeats
or skips a result without the caller being told to ask again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct

from sightline_core.errors import ErrorCode, SightlineError

_FORM = struct.Struct(">BQQI")
_VERSION = 1
_KEY_BYTES = 8


def encode_cursor(generation: int, question: str, offset: int) -> str:
    """The token of the page that begins at result `offset` (0-based)."""
    packed = _FORM.pack(_VERSION, generation, _hash(question), offset)
    return base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")


def decode_cursor(token: str, generation: int, question: str) -> int:
    """The offset of a token, 0 for an empty one; raises `invalid_input` when it belongs to something else."""
    if not token:
        return 0
    try:
        packed = base64.urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
        version, made_for, key, offset = _FORM.unpack(packed)
    except (binascii.Error, struct.error, ValueError):
        raise _refused("The cursor is not one that Sightline gave.") from None
    if version != _VERSION or key != _hash(question):
        raise _refused("The cursor belongs to another query.")
    if made_for != generation:
        raise _refused("The cursor has expired because the index moved on.")
    return offset


def question_key(*values: object) -> str:
    """One text for all that decides the order of an answer; what only decides its form must be left out."""
    return "\x1f".join(repr(value) for value in values)


def _hash(question: str) -> int:
    digest = hashlib.blake2b(question.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()
    return int.from_bytes(digest, "big")


def _refused(message: str) -> SightlineError:
    return SightlineError(ErrorCode.INVALID_INPUT, message, hint="Ask again without a cursor.")
