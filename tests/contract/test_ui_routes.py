"""The page's files over HTTP: who gets them, and with which headers."""

from __future__ import annotations

import http.client
import re

import pytest

from sightline_core.config import Config
from support.clients import http_server

TOKEN = "a-token-for-the-test"
FILES = ["page.js", "page.css", "highlight.js", "icon.svg"]


def ask(url: str, method: str, path: str, **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def test_the_page_is_served_whole_guarded_and_from_here_alone(config: Config) -> None:
    with http_server(config, "--no-prewarm", SIGHTLINE_TOKEN=TOKEN) as server:
        moved, _ = ask(server.url, "GET", "/ui")
        assert (moved.status, moved.getheader("location")) == (307, "/ui/")
        page, body = ask(server.url, "GET", "/ui/")
        assert page.status == 200
        policy = page.getheader("content-security-policy") or ""
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        for name in FILES:
            answer, text = ask(server.url, "GET", f"/ui/{name}")
            assert (answer.status, answer.getheader("x-content-type-options")) == (200, "nosniff")
            body += text
        text = body.decode()
        assert re.search(r"https?://(?!www\.w3\.org/2000/svg)", text) is None
        assert re.search(r"\son[a-z]+=|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", text) is None
        assert ask(server.url, "POST", "/ui/")[0].status == 405
        # What is not a file of the page is behind the token, as everything else.
        for path in ("/ui/../health", "/ui/routes.py", "/ui/%2e%2e/routes.py", "/uix"):
            assert ask(server.url, "GET", path)[0].status == 401
        assert ask(server.url, "POST", "/mcp")[0].status == 401


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_the_gate_stands_before_the_page(config: Config, headers: dict[str, str]) -> None:
    with http_server(config, "--no-prewarm") as server:
        assert ask(server.url, "GET", "/ui/", **headers)[0].status == 403
