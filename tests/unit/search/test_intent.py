"""What a query is taken for."""

from __future__ import annotations

import pytest

from sightline_search.intent import read_intent, read_path
from sightline_search.model import Intent

DEFINED = {"total", "Cart"}


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("Foo", Intent.SYMBOL),
        ("foo.bar", Intent.SYMBOL),
        ("Foo::bar", Intent.SYMBOL),
        ("Foo#bar", Intent.SYMBOL),
        ("foo()", Intent.SYMBOL),
        ("foo_bar", Intent.SYMBOL),
        ("parseHTTP", Intent.SYMBOL),
        ("pkg/mod.Name", Intent.SYMBOL),
        ("total", Intent.SYMBOL),
        ("authentication", Intent.NATURAL_LANGUAGE),
        ("src/x/y.py", Intent.PATH),
        ("y.py:120", Intent.PATH),
        ("y.py", Intent.PATH),
        ("src/**/*.go", Intent.PATH),
        ("*.ts", Intent.PATH),
        ("src/shop", Intent.PATH),
        ("ValueError: bad value", Intent.ERROR),
        ("panic: runtime error: index out of range", Intent.ERROR),
        ('Traceback (most recent call last):\n  File "a.py", line 3, in f', Intent.ERROR),
        ("Error: x\n    at load (lib/load.js:10:3)\n    at main (main.js:2:1)", Intent.ERROR),
        ("thread 'main' panicked at src/main.rs:4:5", Intent.ERROR),
        (r"def \w+_handler\(", Intent.REGEX),
        (r"foo.*bar", Intent.REGEX),
        ('"the cart is full"', Intent.LITERAL),
        ("!==", Intent.LITERAL),
        ("how are discounts computed", Intent.NATURAL_LANGUAGE),
        ("fix: data race in the handler (#12)", Intent.NATURAL_LANGUAGE),
    ],
)
def test_a_query_is_taken_for(query: str, intent: Intent) -> None:
    reading = read_intent(query, lambda name: name in DEFINED)
    assert reading.intent is intent
    assert reading.why


def test_a_line_behind_a_path_is_read() -> None:
    assert read_path("src/y.py:120") == ("src/y.py", 120)
    assert read_path("src/y.py:120:7") == ("src/y.py", 120)
    assert read_path("src/y.py#L9") == ("src/y.py", 9)
    assert read_path("src/y.py") == ("src/y.py", 0)
