"""The tools over real language servers: the same small shop in four languages."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support.navigation_kit import Desk, copy_repo, desk, with_servers

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Shop:
    """A server with the names that its fixture gives to the same things."""

    server: str
    language: str
    repo: str
    till: str
    total: str
    pay: str
    gift: str
    count: str
    subtype: str = "GiftBasket"
    has_types: bool = True
    basket: Mapping[str, str] = field(default_factory=lambda: {"symbol": "Basket"})
    wrong: str = ""
    right: str = ""


PYTHON = {
    "language": "python",
    "repo": "python_two_roots",
    "till": "shop/till.py",
    "total": "total_price",
    "pay": "pay_basket",
    "gift": "pay_gift",
    "count": "count_boxes",
    "wrong": "\nanother: int = 'no'\n",
    "right": "\nanother: int = 1\n",
}
TY = Shop("ty", **PYTHON)
BASEDPYRIGHT = Shop("basedpyright", **PYTHON, has_types=False)
CLANGD = Shop(
    "clangd", "cpp", "cpp_two_roots", "basket.cpp", "total_price", "pay_basket", "pay_gift", "count_boxes",
    # A class in a `.h` file is not in the index: by its name that is a C header.
    basket={"path": "basket.h", "pattern": "class @@Basket {"},
    wrong="\nint another() { return missing; }\n", right="\nint another() { return 1; }\n",
)  # fmt: skip
TYPESCRIPT = Shop(
    "typescript", "typescript", "typescript_two_roots", "src/basket.ts", "totalPrice", "payBasket", "payGift",
    "countBoxes", has_types=False, wrong='\nexport const another: number = "no";\n',
    right="\nexport const another: number = 1;\n",
)  # fmt: skip
GOPLS = Shop(
    "gopls", "go", "go_two_roots", "basket.go", "TotalPrice", "PayBasket", "PayGift", "CountBoxes", subtype="",
    wrong='\nvar another int = "no"\n', right="\nvar another int = 1\n",
)  # fmt: skip
SHOPS = [
    TY,
    BASEDPYRIGHT,
    CLANGD,
    pytest.param(TYPESCRIPT, marks=pytest.mark.servers),
    pytest.param(GOPLS, marks=pytest.mark.servers),
]
every_shop = pytest.mark.parametrize("shop", SHOPS, ids=lambda shop: shop.server)


@asynccontextmanager
async def opened(tmp_path: Path, shop: Shop) -> AsyncGenerator[tuple[Desk, Path]]:
    roots = copy_repo(shop.repo, tmp_path)
    async with desk(tmp_path, roots / "a", roots / "b", **with_servers(**{shop.language: shop.server})) as made:
        yield made, roots


def completeness(body: dict[str, Any]) -> str:
    assert "error" not in body, body
    return body["metadata"]["result_completeness"]


async def settled(made: Desk, tool: str, **arguments: Any) -> dict[str, Any]:
    """An answer once the server has loaded; the desk's deadline bounds it."""
    while True:
        body = await made.ask(tool, **arguments)
        statuses = {source["status"] for source in body["metadata"].get("sources", [])}
        if not statuses & {"indexing", "starting"}:
            return body


@every_shop
async def test_a_call_leads_to_its_definition_and_the_definition_to_its_uses(tmp_path: Path, shop: Shop) -> None:
    async with opened(tmp_path, shop) as (made, _):
        pattern = f"basket.@@{shop.total}"
        found = await settled(made, "go_to_definition", path=shop.till, pattern=pattern)
        assert completeness(found) == "complete"
        assert found["provenance"] == ["lsp"]
        assert any(shop.total in place["text"] for place in found["locations"])
        uses = await settled(made, "find_references", symbol=shop.pay)
        assert completeness(uses) == "complete"
        assert shop.gift in {place.get("symbol") for place in uses["locations"]}
        assert all(shop.pay in place["text"] for place in uses["locations"])


@every_shop
async def test_calls_are_followed_both_ways(tmp_path: Path, shop: Shop) -> None:
    async with opened(tmp_path, shop) as (made, _):
        answer = await settled(made, "find_callers", symbol=shop.pay, direction="both")
        names = {(item["direction"], item["name"].rpartition(".")[2].split("(")[0]) for item in answer["items"]}
        assert ("incoming", shop.gift) in names
        if completeness(answer) == "complete":
            assert any(direction == "outgoing" and shop.total in name for direction, name in names)
        else:
            # A server may know callers and no callees: then it says so.
            assert answer["metadata"]["sources"][0]["status"] == "unsupported"


@every_shop
async def test_inheritance_is_shown_by_the_server_or_labelled(tmp_path: Path, shop: Shop) -> None:
    if not shop.subtype:
        pytest.skip("the fixture has no inheritance")
    async with opened(tmp_path, shop) as (made, _):
        answer = await settled(made, "type_hierarchy", **shop.basket, direction="subtypes")
        assert shop.subtype in {item["name"] for item in answer["items"]}
        assert completeness(answer) == ("complete" if shop.has_types else "partial")
        heirs = await settled(made, "go_to_implementation", **shop.basket)
        assert any(shop.subtype in place["text"] for place in heirs["locations"])


@every_shop
async def test_hover_and_exploration_agree_with_the_code(tmp_path: Path, shop: Shop) -> None:
    async with opened(tmp_path, shop) as (made, _):
        hover = await settled(made, "inspect_symbol", symbol=shop.pay)
        assert shop.pay in hover["hover"]
        assert completeness(hover) == "complete"
        explored = await settled(made, "explore_symbol", symbol=shop.pay)
        assert shop.total in explored["source"]
        assert shop.gift in {caller["name"].split("(")[0] for caller in explored["callers"]}
        assert explored["references"]["total"] >= 1


@every_shop
async def test_each_root_is_asked_about_its_own_code(tmp_path: Path, shop: Shop) -> None:
    async with opened(tmp_path, shop) as (made, roots):
        found = await settled(made, "go_to_definition", symbol=shop.count, workspace=str(roots / "b"))
        assert completeness(found) == "complete"
        assert found["metadata"]["workspace"] == str(roots / "b")
        assert any(shop.count in place["text"] for place in found["locations"])


@every_shop
async def test_diagnostics_follow_an_edit(tmp_path: Path, shop: Shop) -> None:
    async with opened(tmp_path, shop) as (made, roots):
        file = roots / "a" / shop.till
        good = file.read_text("utf-8") + shop.right
        line = good.count("\n", 0, good.rindex("another")) + 1
        before = await settled(made, "get_diagnostics", path=shop.till, min_severity="error")
        assert line not in {found["line"] for found in before["diagnostics"]}
        file.write_text(file.read_text("utf-8") + shop.wrong, "utf-8")
        broken = await settled(made, "get_diagnostics", path=shop.till, min_severity="error")
        assert line in {found["line"] for found in broken["diagnostics"]}
        assert broken["files"][0]["outcome"] == "updated"
        file.write_text(good, "utf-8")
        mended = await settled(made, "get_diagnostics", path=shop.till, min_severity="error")
        assert line not in {found["line"] for found in mended["diagnostics"]}
