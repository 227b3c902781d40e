"""HTTP: statuses, plain JSON, browsers kept out, tokens, limits."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Generator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from sightline_core.config import Config
from support.clients import HttpServer, http_server

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
STATES = ("warming", "indexing", "ready")
TOKEN = "correct-horse-battery"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[HttpServer, None, None]:
    folder = tmp_path_factory.mktemp("http")
    (folder / "workspace").mkdir()
    config = Config(data_dir=str(folder / "data"), workspace=(str(folder / "workspace"),))
    with http_server(config) as running:
        yield running


def ask(
    server: HttpServer,
    method: str,
    path: str,
    body: bytes | dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, Any, http.client.HTTPMessage]:
    """One request as curl would send it: no Accept, no session."""
    address = urlsplit(server.url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    data = json.dumps(body).encode() if isinstance(body, dict) else body
    connection.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, (json.loads(content) if content else None), response.headers


@pytest.mark.parametrize("path", ["/", "/mcp"])
@pytest.mark.parametrize("headers", [{}, {"Accept": "*/*"}, {"Accept": "application/json"}])
def test_a_plain_post_gets_a_plain_json_answer(server: HttpServer, path: str, headers: dict[str, str]) -> None:
    status, body, answered = ask(server, "POST", path, LIST, headers)
    assert status == 200
    assert answered["content-type"].startswith("application/json")
    assert body["id"] == 1
    assert body["result"]["tools"]


def test_a_plain_tool_call_carries_structured_content(server: HttpServer) -> None:
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "health_check"}}
    status, body, _ = ask(server, "POST", "/", call)
    assert status == 200
    assert body["result"]["structuredContent"]["status"] in STATES


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "code"),
    [
        ("POST", "/", b"{nonsense", {}, 400, -32700),
        ("POST", "/", b"", {}, 400, -32700),
        ("POST", "/", b"\xff\xfe", {}, 400, -32700),
        ("POST", "/", b"[]", {}, 400, -32600),
        ("POST", "/", b'{"jsonrpc":"1.0","id":4,"method":"ping"}', {}, 400, -32600),
        ("POST", "/", b'{"id":1}', {}, 400, -32600),
        ("POST", "/", b"{}", {"Content-Type": "text/plain"}, 400, -32600),
        ("GET", "/", None, {}, 405, -32600),
        ("DELETE", "/mcp", None, {}, 405, -32600),
        ("PUT", "/mcp", b"{}", {}, 405, -32600),
        ("OPTIONS", "/", None, {}, 405, -32600),
        ("POST", "/health", b"{}", {}, 405, -32600),
        ("GET", "/nothing", None, {}, 404, -32600),
        ("POST", "/mcp/", b"{}", {}, 404, -32600),
        ("POST", "/", b" " * (4 * 1024 * 1024 + 1), {}, 413, -32600),
    ],
)
def test_a_wrong_request_gets_its_status_and_an_envelope(
    server: HttpServer, method: str, path: str, body: bytes, headers: dict[str, str], status: int, code: int
) -> None:
    answered, envelope, _ = ask(server, method, path, body, headers)
    assert answered == status
    assert envelope["jsonrpc"] == "2.0"
    assert envelope["error"]["code"] == code
    assert envelope["error"]["data"]["code"] == "invalid_input"


FOREIGN_HOSTS = [
    "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:9100", "0.0.0.0", "192.168.0.7",
    "[::2]", "localhost:80:90", "user@localhost", "127.0.0.1 evil", "127.1", "localhost/",
]  # fmt: skip
FOREIGN_ORIGINS = [
    "http://evil.example", "https://evil.example:443", "null", "file://", "http://127.0.0.1.evil.example",
    "http://localhost.evil.example", "http://localhost@evil.example", "http://evil.example/localhost", "javascript:1",
    "http://0.0.0.0:9100", "localhost", "chrome-extension://abc",
]  # fmt: skip


@pytest.mark.parametrize("path", ["/", "/health"])
@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_foreign_host_is_refused_on_every_route(server: HttpServer, host: str, path: str) -> None:
    assert ask(server, "GET" if path == "/health" else "POST", path, LIST, {"Host": host})[0] in (400, 403)


@pytest.mark.parametrize("path", ["/", "/health"])
@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_a_foreign_origin_is_refused_on_every_route(server: HttpServer, origin: str, path: str) -> None:
    assert ask(server, "GET" if path == "/health" else "POST", path, LIST, {"Origin": origin})[0] == 403


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:8443"])
def test_pages_of_this_machine_are_accepted(server: HttpServer, origin: str) -> None:
    assert ask(server, "POST", "/", LIST, {"Origin": origin})[0] == 200


def test_health_answers_without_mcp(server: HttpServer) -> None:
    status, body, _ = ask(server, "GET", "/health")
    assert status == 200
    assert body["status"] in STATES
    assert set(body) >= {"projects", "version", "uptime_seconds", "workspace_warmset"}
    assert body["workspace_warmset"]["capacity"] == 3
    assert set(body["projects"][0]) >= {"project_id", "repo_root", "index_status", "schema_status"}


def test_a_request_that_stalls_does_not_hold_the_others(server: HttpServer) -> None:
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port)) as stalled:
        stalled.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        assert ask(server, "POST", "/", LIST)[0] == 200


def test_only_the_right_token_opens_a_tool(config: Config) -> None:
    with http_server(config, SIGHTLINE_TOKEN=TOKEN) as server:
        wrong = [{}, {"Authorization": TOKEN}, {"Authorization": f"Basic {TOKEN}"}, {"Authorization": "Bearer "}]
        wrong += [{"Authorization": f"Bearer {TOKEN[:n]}"} for n in range(len(TOKEN))]
        wrong += [{"Authorization": f"Bearer {TOKEN}{n}"} for n in range(40)]
        for headers in wrong:
            status, envelope, answered = ask(server, "POST", "/", LIST, headers)
            assert status == 401
            assert answered["www-authenticate"] == "Bearer"
            assert envelope["error"]["data"]["code"] == "invalid_input"
        assert ask(server, "POST", "/", LIST, {"Authorization": f"Bearer {TOKEN}"})[0] == 200
        assert ask(server, "GET", "/nothing")[0] == 401


def test_health_of_an_open_bind_tells_strangers_little(config: Config) -> None:
    with http_server(replace(config, bind="0.0.0.0"), SIGHTLINE_TOKEN=TOKEN) as server:
        port = urlsplit(server.url).port
        local = replace(server, url=f"http://127.0.0.1:{port}")
        assert set(ask(local, "GET", "/health")[1]) == {"status", "version"}
        assert "projects" in ask(local, "GET", "/health", headers={"Authorization": f"Bearer {TOKEN}"})[1]
        assert ask(local, "POST", "/", LIST)[0] == 401
