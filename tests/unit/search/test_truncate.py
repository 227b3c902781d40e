"""Results within their budgets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline_core.limits import DEFAULT_LIMITS
from sightline_search.model import DetailLevel, Hit, ShownLine
from sightline_search.tokens import estimate_tokens, typical_tokens
from sightline_search.truncate import fit_hits, shape_hit, wire_text

CAPS = {
    DetailLevel.LOCATION: 60,
    DetailLevel.SIGNATURE: DEFAULT_LIMITS.signature_tokens,
    DetailLevel.CONTEXT: DEFAULT_LIMITS.context_tokens,
}


def make_hit(number: int = 1, *, text: str = "def handle(self, request):") -> Hit:
    return Hit(
        path="django/core/handlers/base.py",
        line=number,
        end_line=number,
        kind="method",
        name=text,
        column=5,
        qualified_name="BaseHandler.handle",
        signature=text,
        language="python",
        container="BaseHandler",
        score=12.5,
        lines=tuple(ShownLine(number + at, text) for at in range(30)),
    )


@pytest.mark.parametrize("detail", list(DetailLevel))
@pytest.mark.parametrize(
    "text", ["x", "def handle(self, request):", "word " * 300, "é" * 900, "0" * 2000, '"\\' * 500]
)
def test_a_result_stays_within_the_tokens_of_its_level(detail: DetailLevel, text: str) -> None:
    shaped = shape_hit(make_hit(text=text), detail, DEFAULT_LIMITS)
    assert typical_tokens(wire_text(shaped, detail)) <= CAPS[detail]


def test_levels_add_fields() -> None:
    hit = make_hit()
    location = shape_hit(hit, DetailLevel.LOCATION, DEFAULT_LIMITS)
    assert (location.signature, location.lines, location.qualified_name) == ("", (), "")
    signature = shape_hit(hit, DetailLevel.SIGNATURE, DEFAULT_LIMITS)
    assert signature.signature == hit.signature
    assert signature.lines == ()
    assert shape_hit(hit, DetailLevel.CONTEXT, DEFAULT_LIMITS).lines[0] == hit.lines[0]


@given(st.integers(0, 4000), st.integers(0, 20_000), st.sampled_from(DetailLevel))
def test_budgets_are_never_exceeded_and_what_was_cut_is_told(tokens: int, size: int, detail: DetailLevel) -> None:
    hits = [make_hit(number) for number in range(1, 41)]
    kept, cuts = fit_hits(hits, detail, tokens, size, DEFAULT_LIMITS)
    texts = [wire_text(hit, detail) for hit in kept]
    assert sum(map(estimate_tokens, texts)) <= tokens
    assert sum(len(text.encode()) for text in texts) <= size
    assert [hit.line for hit in kept] == list(range(1, len(kept) + 1))
    assert (len(kept) < len(hits)) == bool(cuts)


def test_without_a_budget_nothing_is_dropped() -> None:
    kept, cuts = fit_hits([make_hit()] * 5, DetailLevel.SIGNATURE, None, 1_000_000, DEFAULT_LIMITS)
    assert len(kept) == 5
    assert cuts == ()
