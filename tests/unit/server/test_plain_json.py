"""The JSON of fronts is that of the standard library, in both directions."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline_server.daemon.plain_json import decode, encode, read

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_values_are_written_and_read_as_the_library_does(value: object) -> None:
    assert encode(value) == json.dumps(value, separators=(",", ":")).encode()
    for data in (encode(value), json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")):
        assert read(b" " + data + b"\r\n") == value


@given(st.binary() | st.text(alphabet='{}[]",:0123456789.-+eEtrufalsn\\/ \t').map(str.encode))
def test_what_the_library_refuses_is_no_object_here(data: bytes) -> None:
    try:
        expected = json.loads(data.decode("utf-8", "surrogatepass"))
    except ValueError:
        expected = None
    assert decode(data) == (expected if isinstance(expected, dict) else None)


@pytest.mark.parametrize("text", [b"", b" ", b"{", b"{} {}", b'{"a":1}x', b"[1]", b"1", b"\xff{}", b"[" * 100_000])
def test_what_is_no_object_is_none(text: bytes) -> None:
    assert decode(text) is None


def test_constants_that_are_no_numbers_pass_as_with_the_library() -> None:
    body = decode(b'{"a":NaN,"b":Infinity,"c":-Infinity}')
    assert body is not None
    assert math.isnan(body["a"])
    assert (body["b"], body["c"]) == (math.inf, -math.inf)
    assert encode(body) == b'{"a":NaN,"b":Infinity,"c":-Infinity}'
