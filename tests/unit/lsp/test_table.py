"""The table of servers, the user's tables over it, and what the client announces."""

from __future__ import annotations

import json

import pytest
from lsprotocol import converters, types

from sightline_core.config import Config
from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_lsp.capabilities import PROVIDERS, Offers, client_capabilities
from sightline_lsp.client import setting
from sightline_lsp.messages import Malformed
from sightline_lsp.servers import builtin_servers, load_servers
from sightline_lsp.shapes import WireRegistration
from sightline_lsp.watched_files import compile_glob

REQUIRED = {
    *("ty", "basedpyright", "pyright", "typescript", "typescript-language-server", "gopls", "rust-analyzer"),
    *("clangd", "jdtls", "csharp-ls", "ruby-lsp", "intelephense", "kotlin-lsp", "bash-language-server"),
    *("lua-language-server", "zls", "yaml-language-server", "vscode-json-language-server"),
    *("vscode-html-language-server", "vscode-css-language-server"),
}
# Opening a workspace with these runs what the workspace chose.
RUN_CODE = {
    *("basedpyright", "pyright", "typescript-language-server", "gopls", "rust-analyzer", "jdtls", "csharp-ls"),
    *("ruby-lsp", "kotlin-lsp", "lua-language-server", "zls"),
}


def test_the_table_holds_what_was_promised() -> None:
    rows = builtin_servers()
    assert rows.keys() >= REQUIRED
    assert {name for name, row in rows.items() if row.runs_workspace_code} == RUN_CODE


@pytest.mark.parametrize("name", sorted(builtin_servers()))
def test_a_row_is_complete(name: str) -> None:
    row = builtin_servers()[name]
    assert row.command
    assert row.languages
    assert row.install
    assert not row.configured


def test_the_user_overrides_field_by_field_and_is_trusted_no_further() -> None:
    tables = {
        "ty": {"settings": {"ty": {"x": 1}}},
        "mine": {"command": ["mine"], "languages": ["python"]},
    }
    table = load_servers(Config(server_tables=tables))
    assert table.rows["ty"].command == builtin_servers()["ty"].command
    assert table.rows["ty"].settings == {"ty": {"x": 1}}
    assert table.rows["mine"].runs_workspace_code
    assert [row.name for row in table.candidates("python")][:2] == ["ty", "mine"]
    assert table.is_configured("python")


def test_a_language_names_its_servers_or_none() -> None:
    table = load_servers(Config(language_servers={"python": ("basedpyright", "ty"), "go": ()}))
    assert [row.name for row in table.candidates("python")] == ["basedpyright", "ty"]
    assert table.is_off("go")
    assert not table.is_off("rust")


@pytest.mark.parametrize(
    "config",
    [
        Config(language_servers={"python": ("tyy",)}),
        Config(language_servers={"pythn": ("ty",)}),
        Config(server_tables={"x": {"languages": ["python"]}}),
        Config(server_tables={"x": {"command": ["x"]}}),
        Config(server_tables={"x": {"command": ["x"], "languages": ["klingon"]}}),
        Config(server_tables={"x": {"command": ["x"], "languages": ["go"], "quirks": ["sings"]}}),
    ],
)
def test_a_wrong_table_is_refused(config: Config) -> None:
    with pytest.raises(SightlineError) as caught:
        load_servers(config)
    assert caught.value.code is ErrorCode.INVALID_INPUT


def test_capabilities_and_methods_are_those_of_the_protocol() -> None:
    given = client_capabilities()
    converter = converters.get_converter()
    decoded = converter.structure(given, types.ClientCapabilities)
    again = json.loads(json.dumps(converter.unstructure(decoded, types.ClientCapabilities)))
    assert flat(again) == flat(given)
    assert set(PROVIDERS) <= {str(method) for method in types.METHOD_TO_TYPES}
    known = {attribute.name.replace("_", "") for attribute in types.ServerCapabilities.__attrs_attrs__}  # type: ignore[attr-defined]
    assert {provider.lower() for provider in PROVIDERS.values()} <= known


def flat(value: object, path: str = "") -> set[str]:
    if isinstance(value, dict):
        return set().union(*(flat(inner, f"{path}.{key}") for key, inner in value.items()))
    if isinstance(value, list | tuple):
        return {f"{path}={sorted(map(str, value))}"}
    return {f"{path}={value}"}


def test_offers_come_from_the_handshake_and_from_registrations() -> None:
    offers = Offers({"hoverProvider": {}, "definitionProvider": False}, Limits(lsp_max_registrations=1))
    assert offers.names() == ("textDocument/hover",)
    offers.register(WireRegistration("1", "textDocument/prepareCallHierarchy"))
    assert offers.has("callHierarchy/incomingCalls")
    with pytest.raises(Malformed):
        offers.register(WireRegistration("2", "textDocument/definition"))
    offers.unregister("1")
    assert not offers.has("callHierarchy/incomingCalls")


@pytest.mark.parametrize(
    ("section", "value"),
    [
        ("a.b", 1),
        ("a", {"b": 1}),
        ("dotted.key", 2),
        ("none", {}),
        ("a.b.c", {}),
        (None, {"a": {"b": 1}, "dotted.key": 2}),
    ],
)
def test_a_section_has_its_setting_or_an_empty_table(section: str | None, value: object) -> None:
    assert setting({"a": {"b": 1}, "dotted.key": 2}, section) == value


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("**/*.py", "a/b.py", True),
        ("**/*.py", "b.py", True),
        ("**", "a/b/c", True),
        ("*.py", "a/b.py", False),
        ("**/*.{ts,js}", "x/y.js", True),
        ("**/{a,b}/*.c", "q/b/z.c", True),
        ("**/?.c", "q/ab.c", False),
        ("src/[a-c].c", "src/b.c", True),
        ("src/[!a-c].c", "src/b.c", False),
        ("**/*", "/abs/x", True),
        ("**/go.{mod,sum}", "go.sum", True),
        ("a+b(c).py", "a+b(c).py", True),
        ("{{{", "{{{", True),
        ("*" * 500, "anything/at/all", True),
    ],
)
def test_globs_of_the_protocol(glob: str, path: str, matches: bool) -> None:
    assert (compile_glob(glob).fullmatch(path) is not None) == matches
