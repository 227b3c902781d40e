"""Real servers: those of the package index always, those of npm and Go under the marker."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from servers.real import PATIENT_S, Case, check

PYTHON = ("python", "python_two_roots", "Basket", "DepotShelf", "shop/till.py")
SCRIPT = ("typescript", "typescript_two_roots", "Basket", "DepotShelf", "src/basket.ts")

INDEX = [
    Case("ty", *PYTHON, "basket.|total_price", "shop/basket.py", 14, 2, callers=1, subtypes=1),
    Case("basedpyright", *PYTHON, "basket.|total_price", "shop/basket.py", 14, 2, callers=1),
    Case(
        *("clangd", "cpp", "cpp_two_roots", "Basket", "DepotShelf", "basket.cpp", "basket.|total_price"),
        *("basket.cpp", 3, 3),
        callers=1,
        finds=False,
    ),
]
OTHERS = [
    Case("typescript", *SCRIPT, "basket.|totalPrice", "src/basket.ts", 2, 2, callers=1, finds=False),
    Case("typescript-language-server", *SCRIPT, "basket.|totalPrice", "src/basket.ts", 2, 2, callers=1, finds=False),
    Case(
        *("gopls", "go", "go_two_roots", "Basket", "DepotShelf", "basket.go", "basket.|TotalPrice"),
        *("basket.go", 7, 2),
        callers=1,
        finds=False,
    ),
    Case(
        *("bash-language-server", "bash", "bash_two_roots", "pay_basket", "count_boxes", "pay.sh", "pay_|basket 3"),
        *("pay.sh", 2, 2),
        finds=False,
    ),
]


@pytest.mark.parametrize("case", INDEX, ids=str)
async def test_server_of_the_package_index_answers_in_both_roots(case: Case, tmp_path: Path) -> None:
    with anyio.fail_after(PATIENT_S * 2):
        await check(case, tmp_path)


@pytest.mark.servers
@pytest.mark.parametrize("case", OTHERS, ids=str)
async def test_server_of_npm_or_go_answers_in_both_roots(case: Case, tmp_path: Path) -> None:
    with anyio.fail_after(PATIENT_S * 2):
        await check(case, tmp_path)
