"""How a target is named, and what is said when it is not clear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.index_kit import write_tree
from support.navigation_kit import Desk, desk

pytestmark = pytest.mark.anyio

FILES = {
    "shop/basket.py": (
        "class Basket:\n"
        "    def total(self):\n"
        "        return 1\n"
        "\n"
        "\n"
        "def pay(basket):\n"
        "    return basket.total() + basket.total()\n"
    ),
    "shop/till.py": "class Till:\n    def total(self):\n        return 2\n",
    "crlf.py": "def first():\r\n    return 1\r\n",
    ".env": "SECRET_TOKEN=abc\n",
}
OFF = {"language_servers": {"python": ()}}


async def check(tmp_path: Path, arguments: dict[str, Any]) -> dict[str, Any]:
    write_tree(tmp_path / "root", FILES)
    async with desk(tmp_path, tmp_path / "root", **OFF) as made:
        return await made.ask("go_to_definition", **arguments)


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        ({"path": "shop/basket.py", "line": 7, "column": 20}, ("shop/basket.py", 7, 20, "total")),
        ({"path": "shop/basket.py", "pattern": "def @@pay"}, ("shop/basket.py", 6, 5, "pay")),
        ({"path": "shop/basket.py", "pattern": "return 1\n\n\ndef @@pay"}, ("shop/basket.py", 6, 5, "pay")),
        ({"path": "crlf.py", "pattern": "def @@first():\n    return"}, ("crlf.py", 1, 5, "first")),
        ({"symbol": "pay"}, ("shop/basket.py", 6, 5, "pay")),
        ({"symbol": "Basket.total"}, ("shop/basket.py", 2, 9, "Basket.total")),
        ({"symbol": "Till::total"}, ("shop/till.py", 2, 9, "Till.total")),
        ({"symbol": "total", "path": "shop/till.py"}, ("shop/till.py", 2, 9, "Till.total")),
        ({"symbol": "total", "path": "shop/basket.py", "line": 2}, ("shop/basket.py", 2, 9, "Basket.total")),
    ],
)
async def test_a_target_is_found_by_place_pattern_or_name(
    tmp_path: Path, arguments: dict[str, Any], target: tuple[str, int, int, str]
) -> None:
    found = (await check(tmp_path, arguments))["target"]
    assert (found["path"], found["line"], found["column"], found["symbol"]) == target


@pytest.mark.parametrize(
    ("arguments", "code", "data"),
    [
        ({}, "invalid_input", {}),
        ({"path": "shop/basket.py"}, "invalid_input", {}),
        ({"path": "shop/basket.py", "line": 3}, "invalid_input", {}),
        ({"path": "shop/basket.py", "line": 99, "column": 1}, "invalid_input", {}),
        ({"path": "shop/basket.py", "line": 1, "column": 99}, "invalid_input", {}),
        ({"path": "shop/basket.py", "pattern": "basket.@@total"}, "invalid_input", {"matches": 2}),
        ({"path": "shop/basket.py", "pattern": "nowhere@@"}, "invalid_input", {"matches": 0}),
        ({"path": "shop/basket.py", "pattern": "no cursor"}, "invalid_input", {}),
        ({"path": "shop/basket.py", "pattern": "@@"}, "invalid_input", {}),
        ({"symbol": "pay", "pattern": "@@pay"}, "invalid_input", {}),
        ({"symbol": "two words"}, "invalid_input", {}),
        ({"symbol": "Basket.totl"}, "symbol_not_found", {}),
        ({"symbol": "pai"}, "symbol_not_found", {"near_names": ["pay"]}),
        ({"symbol": "total"}, "ambiguous_symbol", {"total": 2}),
        ({"path": "gone.py", "line": 1, "column": 1}, "file_not_found", {}),
        ({"path": "../other.py", "line": 1, "column": 1}, "path_not_allowed", {}),
        ({"path": ".env", "pattern": "SECRET_@@TOKEN"}, "path_not_allowed", {}),
    ],
)
async def test_an_unclear_target_is_refused_with_its_code(
    tmp_path: Path, arguments: dict[str, Any], code: str, data: dict[str, Any]
) -> None:
    error = (await check(tmp_path, arguments))["error"]
    assert error["code"] == code
    assert {key: error["data"][key] for key in data} == data


async def test_an_ambiguous_name_lists_candidates_that_resolve_it(tmp_path: Path) -> None:
    write_tree(tmp_path / "root", FILES)
    async with desk(tmp_path, tmp_path / "root", **OFF) as made:
        error = (await made.ask("find_references", symbol="total"))["error"]
        for candidate in error["data"]["candidates"]:
            narrowed = {key: candidate[key] for key in ("symbol", "path", "line")}
            answer = await made.ask("find_references", **narrowed)
            assert answer["target"]["symbol"] == candidate["symbol"]


async def test_a_name_is_found_where_an_edit_moved_it(tmp_path: Path) -> None:
    write_tree(tmp_path / "root", FILES)
    file = tmp_path / "root" / "shop" / "basket.py"
    async with desk(tmp_path, tmp_path / "root", **OFF) as made:
        file.write_text("# one\n# two\n" + file.read_text("utf-8"), "utf-8")
        moved = await made.ask("go_to_definition", symbol="pay")
        assert moved["target"]["line"] == 8
        source = await made.ask("get_symbol_source", symbol="pay")
        assert source["source"].startswith("def pay(basket):")
        assert source["metadata"]["result_completeness"] == "complete"
        file.write_text("# empty\n", "utf-8")
        assert (await made.ask("go_to_definition", symbol="pay"))["error"]["code"] == "symbol_not_found"


async def test_without_an_index_places_work_and_names_are_told_to_wait(tmp_path: Path) -> None:
    write_tree(tmp_path / "root", FILES)
    async with desk(tmp_path, tmp_path / "root", index=False, language_servers={"python": ("ty",)}) as made:
        place = await made.ask("go_to_definition", path="shop/basket.py", line=6, column=5)
        assert place["metadata"]["result_completeness"] == "complete"
        assert [found["line"] for found in place["locations"]] == [6]
        assert (await made.ask("find_references", symbol="pay"))["error"]["code"] == "index_not_ready"


async def test_the_map_stays_in_its_budget_and_says_what_it_left_out(tmp_path: Path) -> None:
    from sightline_search.tokens import estimate_tokens

    many = {
        f"pkg{n % 7}/mod{n}.py": f"class Thing{n}:\n    pass\n\n\ndef make_{n}():\n    pass\n" for n in range(120)
    }
    write_tree(tmp_path / "root", many | {"tests/test_all.py": "def test_one():\n    pass\n"})
    async with desk(tmp_path, tmp_path / "root", **OFF) as made:
        small = await made.ask("codebase_map", max_tokens=300)
        assert estimate_tokens(small["map"]) <= 300
        assert small["metadata"]["result_completeness"] == "truncated"
        assert 0 < small["shown_files"] < 120
        large = await made.ask("codebase_map", max_tokens=10_000)
        assert large["metadata"]["result_completeness"] == "complete"
        assert "Thing119" in large["map"]
        assert "test_one" not in large["map"]
        folder = await made.ask("codebase_map", path="pkg3")
        assert folder["shown_files"] == folder["files"] == 17


async def paged(made: Desk, **arguments: Any) -> list[dict[str, Any]]:
    """All locations of all pages."""
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = await made.ask("find_references", cursor=cursor, **arguments)
        found += page["locations"]
        cursor = page.get("next_cursor", "")
        if not cursor:
            assert len(found) == page["total"]
            return found


async def test_pages_hold_each_place_once_and_an_old_cursor_is_refused(tmp_path: Path) -> None:
    uses = {f"use{n}.py": "from core import alpha\nalpha()\nalpha()\n" for n in range(6)}
    tests = {"tests/test_core.py": "from core import alpha\nalpha()\n"}
    write_tree(tmp_path / "root", {"core.py": "def alpha():\n    pass\n"} | uses | tests)
    async with desk(tmp_path, tmp_path / "root", **OFF) as made:
        found = await paged(made, symbol="alpha", limit=5)
        places = [(place["path"], place["line"]) for place in found]
        assert len(places) == len(set(places)) == 20
        files = [place["path"] for place in found]
        assert [path for n, path in enumerate(files) if n == 0 or files[n - 1] != path] == list(dict.fromkeys(files))
        assert [place.get("is_test", False) for place in found] == [False] * 18 + [True] * 2
        first = await made.ask("find_references", symbol="alpha", limit=5)
        other = await made.ask("find_references", symbol="alpha", limit=5, cursor="nonsense")
        assert other["error"]["code"] == "invalid_input"
        (tmp_path / "root" / "use0.py").write_text("", "utf-8")
        await made.ask("sync_repo", wait=True)
        late = await made.ask("find_references", symbol="alpha", limit=5, cursor=first["next_cursor"])
        assert late["error"]["code"] == "invalid_input"
