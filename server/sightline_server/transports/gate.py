"""Who may talk to the HTTP transport: token, Host and Origin, decided before anything else.

**Invariant**: every route passes here first, so no handler checks again.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sightline_core.config import Config
from sightline_core.errors import ErrorCode, SightlineError

TOKEN_VARIABLE = "SIGHTLINE_TOKEN"  # noqa: S105 - the name of a variable, not a secret
_MIN_TOKEN_CHARS = 8
_LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>\d{1,5}))?", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://(?P<host>[^/]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Gate:
    """The rules of one listener."""

    token: bytes
    is_loopback: bool

    def accepts_host(self, hosts: list[str]) -> bool:
        """Exactly one Host header that names this machine.

        Behind a token any name will do: a page that rebinds a name to this machine does not know the token.
        """
        if len(hosts) != 1:
            return False
        name = _host_name(hosts[0])
        if name is None:
            return False
        return name in _LOOPBACK_NAMES or not self.is_loopback

    def accepts_origin(self, origins: list[str], hosts: list[str]) -> bool:
        """No Origin (not a browser), one of this machine, or the very host that was asked."""
        if not origins:
            return True
        match = _ORIGIN.fullmatch(origins[0]) if len(origins) == 1 else None
        name = _host_name(match["host"]) if match else None
        if name is None:
            return False
        return name in _LOOPBACK_NAMES or (not self.is_loopback and name == _host_name(hosts[0]))

    def accepts_token(self, authorizations: list[str]) -> bool:
        """The bearer token, compared in constant time; always True when none is set."""
        if not self.token:
            return True
        given = authorizations[0] if len(authorizations) == 1 else ""
        scheme, _, value = given.partition(" ")
        matches = hmac.compare_digest(value.strip().encode("utf-8", "replace"), self.token)
        return matches and scheme.lower() == "bearer"


def make_gate(config: Config, environment: Mapping[str, str]) -> Gate:
    """The gate of a listener; raises `invalid_input` for a bind that would be open to everyone."""
    token = _read_token(config, environment)
    loopback = is_loopback(config.bind)
    if not token and not loopback:
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            f"Binding {config.bind} without a token would let anyone on the network in.",
            hint=f"Set {TOKEN_VARIABLE} or --token-file, or bind 127.0.0.1.",
        )
    return Gate(token, loopback)


def is_loopback(address: str) -> bool:
    """True when only this machine can reach `address`."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def _host_name(host: str) -> str | None:
    match = _HOST.fullmatch(host.strip())
    return match["name"].lower() if match else None


def _read_token(config: Config, environment: Mapping[str, str]) -> bytes:
    text = environment.get(TOKEN_VARIABLE, "")
    origin = TOKEN_VARIABLE
    if config.token_file:
        origin = config.token_file
        try:
            with open(os.path.expanduser(config.token_file), encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise SightlineError(
                ErrorCode.INVALID_INPUT, f"The token file cannot be read: {error}.", hint="Check --token-file."
            ) from None
    text = text.strip()
    if (text or config.token_file) and (len(text) < _MIN_TOKEN_CHARS or not text.isascii() or " " in text):
        raise SightlineError(
            ErrorCode.INVALID_INPUT,
            f"The token of {origin} must be at least {_MIN_TOKEN_CHARS} ASCII characters without spaces.",
            hint="Make one with: python3 -c 'import secrets; print(secrets.token_urlsafe())'",
        )
    return text.encode("ascii")
