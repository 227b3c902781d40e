"""get_file_outline, get_symbol_hierarchy, find_related_symbols and get_code_context as a client sees them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from sightline_core.config import Config
from support.clients import memory_client

pytestmark = pytest.mark.anyio

FILES = {
    "bank/account.py": (
        "class Account:\n    def __init__(self, owner):\n        self.owner = owner\n\n"
        "    def deposit(self, amount):\n        def check():\n            return amount\n        return check()\n"
    ),
    "bank/transfer.py": (
        "from bank.account import Account\n\n\ndef move_money(source: Account, target: Account, amount):\n"
        "    source.deposit(-amount)\n    target.deposit(amount)\n"
    ),
    "bank/loan.py": "class Loan:\n    def deposit(self):\n        pass\n",
    "tests/test_account.py": "from bank.account import Account\n\n\ndef test_deposit():\n    Account(1).deposit(1)\n",
}


@asynccontextmanager
async def bank(config: Config) -> AsyncGenerator[Client, None]:
    root = Path(config.workspace[0])
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    async with memory_client(config) as client:
        assert (await ask(client, "index_repo", wait=True))["status"] == "published"
        yield client


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    return (await client.call_tool(tool, arguments)).structured_content


async def test_an_outline_nests_what_a_file_defines(config: Config) -> None:
    async with bank(config) as client:
        body = await ask(client, "get_file_outline", path="bank/account.py")
        (account,) = body["symbols"]
        assert (account["name"], account["kind"], account["line"]) == ("Account", "class", 1)
        methods = {child["name"]: child for child in account["children"]}
        assert methods["deposit"]["children"][0]["name"] == "check"
        top = await ask(client, "get_file_outline", path="bank/account.py", depth="top")
        assert "children" not in top["symbols"][0]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("bank/acount.py", "file_not_found"),
        ("../outside.py", "path_not_allowed"),
        ("/etc/passwd", "path_not_allowed"),
        ("a\0b", "invalid_input"),
    ],
)
async def test_an_outline_of_what_is_not_there_names_the_fault(config: Config, path: str, code: str) -> None:
    async with bank(config) as client:
        assert (await ask(client, "get_file_outline", path=path))["error"]["code"] == code


async def test_a_hierarchy_shows_what_contains_and_what_is_inside(config: Config) -> None:
    async with bank(config) as client:
        up = await ask(client, "get_symbol_hierarchy", symbol_name="Account.deposit.check")
        assert [level["symbol"]["qualified_name"] for level in up["chain"]] == ["Account.deposit", "Account"]
        down = await ask(client, "get_symbol_hierarchy", symbol_name="Account", direction="descendants")
        assert "Account.deposit" in [level["symbol"]["qualified_name"] for level in down["chain"]]


async def test_a_name_that_several_have_or_none_has_is_told_apart(config: Config) -> None:
    async with bank(config) as client:
        for tool in ("get_symbol_hierarchy", "find_related_symbols"):
            several = await ask(client, tool, symbol_name="deposit")
            assert several["error"]["code"] == "ambiguous_symbol"
            assert {row["path"] for row in several["error"]["data"]["candidates"]} == {
                "bank/account.py",
                "bank/loan.py",
            }
            chosen = await ask(client, tool, symbol_name="deposit", path="bank/loan.py")
            assert chosen["symbol"]["path"] == "bank/loan.py"
            none = await ask(client, tool, symbol_name="Acount")
            assert none["error"]["code"] == "symbol_not_found"
            assert "Account" in none["error"]["data"]["did_you_mean"]


async def test_related_symbols_say_how_they_are_related(config: Config) -> None:
    async with bank(config) as client:
        body = await ask(client, "find_related_symbols", symbol_name="move_money", scope="module")
        relations = {item["symbol"]["name"]: item["relation"] for item in body["related"]}
        assert relations["Account"] == "imported"
        assert relations["Loan"] == "same_module"


async def test_context_gives_whole_definitions_within_the_budget(config: Config) -> None:
    async with bank(config) as client:
        body = await ask(client, "get_code_context", query="move money between accounts", max_tokens=400)
        shown = {item["path"]: item["content"] for item in body["context_items"]}
        assert shown["bank/transfer.py"].rstrip().endswith("target.deposit(amount)")
        assert body["estimated_tokens"] <= 400
        small = await ask(client, "get_code_context", query="move money between accounts", max_tokens=100)
        assert small["estimated_tokens"] <= 100


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"strategy": "sideways"}, "invalid_strategy"),
        ({"max_tokens": 0}, "invalid_max_tokens"),
        ({"max_tokens": 10**9}, "invalid_max_tokens"),
        ({"language": "pyhton"}, "invalid_input"),
    ],
)
async def test_context_refuses_what_it_cannot_do(config: Config, arguments: dict[str, Any], code: str) -> None:
    async with bank(config) as client:
        body = await ask(client, "get_code_context", query="money", **arguments)
        assert body["error"]["code"] == code
