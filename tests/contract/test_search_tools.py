"""search_code and locate_symbol as a client sees them."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from sightline_core.config import Config
from sightline_core.limits import Limits
from support.clients import TRANSPORTS, memory_client
from support.processes import children_running

pytestmark = pytest.mark.anyio

FILES = {
    "shop/cart.py": (
        '"""Carts."""\n\n\nclass ShoppingCart:\n    """What a customer wants to buy."""\n\n'
        "    def add_item(self, item, quantity=1):\n        self.items.append((item, quantity))\n\n"
        "    def total_price(self):\n        return sum(i.price * q for i, q in self.items)\n"
    ),
    "shop/payment.py": (
        "from shop.cart import ShoppingCart\n\n\ndef charge(cart: ShoppingCart, card):\n"
        "    if cart.total_price() > card.limit:\n        raise PaymentError('card limit exceeded')\n"
        "    return card.debit(cart.total_price())\n\n\nclass PaymentError(Exception):\n    pass\n"
    ),
    "tests/test_cart.py": "from shop.cart import ShoppingCart\n\n\ndef test_total_price():\n    ShoppingCart()\n",
    "web/app.ts": "export class HttpServer {\n  listen(port: number): void {}\n}\n",
    "README.md": "# Shop\n\nHow refunds work: ask the cashier.\n",
}


@asynccontextmanager
async def shop(config: Config, transport: str = "memory", **changes: Any) -> AsyncGenerator[Client, None]:
    root = Path(config.workspace[0])
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    async with TRANSPORTS[transport](replace(config, **changes)) as client:
        assert (await ask(client, "index_repo", wait=True))["status"] == "published"
        yield client


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    return (await client.call_tool(tool, arguments)).structured_content


def places(body: dict[str, Any]) -> list[tuple[str, int]]:
    return [(result["path"], result["line"]) for result in body["results"]]


async def test_many_searches_at_once_are_helped_and_answered_alike(config: Config) -> None:
    limits = replace(Limits(), min_helped_files=0, min_helped_searches=2)
    queries = ["card limit exceeded", "ShoppingCart", "shop/payment.py", "refunds", "no_such_thing"]
    program = "sightline_search.helper_process"
    async with shop(config, limits=limits) as client:
        alone = {query: await ask(client, "search_code", query=query, enrich=False) for query in queries}
        assert not children_running(program)

        async def one(query: str) -> None:
            assert await ask(client, "search_code", query=query, enrich=False) == alone[query]

        async def many() -> None:
            async with anyio.create_task_group() as group:
                for query in queries * 3:
                    group.start_soon(one, query)

        await many()
        assert children_running(program)
        await many()
    assert not children_running(program)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_name_leads_to_its_definition_first(config: Config, transport: str) -> None:
    async with shop(config, transport) as client:
        for name in ("ShoppingCart", "shop.cart.ShoppingCart", "ShoppingCart()"):
            body = await ask(client, "search_code", query=name, enrich=False)
            assert body["query_intent"] == "symbol"
            assert places(body)[0] == ("shop/cart.py", 4)
            assert body["results"][0]["provenance"] == ["index"]
            assert body["metadata"]["result_completeness"] == "complete"
        for name in ("ShoppingCart.total_price", "ShoppingCart::total_price", "ShoppingCart#total_price"):
            assert places(await ask(client, "locate_symbol", name=name, enrich=False)) == [("shop/cart.py", 10)]


async def test_a_name_that_nothing_has_is_never_replaced_by_another(config: Config) -> None:
    async with shop(config) as client:
        for tool, arguments in (
            ("locate_symbol", {"name": "ShopingCart"}),
            ("search_code", {"query": "ShopingCart", "mode": "symbol"}),
        ):
            body = await ask(client, tool, **arguments)
            assert body["results"] == []
            assert "ShoppingCart" in body["did_you_mean"]


async def test_the_server_and_the_index_agree_on_one_result_and_the_answer_is_complete(config: Config) -> None:
    async with shop(config) as client:
        await ask(client, "get_server_capabilities", language="python")
        body: dict[str, Any] = {}
        for _ in range(20):
            body = await ask(client, "locate_symbol", name="ShoppingCart")
            if body["results"][0]["provenance"] == ["index", "lsp"]:
                break
        assert places(body) == [("shop/cart.py", 4)]
        assert body["results"][0]["provenance"] == ["index", "lsp"]
        assert {"name": "lsp:python", "server": "ty", "status": "ok"} in body["metadata"]["sources"]
        assert body["metadata"]["result_completeness"] == "complete"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("locate_symbol", {"name": "ShoppingCart", "language": "typescript"}),
        ("search_code", {"query": "ShoppingCart", "language": "typescript"}),
        ("search_code", {"query": "ShoppingCart", "exclude": ["shop/**"], "mode": "symbol"}),
        ("search_code", {"query": "test_total_price", "include_tests": False, "mode": "symbol"}),
    ],
)
async def test_what_a_server_knows_obeys_the_filters_too(
    config: Config, tool: str, arguments: dict[str, Any]
) -> None:
    async with shop(config, language_servers={"python": ("ty",)}) as client:
        for name in ("ShoppingCart", "test_total_price"):
            known: dict[str, Any] = {}
            while known.get("provenance") != ["index", "lsp"]:
                known = (await ask(client, "locate_symbol", name=name))["results"][0]
        assert (await ask(client, tool, **arguments))["results"] == []


async def test_a_file_written_by_an_agent_reaches_the_server_and_the_index(config: Config) -> None:
    async with shop(config) as client:
        await ask(client, "get_server_capabilities", language="python")
        await ask(client, "locate_symbol", name="ShoppingCart")
        (Path(config.workspace[0]) / "shop" / "voucher.py").write_text("class Voucher:\n    pass\n", "utf-8")
        await ask(client, "sync_repo", wait=True)
        body: dict[str, Any] = {}
        for _ in range(50):
            body = await ask(client, "locate_symbol", name="Voucher")
            if body["results"] and "lsp" in body["results"][0]["provenance"]:
                break
            await ask(client, "sync_repo", wait=True)
        assert places(body) == [("shop/voucher.py", 1)]
        assert body["results"][0]["provenance"] == ["index", "lsp"]


async def test_a_configured_server_that_is_not_there_makes_the_answer_partial(config: Config) -> None:
    broken = {"broken": {"command": ["/nonexistent/server"], "languages": ["python"]}}
    async with shop(config, server_tables=broken, language_servers={"python": ("broken",)}) as client:
        body = await ask(client, "locate_symbol", name="ShoppingCart")
        assert places(body) == [("shop/cart.py", 4)]
        source = next(s for s in body["metadata"]["sources"] if s["name"] == "lsp:python")
        assert source["status"] == "not_installed"


@pytest.mark.parametrize(
    ("query", "intent", "first"),
    [
        ("shop/payment.py", "path", "shop/payment.py"),
        ("payment.py:4", "path", "shop/payment.py"),
        ("how do refunds work", "natural_language", "README.md"),
        ("card limit exceeded when paying", "natural_language", "shop/payment.py"),
        ('Traceback:\n  File "/srv/shop/cart.py", line 8, in add_item\nTypeError: x', "error", "shop/cart.py"),
    ],
)
async def test_auto_says_what_it_took_the_query_for(config: Config, query: str, intent: str, first: str) -> None:
    async with shop(config) as client:
        body = await ask(client, "search_code", query=query, enrich=False)
        assert body["query_intent"] == intent
        assert body["results"][0]["path"] == first


async def test_inline_filters_equal_arguments(config: Config) -> None:
    async with shop(config) as client:
        inline = await ask(client, "search_code", query="total_price -path:tests lang:python", enrich=False)
        given = await ask(
            client, "search_code", query="total_price", exclude=["tests"], language="python", enrich=False
        )
        assert places(inline) == places(given)
        assert not [path for path, _ in places(inline) if path.startswith("tests/")]


async def test_exact_modes_match_the_disk_and_count(config: Config) -> None:
    async with shop(config) as client:
        literal = await ask(client, "search_code", query="total_price() ", mode="literal")
        assert places(literal) == [("shop/payment.py", 5)]
        regex = await ask(client, "search_code", query=r"class \w+Error", mode="regex")
        assert places(regex) == [("shop/payment.py", 10)]
        counted = await ask(client, "search_code", query="total_price", mode="literal", count_only=True)
        counts = {row["path"]: row["matches"] for row in counted["counts"]}
        assert counts == {"shop/cart.py": 1, "shop/payment.py": 2, "tests/test_cart.py": 1}
        (Path(config.workspace[0]) / "shop" / "payment.py").write_text("x = total_price\n", "utf-8")
        fresh = await ask(client, "search_code", query="= total_price", mode="literal", freshness_policy="strict")
        assert places(fresh) == [("shop/payment.py", 1)]


@pytest.mark.parametrize("pattern", ["(", "(?=x)", r"(a)\1", "a{99999}", "[z-a]"])
async def test_a_pattern_that_cannot_be_run_is_refused(config: Config, pattern: str) -> None:
    async with shop(config) as client:
        body = await ask(client, "search_code", query=pattern, mode="regex")
        assert body["error"]["code"] == "invalid_input"


async def test_pages_follow_each_other_without_gap_or_repeat(config: Config) -> None:
    async with shop(config) as client:
        whole = places(await ask(client, "search_code", query="cart", mode="literal", case_sensitive=False, limit=50))
        pages: list[tuple[str, int]] = []
        cursor = ""
        while True:
            body = await ask(
                client, "search_code", query="cart", mode="literal", case_sensitive=False, limit=2, cursor=cursor
            )
            pages += places(body)
            cursor = body.get("next_cursor", "")
            if not cursor:
                break
        assert pages == whole
        wrong = await ask(client, "search_code", query="cart", mode="literal", cursor="nonsense")
        assert wrong["error"]["code"] == "invalid_input"


async def test_a_token_budget_is_never_exceeded_and_the_cut_is_told(config: Config) -> None:
    async with shop(config) as client:
        body = await ask(client, "search_code", query="cart", mode="text", max_tokens=120, enrich=False)
        assert len(json.dumps(body["results"])) / 2 < 120 * 4
        assert body["metadata"]["result_completeness"] == "truncated"
        assert [warning["code"] for warning in body["metadata"]["warnings"]] == ["max_tokens"]
        refused = await ask(client, "search_code", query="cart", max_tokens=-1)
        assert refused["error"]["code"] == "invalid_max_tokens"


async def test_several_queries_are_answered_in_one_call(config: Config) -> None:
    async with shop(config) as client:
        body = await ask(client, "search_code", queries=["ShoppingCart", "HttpServer"], enrich=False)
        assert [answer["query"] for answer in body["answers"]] == ["ShoppingCart", "HttpServer"]
        assert [answer["results"][0]["path"] for answer in body["answers"]] == ["shop/cart.py", "web/app.ts"]
        for wrong in ({}, {"query": "a", "queries": ["b"]}, {"queries": ["x"] * 11}):
            assert (await ask(client, "search_code", **wrong))["error"]["code"] == "invalid_input"


async def test_strict_brings_a_change_in_and_refuses_when_it_cannot(config: Config) -> None:
    async with shop(config, watch=False) as client:
        (Path(config.workspace[0]) / "new.py").write_text("def brand_new():\n    pass\n", "utf-8")
        before = await ask(client, "locate_symbol", name="brand_new", freshness_policy="best_effort", enrich=False)
        assert before["results"] == []
        after = await ask(client, "locate_symbol", name="brand_new", freshness_policy="strict", enrich=False)
        assert places(after) == [("new.py", 1)]
    hurried = replace(config, limits=replace(Limits(), strict_wait_s=0.0), prewarm=False)
    async with memory_client(hurried) as client:
        body = await ask(client, "locate_symbol", name="greet", freshness_policy="strict", enrich=False)
        assert body["error"]["code"] == "index_stale"


async def test_answers_before_the_first_index_are_partial(config: Config) -> None:
    root = Path(config.workspace[0])
    for number in range(3000):
        (root / f"m{number}.py").write_text(f"def f{number}(): ...\n" * 20, "utf-8")
    hurried = replace(config, limits=replace(Limits(), first_snapshot_wait_s=0.0), prewarm=False)
    async with memory_client(hurried) as client:
        body = await ask(client, "search_code", query="greet", enrich=False)
        assert body["metadata"]["result_completeness"] == "partial"
        assert body["metadata"]["warnings"][0]["code"] == "index_incomplete"
        assert (await ask(client, "sync_repo", wait=True))["status"] == "published"
        again = await ask(client, "search_code", query="greet", enrich=False)
        assert again["metadata"]["result_completeness"] == "complete"


@pytest.mark.parametrize(
    "query",
    ["(" * 9000, "word " * 4000, "\0", "*" * 100, '"' * 99, "a" * 20_000, "AND OR NOT", "foo:bar", "\u202e", "😀 é"],
)
async def test_a_query_bomb_gets_an_answer_or_a_clear_error(config: Config, query: str) -> None:
    async with shop(config) as client:
        body = await ask(client, "search_code", query=query, enrich=False)
        assert "results" in body or body["error"]["code"] == "invalid_input"
        assert (await ask(client, "search_code", query="ShoppingCart", enrich=False))["results"]


@pytest.mark.parametrize("mode", ["auto", "literal", "regex", "symbol", "text"])
async def test_a_workspace_that_was_deleted_is_told_and_no_fault_of_ours(config: Config, mode: str) -> None:
    async with shop(config, watch=False) as client:
        shutil.rmtree(config.workspace[0])
        body = await ask(client, "search_code", query="total_price", mode=mode)
        # The index still has names; whoever looks into files says that there are none.
        assert body.get("error", {"code": "file_not_found"})["code"] == "file_not_found"


async def test_a_deleted_workspace_costs_the_others_nothing(config: Config, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "lonely.py").write_text("def lonely():\n    return 1\n", "utf-8")
    both = (config.workspace[0], str(other))
    async with shop(config, workspace=both, watch=False, prewarm=False) as client:
        shutil.rmtree(config.workspace[0])
        assert (await ask(client, "index_repo", workspace=str(other), wait=True))["status"] == "published"
        found = await ask(client, "locate_symbol", name="lonely", workspace=str(other))
        assert [result["name"] for result in found["results"]] == ["lonely"]
