"""What a search finds, and in which order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.types import SymbolKind
from sightline_indexer.store import Snapshot
from sightline_search.locate import locate
from sightline_search.model import DetailLevel, Filters, Intent, SearchMode, SearchResult

Ask = Callable[..., SearchResult]


def places(result: SearchResult) -> list[str]:
    return [f"{hit.path}:{hit.line}" for hit in result.hits]


def paths(result: SearchResult) -> list[str]:
    return [hit.path for hit in result.hits]


def test_a_question_finds_source_before_tests_docs_and_vendored_copies(ask: Ask) -> None:
    result = ask("discount for loyal customers")
    assert result.intent is Intent.NATURAL_LANGUAGE
    assert set(paths(result)[:2]) == {"src/shop/pricing.py", "src/shop/cart.py"}
    assert {"tests/test_cart.py", "docs/guide.md", "vendor/lib/discount.py"} <= set(paths(result)[2:])


def test_a_question_about_tests_finds_tests_first(ask: Ask) -> None:
    assert paths(ask("tests of the loyal customers discount"))[0] == "tests/test_cart.py"


def test_a_path_filter_is_a_request_for_that_place(ask: Ask) -> None:
    assert set(paths(ask("discount loyal path:vendor"))) == {"vendor/lib/discount.py"}
    assert "vendor/lib/discount.py" not in paths(ask("discount loyal -path:vendor"))


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ("discount lang:markdown", Filters(language="markdown")),
        ("discount path:src/", Filters(paths=("src/",))),
        ("discount -path:docs -path:vendor", Filters(exclude=("docs", "vendor"))),
    ],
)
def test_inline_filters_answer_like_arguments(ask: Ask, query: str, filters: Filters) -> None:
    assert places(ask(query)) == places(ask("discount", filters=filters, mode=SearchMode.TEXT))


def test_tests_can_be_left_out(ask: Ask) -> None:
    assert "tests/test_cart.py" not in paths(ask("loyal customers", filters=Filters(include_tests=False)))


def test_a_result_points_at_the_definition_that_answers(ask: Ask) -> None:
    hit = ask("compute the discount").hits[0]
    assert (hit.path, hit.line, hit.kind, hit.name) == ("src/shop/pricing.py", 1, "function", "compute_discount")
    assert hit.signature.startswith("def compute_discount")


def test_a_result_without_a_fitting_name_points_at_its_best_line(ask: Ask) -> None:
    hit = ask("where does a customer buy").hits[0]
    assert (hit.path, hit.line, hit.kind, hit.symbol) == ("src/shop/cart.py", 9, "text", "Cart")
    assert hit.signature == '"""Holds what a customer wants to buy."""'


def test_no_file_floods_a_ranked_page(ask: Ask) -> None:
    found = paths(ask("cart total items discount"))
    assert len(found) == len(set(found))


def test_identifier_parts_are_found(ask: Ask) -> None:
    assert paths(ask("http date"))[0] == "src/shop/pricing.py"


def test_a_name_gives_its_definition_before_its_uses(ask: Ask) -> None:
    result = ask("compute_discount")
    assert result.intent is Intent.SYMBOL
    assert (result.hits[0].path, result.hits[0].kind) == ("src/shop/pricing.py", "function")
    uses = [hit for hit in result.hits if hit.kind == "text"]
    assert "src/shop/cart.py" in [hit.path for hit in uses]
    assert all(hit.score < result.hits[0].score for hit in uses)


@pytest.mark.parametrize("query", ["Cart.total", "Cart::total", "Cart#total", "Cart.total()", "shop.cart.Cart.total"])
def test_a_qualified_name_finds_the_member_alone(ask: Ask, query: str) -> None:
    assert places(ask(query, mode=SearchMode.SYMBOL)) == ["src/shop/cart.py:19"]


def test_a_name_that_nothing_has_gives_suggestions_only(ask: Ask) -> None:
    result = ask("compute_discuont", mode=SearchMode.SYMBOL)
    assert result.hits == ()
    assert "compute_discount" in result.did_you_mean


def test_auto_then_gives_exact_text_occurrences_marked_as_such(ask: Ask) -> None:
    result = ask("CartFullErr")
    assert result.intent is Intent.SYMBOL
    assert {hit.kind for hit in result.hits} == {"text"}
    assert {hit.path for hit in result.hits} == {"src/shop/cart.py"}


def test_nothing_at_all_gives_nothing(ask: Ask) -> None:
    result = ask("zzzNoSuchThing")
    assert result.hits == ()
    assert result.intent is Intent.SYMBOL


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("src/shop/cart.py", "src/shop/cart.py"),
        ("cart.py:14", "src/shop/cart.py"),
        ("**/*.go", "pkg/server/handler.go"),
        ("shop/render.py", "src/shop/render.py"),
    ],
)
def test_paths_are_found(ask: Ask, query: str, first: str) -> None:
    result = ask(query)
    assert result.intent is Intent.PATH
    assert (result.hits[0].path, result.hits[0].kind) == (first, "file")


def test_a_line_behind_a_path_is_pointed_at(ask: Ask) -> None:
    assert ask("cart.py:14").hits[0].line == 14


def test_a_path_that_is_not_there_gives_suggestions_only(ask: Ask) -> None:
    result = ask("hndler.go", mode=SearchMode.PATH)
    assert result.hits == ()
    assert result.did_you_mean == ("pkg/server/handler.go",)


def test_a_trace_is_followed_to_its_files_innermost_first(ask: Ask) -> None:
    trace = (
        "Traceback (most recent call last):\n"
        '  File "/srv/app/src/shop/render.py", line 3, in total\n'
        "    return len(rows)\n"
        '  File "/srv/app/src/shop/cart.py", line 16, in add_item\n'
        '    raise CartFullError("the cart is full")\n'
        "shop.cart.CartFullError: the cart is full\n"
    )
    result = ask(trace)
    assert result.intent is Intent.ERROR
    assert places(result)[:2] == ["src/shop/cart.py:16", "src/shop/render.py:3"]
    assert result.hits[0].symbol == "Cart.add_item"


def test_a_file_that_an_issue_mentions_counts_more(ask: Ask) -> None:
    issue = "Rows are summed up wrongly\n\nThe discount of loyal customers is wrong, see `src/shop/render.py`.\n"
    assert paths(ask(issue))[0] == "src/shop/render.py"


def test_a_phrase_is_required_when_some_file_has_it(ask: Ask) -> None:
    assert paths(ask('cart "customer wants to buy"')) == ["src/shop/cart.py"]
    missing = ask('cart "never written anywhere"')
    assert missing.hits
    assert [note.code for note in missing.notes] == ["phrase_not_found"]


def test_a_kind_gives_only_definitions_of_it(ask: Ask) -> None:
    result = ask("cart items kind:class")
    assert result.hits
    assert {hit.kind for hit in result.hits} == {"class"}


def test_pages_follow_each_other_without_gaps(ask: Ask) -> None:
    whole = places(ask("discount customers cart", limit=50))
    first = ask("discount customers cart", limit=2)
    second = ask("discount customers cart", limit=2, cursor=first.next_cursor)
    assert [*places(first), *places(second)] == whole[:4]


def test_a_cursor_of_another_query_is_refused(ask: Ask) -> None:
    cursor = ask("discount customers cart", limit=1).next_cursor
    with pytest.raises(SightlineError) as caught:
        ask("something else", limit=1, cursor=cursor)
    assert caught.value.code is ErrorCode.INVALID_INPUT


def test_score_parts_are_explained(ask: Ask) -> None:
    result = ask("discount for loyal customers", explain=True)
    test = next(hit for hit in result.hits if hit.path == "tests/test_cart.py")
    assert test.parts["test"] < 1
    assert any(name.startswith("field_") for name in test.parts)
    assert "parts" not in test.parts


def test_counts_are_given_by_file(ask: Ask) -> None:
    result = ask("discount loyal", count_only=True)
    assert result.hits == ()
    assert {count.path: count.matches for count in result.counts}["tests/test_cart.py"] > 3


def test_the_same_question_gives_the_same_answer(ask: Ask) -> None:
    assert ask("cart discount total").hits == ask("cart discount total").hits


@pytest.mark.parametrize(
    "query",
    [
        "\0",
        "\ud800",
        "(" * 20_000,
        "a b c " * 30_000,
        "*" * 500,
        "[" * 300,
        '"' * 99,
        "path:" + "*a" * 200 + " x",
        "x AND (y OR",
        "",
        "-",
    ],
)
@pytest.mark.parametrize("mode", [SearchMode.AUTO, SearchMode.TEXT, SearchMode.SYMBOL, SearchMode.PATH])
def test_any_query_is_answered_or_refused(ask: Ask, query: str, mode: SearchMode) -> None:
    try:
        ask(query, mode=mode)
    except SightlineError as error:
        assert error.code is ErrorCode.INVALID_INPUT


def test_locate_gives_definitions_in_order(snapshot: Snapshot) -> None:
    found = locate(snapshot, "total", limit=10, limits=DEFAULT_LIMITS)
    assert [(hit.path, hit.kind) for hit in found.hits] == [
        ("src/shop/render.py", "function"),
        ("src/shop/cart.py", "method"),
    ]


def test_locate_answers_nothing_for_an_undefined_name(snapshot: Snapshot) -> None:
    found = locate(snapshot, "Crat", limit=10, limits=DEFAULT_LIMITS)
    assert found.hits == ()
    assert "Cart" in found.did_you_mean


def test_locate_keeps_values_apart_and_gives_them_by_kind(snapshot: Snapshot) -> None:
    found = locate(snapshot, "MAX_ITEMS", limit=10, limits=DEFAULT_LIMITS)
    assert found.hits == ()
    assert [hit.name for hit in found.values] == ["MAX_ITEMS"]
    kinds = [SymbolKind.CONSTANT, SymbolKind.VARIABLE]
    asked = [locate(snapshot, "MAX_ITEMS", kind=kind, limit=10, limits=DEFAULT_LIMITS).hits for kind in kinds]
    assert [hit.path for hits in asked for hit in hits] == ["src/shop/cart.py"]


def test_locate_pages(snapshot: Snapshot) -> None:
    first = locate(snapshot, "total", limit=1, limits=DEFAULT_LIMITS)
    second = locate(snapshot, "total", limit=1, cursor=first.next_cursor, limits=DEFAULT_LIMITS)
    assert [first.hits[0].path, second.hits[0].path] == ["src/shop/render.py", "src/shop/cart.py"]
    assert second.next_cursor == ""


def test_context_shows_the_lines_of_a_result_with_their_numbers(ask: Ask) -> None:
    hit = ask("compute_discount", detail=DetailLevel.CONTEXT).hits[0]
    assert (hit.lines[0].number, hit.lines[0].text) == (1, "def compute_discount(item):")
