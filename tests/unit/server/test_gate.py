"""Who may talk to the HTTP transport."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path

import pytest

from sightline_core.config import Config
from sightline_core.errors import ErrorCode, SightlineError
from sightline_server.serving import _listen
from sightline_server.transports.gate import Gate, is_loopback, make_gate

TOKEN = "correct-horse-battery"
LOCAL = Gate(b"", is_loopback=True)
LOCAL_WITH_TOKEN = Gate(TOKEN.encode(), is_loopback=True)
PUBLIC = Gate(TOKEN.encode(), is_loopback=False)


def passes(gate: Gate, host: str, origin: str | None) -> bool:
    hosts = [host]
    return gate.accepts_host(hosts) and gate.accepts_origin([] if origin is None else [origin], hosts)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:9100", "localhost", "LOCALHOST:1", "[::1]", "[::1]:9100"])
@pytest.mark.parametrize("origin", [None, "http://localhost", "http://127.0.0.1:3000", "https://[::1]:1"])
def test_this_machine_may_call(host: str, origin: str | None) -> None:
    assert passes(LOCAL, host, origin)
    assert passes(LOCAL_WITH_TOKEN, host, origin)


REBINDING = [
    ("evil.example", None),
    ("evil.example:9100", None),
    ("evil.example:9100", "http://evil.example:9100"),
    ("127.0.0.1.evil.example", None),
    ("localhost.evil.example:9100", None),
    ("evil.localhost", None),
    ("127.0.0.1@evil.example", None),
    ("evil.example#127.0.0.1", None),
    ("127.0.0.1:9100@evil.example", None),
    ("localhost:9100/evil", None),
    ("localhost:notaport", None),
    ("localhost:123456", None),
    ("", None),
    (" ", None),
    ("[::ffff:7f00:1]", None),
    ("0.0.0.0:9100", None),
    ("127.0.0.2", None),
    ("2130706433", None),
    ("0x7f.1", None),
    ("127.0.0.1", "http://evil.example"),
    ("127.0.0.1:9100", "http://evil.example:9100"),
    ("localhost", "null"),
    ("localhost", "http://localhost.evil.example"),
    ("localhost", "http://localhost@evil.example"),
    ("localhost", "http://evil.example/http://localhost"),
    ("localhost", "file://"),
    ("localhost", "chrome-extension://abcdef"),
    ("localhost", ""),
    ("localhost", "http://localhost/path"),
    ("localhost", "http://localhost http://evil.example"),
]


@pytest.mark.parametrize(("host", "origin"), REBINDING)
def test_a_page_that_rebinds_a_name_is_refused(host: str, origin: str | None) -> None:
    assert not passes(LOCAL, host, origin)
    assert not passes(LOCAL_WITH_TOKEN, host, origin)


def test_at_least_24_pairs_are_refused() -> None:
    assert len(set(REBINDING)) >= 24


def test_headers_that_are_missing_or_repeated_are_refused() -> None:
    assert not LOCAL.accepts_host([])
    assert not LOCAL.accepts_host(["localhost", "localhost"])
    assert not LOCAL.accepts_origin(["http://localhost", "http://localhost"], ["localhost"])


@pytest.mark.parametrize(
    ("origin", "accepted"),
    [
        (None, True),
        ("https://code.example", True),
        ("http://localhost:1", True),
        ("https://evil.example", False),
        ("null", False),
    ],
)
def test_behind_a_token_any_name_of_this_host_will_do(origin: str | None, accepted: bool) -> None:
    assert passes(PUBLIC, "code.example:9100", origin) is accepted


@pytest.mark.parametrize("header", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER  {TOKEN} "])
def test_the_right_token_is_accepted(header: str) -> None:
    assert PUBLIC.accepts_token([header])


def test_without_a_token_everyone_on_this_machine_may_call() -> None:
    assert LOCAL.accepts_token([])
    assert LOCAL.accepts_token(["Bearer whatever"])


WRONG = [
    "",
    TOKEN,
    "Bearer",
    "Bearer ",
    f"Basic {TOKEN}",
    f"Bearer{TOKEN}",
    f"Bearer {TOKEN}x",
    f"Bearer {TOKEN[:-1]}",
    f"Bearer {TOKEN.upper()}",
    f"Bearer {TOKEN} {TOKEN}",
    f"Bearer é{TOKEN}",
    "Bearer \ud800",
    "Bearer " + "x" * 100_000,
]


@pytest.mark.parametrize("header", WRONG, ids=lambda header: ascii(header[:40]))
def test_a_wrong_token_is_refused(header: str) -> None:
    assert not PUBLIC.accepts_token([header])


def test_no_or_two_authorizations_are_refused() -> None:
    assert not PUBLIC.accepts_token([])
    assert not PUBLIC.accepts_token([f"Bearer {TOKEN}"] * 2)


def test_none_of_a_thousand_wrong_tokens_is_accepted() -> None:
    guesses = {TOKEN[:at] + other + TOKEN[at + 1 :] for at in range(len(TOKEN)) for other in "abcXYZ019-_ "} - {TOKEN}
    guesses |= {secrets.token_urlsafe() for _ in range(1000)}
    assert not any(PUBLIC.accepts_token([f"Bearer {guess}"]) for guess in guesses)


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.1", False),
        ("localhost.evil.example", False),
        ("", False),
    ],
)
def test_loopback_is_told_from_the_network(address: str, loopback: bool) -> None:
    assert is_loopback(address) is loopback


def refusal(config: Config, environment: dict[str, str]) -> ErrorCode:
    with pytest.raises(SightlineError) as caught:
        make_gate(config, environment)
    return caught.value.code


@pytest.mark.parametrize("bind", ["0.0.0.0", "::", "192.168.0.1", "code.example"])
def test_without_a_token_only_loopback_is_bound(bind: str) -> None:
    assert refusal(Config(bind=bind), {}) is ErrorCode.INVALID_INPUT
    assert not make_gate(Config(bind=bind), {"SIGHTLINE_TOKEN": TOKEN}).is_loopback


def test_a_token_comes_from_the_environment_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f" {TOKEN}\n", "utf-8")
    assert make_gate(Config(), {}).token == b""
    assert make_gate(Config(), {"SIGHTLINE_TOKEN": TOKEN}).token == TOKEN.encode()
    assert make_gate(Config(token_file=str(file)), {"SIGHTLINE_TOKEN": "another-token"}).token == TOKEN.encode()


@pytest.mark.parametrize("text", ["", "short", "with space inside", "ünïcödé-token", "\n"])
def test_a_token_file_without_a_usable_token_is_a_start_up_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "token"
    file.write_text(text, "utf-8")
    assert refusal(Config(token_file=str(file)), {}) is ErrorCode.INVALID_INPUT


def test_a_missing_token_file_is_a_start_up_error(tmp_path: Path) -> None:
    assert refusal(Config(token_file=str(tmp_path / "missing")), {}) is ErrorCode.INVALID_INPUT
    assert refusal(Config(), {"SIGHTLINE_TOKEN": "short"}) is ErrorCode.INVALID_INPUT


def test_the_listener_names_tcp_so_that_answers_leave_at_once() -> None:
    with _listen(Config(port=0)) as listener:
        assert listener.proto == socket.IPPROTO_TCP
