"""The page at `/ui` in a real browser: `make test-ui`."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from sightline_core.config import Config
from support.browser import Browser, browser
from support.clients import HttpServer, http_server

pytestmark = pytest.mark.ui
TOKEN = "a-token-for-the-test"
HOSTILE = "<img src=x onerror=alert(1)>"
FILES = {
    "shop/basket.py": 'class Basket:\n    """What is bought."""\n\n    def total_price(self) -> int:\n'
    '        # the sum of "all"\n        return sum(i.price for i in self.items)\n\n    def clear(self) -> None:\n'
    "        self.items = []\n",
    "shop/orders.go": "package shop\n\n// Adds up.\nfunc TotalPrice(prices []int) int {\n\treturn len(prices)\n}\n",
    "hostile.py": f'def hostile_name(text="{HOSTILE}"):\n    """{HOSTILE}<script>x()</script>"""\n    return text\n',
    f"{HOSTILE}.py": "def in_a_hostile_file():\n    pass\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shop")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return root


@pytest.fixture(scope="module")
def served(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[HttpServer, None, None]:
    config = Config(data_dir=str(tmp_path_factory.mktemp("data")), workspace=(str(folder),))
    with http_server(config) as server:
        yield server


@pytest.fixture(scope="module")
def window() -> Generator[Browser, None, None]:
    with browser() as opened:
        yield opened


@pytest.fixture
def page(served: HttpServer, window: Browser) -> Generator[Browser, None, None]:
    window.resize(1280, 800)
    window.open("about:blank")
    window.open(f"{served.url}/ui")
    window.until(lambda: window.text("#index"), lambda text: "4 files" in text)
    yield window
    assert [line for line in window.logged() if "favicon" not in line] == []


def search(page: Browser, text: str, wanted: str) -> list[str]:
    page.run("const q = document.querySelector('#query'); q.value = ''; q.focus()")
    page.type("#query", text)
    page.until(lambda: page.run("return document.querySelector('#results').dataset.query"), lambda now: now == text)
    rows = page.texts("#results li")
    assert any(wanted in row for row in rows), rows
    return rows


def selected(page: Browser) -> int:
    return page.run("return [...document.querySelectorAll('#results li')].findIndex(n => n.ariaSelected === 'true')")


def test_results_come_while_typing(page: Browser) -> None:
    rows = search(page, "total price", "total_price")
    assert any("orders.go" in row for row in rows)
    assert "result" in page.text("#told")
    assert page.run("return document.activeElement.id") == "query"
    assert "Basket.total_price" in page.texts("#results .name")


def test_keys_choose_open_and_go_back(page: Browser) -> None:
    search(page, "total price", "orders.go")
    first = selected(page)
    page.press("down")
    page.until(lambda: selected(page), lambda now: now == first + 1)
    page.press("up", "enter")
    page.until(lambda: page.text("#outline"), bool)
    assert page.text("#place").startswith("shop/")
    page.press("escape")
    assert page.run("return document.querySelector('#detail').hidden")
    page.press("escape")
    assert page.run("return document.querySelector('#query').value") == ""
    page.run("document.activeElement.blur()")
    page.press("/")
    assert page.run("return document.activeElement.id") == "query"
    assert page.run("return document.querySelector('#query').value") == ""


def test_the_whole_definition_is_shown_in_colour_with_the_outline(page: Browser) -> None:
    search(page, "Basket", "class Basket")
    page.press("enter")
    source = page.until(lambda: page.text("#code"), lambda text: "self.items = []" in text)
    assert source.startswith("class Basket")
    assert "class" in page.texts("#code .keyword")
    assert page.texts("#code .comment") == ['# the sum of "all"']
    page.until(lambda: page.texts("#outline .name"), lambda names: {"Basket", "total_price", "clear"} <= set(names))
    page.run("[...document.querySelectorAll('#outline button')].find(b => b.textContent.includes('clear')).click()")
    page.until(lambda: page.text("#code"), lambda text: text.lstrip().startswith("def clear"))


def test_hostile_text_stays_text(page: Browser) -> None:
    rows = search(page, "hostile_name", "hostile_name")
    assert any(HOSTILE in row for row in rows)
    page.press("enter")
    page.until(lambda: page.text("#code"), lambda text: "<script>" in text)
    search(page, "in_a_hostile_file", f"{HOSTILE}.py")
    page.press("enter")
    page.until(lambda: page.text("#place"), lambda text: HOSTILE in text)
    assert page.run("return document.querySelectorAll('main img, main script').length") == 0


def test_an_older_answer_never_replaces_a_newer_one(page: Browser) -> None:
    page.run("""
      const real = window.fetch; window.aborted = 0;
      window.fetch = (url, options) => {
        options.signal?.addEventListener('abort', () => { window.aborted += 1; });
        const slow = options.body.includes('"query":"clear"');
        return slow ? new Promise((done, fail) => {
          options.signal.addEventListener('abort', () => fail(new DOMException('', 'AbortError')));
        }) : real(url, options);
      };
      const q = document.querySelector('#query');
      q.value = 'clear'; q.dispatchEvent(new Event('input'));""")
    page.until(lambda: page.run("return document.querySelector('#results').ariaBusy"), lambda busy: busy == "true")
    search(page, "TotalPrice", "orders.go")
    assert page.run("return window.aborted") >= 1


def test_the_state_of_index_and_servers_is_shown_and_followed(page: Browser, folder: Path) -> None:
    assert "symbols" in page.text("#index")
    (folder / "new.py").write_text("def brand_new():\n    pass\n", "utf-8")
    page.until(lambda: page.text("#index"), lambda text: "5 files" in text)
    (folder / "new.py").unlink()
    page.until(lambda: page.text("#index"), lambda text: "4 files" in text)


def test_a_wrong_pattern_is_told_in_words(page: Browser) -> None:
    page.run("document.querySelector('#mode').value = 'regex'")
    page.type("#query", "(")
    page.until(lambda: page.text("#told"), lambda text: "result" not in text and bool(text))
    assert page.texts("#results li") == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_two_widths_and_both_schemes(page: Browser, width: int, scheme: str) -> None:
    page.resize(width, 800, scheme=scheme)
    search(page, "total price", "orders.go")
    page.press("enter")
    page.until(lambda: page.text("#outline"), bool)
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    ground = page.run("return getComputedStyle(document.body).backgroundColor")
    assert (int(ground.split("(")[1].split(",")[0]) < 128) == (scheme == "dark")
    if os.environ.get("UI_PICTURES"):
        Path(os.environ["UI_PICTURES"], f"page-{width}-{scheme}.png").write_bytes(page.screenshot())
    page.resize(1280, 800)


def test_a_token_is_asked_for_and_used(folder: Path, window: Browser, tmp_path: Path) -> None:
    config = Config(data_dir=str(tmp_path), workspace=(str(folder),))
    with http_server(config, SIGHTLINE_TOKEN=TOKEN) as server:
        window.open(f"{server.url}/ui/")
        window.until(lambda: window.run("return !document.querySelector('#gate').hidden"))
        window.type("#token", TOKEN + "\ue007")
        window.until(lambda: window.text("#index"), lambda text: "files" in text)
        assert json.loads(window.run("return JSON.stringify(location.href)")).endswith("/ui/")
    window.open("about:blank")
    window.logged()
