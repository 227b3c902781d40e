"""Code for a task within a budget."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS
from sightline_search.context import CodeContext, build_context
from sightline_search.context_budget import item_tokens
from support.scan_kit import Tree, make_tree

CART = """\
TAX = 0.2


class Cart:
    \"\"\"A shopping cart.\"\"\"

    def add_product(self, product):
        \"\"\"Put a product into the cart.\"\"\"
        self.products.append(product)

    def compute_total(self):
        \"\"\"The total price of the cart with tax.\"\"\"
        total = 0
        for product in self.products:
            total += product.price
        return total * (1 + TAX)
"""

PAGE = """\
from shop.cart import Cart


def render_checkout(cart):
    return f"total: {cart.compute_total()}"


def unrelated():
    return 1
"""

TEST = """\
from shop.cart import Cart


def test_total_has_tax():
    cart = Cart()
    assert cart.compute_total() == 0
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    files = {"shop/cart.py": CART, "shop/page.py": PAGE, "tests/test_cart.py": TEST}
    files |= {f"noise/m{n}.py": f"def helper_{n}():\n    return {n}\n" * 20 for n in range(30)}
    made = make_tree(tmp_path_factory.mktemp("context"), {name: text.encode() for name, text in files.items()})
    yield made
    made.store.close()


def ask(
    tree: Tree, query: str, *, max_tokens: int = 2000, strategy: str = "breadth", language: str = ""
) -> CodeContext:
    with tree.store.snapshot() as snapshot:
        return build_context(
            snapshot,
            tree.root,
            query,
            max_tokens=max_tokens,
            strategy=strategy,
            language=language,
            limits=DEFAULT_LIMITS,
            deadline=time.monotonic() + 20,
        )


def test_the_definition_comes_whole_and_first(tree: Tree) -> None:
    first = ask(tree, "compute_total").items[0]
    assert (first.path, first.symbol) == ("shop/cart.py", "Cart.compute_total")
    lines = CART.splitlines()
    assert first.content == "\n".join(lines[first.line_start - 1 : first.line_end])
    assert first.content.lstrip().startswith("def compute_total")
    assert first.content.endswith("return total * (1 + TAX)")


def test_callers_and_tests_follow_when_there_is_room(tree: Tree) -> None:
    items = {item.symbol: item for item in ask(tree, "compute_total", max_tokens=4000).items}
    assert "render_checkout" in items
    assert "test_total_has_tax" in items
    assert "unrelated" not in items


@pytest.mark.parametrize("strategy", ["breadth", "depth"])
@pytest.mark.parametrize("query", ["compute_total", "cart total price with tax", "return", "helper_3", "Cart"])
@pytest.mark.parametrize("max_tokens", [100, 150, 400, 2000, 20_000])
def test_the_budget_holds_and_no_line_comes_twice(tree: Tree, strategy: str, query: str, max_tokens: int) -> None:
    context = ask(tree, query, max_tokens=max_tokens, strategy=strategy)
    assert context.estimated_tokens == sum(map(item_tokens, context.items)) <= max_tokens
    lines = [(item.path, line) for item in context.items for line in range(item.line_start, item.line_end + 1)]
    assert len(lines) == len(set(lines))
    for item in context.items:
        text = Path(tree.root.path, item.path).read_text().splitlines()
        assert item.content == "\n".join(text[item.line_start - 1 : item.line_end])


def test_depth_shows_the_file_in_full(tree: Tree) -> None:
    first = ask(tree, "compute_total", strategy="depth", max_tokens=4000).items[0]
    assert (first.path, first.line_start, first.line_end) == ("shop/cart.py", 1, len(CART.splitlines()))


def test_what_did_not_fit_is_told(tree: Tree) -> None:
    assert ask(tree, "compute_total", max_tokens=100).truncated
    assert not ask(tree, "render_checkout", max_tokens=20_000).truncated


def test_the_language_restricts_what_is_found(tree: Tree) -> None:
    assert ask(tree, "compute_total", language="go").items == ()


@pytest.mark.parametrize(
    ("strategy", "max_tokens", "code"),
    [
        ("wide", 1000, ErrorCode.INVALID_STRATEGY),
        ("depth", 0, ErrorCode.INVALID_MAX_TOKENS),
        ("depth", 10**9, ErrorCode.INVALID_MAX_TOKENS),
    ],
)
def test_wrong_arguments_are_refused(tree: Tree, strategy: str, max_tokens: int, code: ErrorCode) -> None:
    with pytest.raises(SightlineError) as caught:
        ask(tree, "x", strategy=strategy, max_tokens=max_tokens)
    assert caught.value.code is code


def test_a_changed_file_is_shown_by_its_lines_not_by_old_definitions(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, {"a.py": b"def compute_total():\n    return 1\n"})
    Path(tree.root.path, "a.py").write_bytes(b"# new first line\n\n\ndef compute_total():\n    return 1\n")
    for item in ask(tree, "compute_total").items:
        assert item.symbol == ""
        assert item.content.startswith("# new first line")
