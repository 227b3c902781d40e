"""The estimate of tokens errs on the safe side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline_search.tokens import estimate_tokens

# Text → what the greediest of four published encoders (of 2023 to 2025) made of it when the estimate was designed.
COUNTED = {
    "": 0,
    "def parse_request(self, data):\n    return data.split('\\r\\n')\n": 20,
    "if err := s.init(); err != nil {\n\t\treturn nil, err\n\t}\n": 21,
    "cpuset.New(1, 2, 3, 4, 5, 7, 8, 9, 10, 11),\n": 34,
    "MIIBbTCCARSgAwIBAgIUDMmq4/Gw2N1o5TWBLWsm65RiVkIwCgYIKoZIzj0EAwIw": 46,
    "你好，世界": 6,
    "naïve Größe": 6,
    "=" * 64: 1,
    "0123456789": 4,
    "😀😀": 4,
}


@pytest.mark.parametrize(("text", "tokens"), COUNTED.items())
def test_estimate_is_not_below_what_encoders_count(text: str, tokens: int) -> None:
    assert estimate_tokens(text) >= tokens


@given(st.text())
def test_estimate_is_never_above_the_bytes(text: str) -> None:
    size = len(text.encode("utf-8", "replace"))
    assert 0 <= estimate_tokens(text) <= size
    assert (estimate_tokens(text) > 0) == (text.strip(" ") != "" or size > 1)


def test_estimate_is_of_use_for_ordinary_code() -> None:
    code = (
        "def total(values):\n    result = 0\n    for value in values:\n        result += value\n    return result\n"
    )
    assert 25 <= estimate_tokens(code) <= 60
