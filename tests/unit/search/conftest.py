"""A small tree of several languages, indexed once for the tests of this folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.paths import RepoRoot
from sightline_indexer.store import Snapshot
from sightline_search.engine import search
from sightline_search.model import SearchOptions, SearchResult
from support.indexed import index_tree, snapshot_of, write_tree

FILES = {
    "src/shop/cart.py": '''"""Shopping carts."""

from shop.pricing import compute_discount

MAX_ITEMS = 50


class Cart:
    """Holds what a customer wants to buy."""

    limit = 10

    def add_item(self, item):
        """Put an item into the cart."""
        if len(self.items) >= MAX_ITEMS:
            raise CartFullError("the cart is full")
        self.items.append(item)

    def total(self):
        return sum(compute_discount(item) for item in self.items)


class CartFullError(Exception):
    """Too many items."""
''',
    "src/shop/pricing.py": '''def compute_discount(item):
    """Reduce the price of an item for loyal customers."""
    return item.price * 0.9


def parseHTTPDate(text):
    return text
''',
    "src/shop/render.py": '''def total(rows):
    """Sum up rows of a table."""
    return len(rows)
''',
    "pkg/server/handler.go": """package server

// Handler answers requests.
type Handler struct{ name string }

// ServeRequest writes the response body.
func (h *Handler) ServeRequest(w Writer) error {
\treturn w.Flush()
}
""",
    "web/session.ts": """export class SessionStore {
  refreshToken(id: string): string {
    return id;
  }
}
""",
    "web/cache.ts": "export class SessionStore {}\n",
    "tests/test_cart.py": '''from shop.cart import Cart


def test_discount_is_applied_to_loyal_customers():
    """loyal customers pay less: discount discount discount"""
    assert Cart().total() == 0
''',
    "vendor/lib/discount.py": "def compute_loyal_discount(customers):\n    return customers\n",
    "docs/guide.md": "# Discounts\n\nThe discount for loyal customers is described here. loyal customers discount\n",
    "README.md": "A shop.\n",
}


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[RepoRoot, str]:
    """The root and the index of the tree."""
    folder: Path = tmp_path_factory.mktemp("shop")
    write_tree(str(folder / "tree"), FILES)
    root = RepoRoot(str(folder / "tree"))
    return root, index_tree(root, str(folder / "index"))


@pytest.fixture
def snapshot(shop: tuple[RepoRoot, str]) -> Iterator[Snapshot]:
    with snapshot_of(shop[1]) as found:
        yield found


@pytest.fixture
def root(shop: tuple[RepoRoot, str]) -> RepoRoot:
    return shop[0]


@pytest.fixture
def ask(snapshot: Snapshot, root: RepoRoot) -> Callable[..., SearchResult]:
    def run(query: str, **options: Any) -> SearchResult:
        return search(snapshot, root, query, SearchOptions(**options), DEFAULT_LIMITS, time.monotonic() + 30)

    return run
