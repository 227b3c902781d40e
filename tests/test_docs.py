"""The documentation says what the code does."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from sightline_core.config import load_config
from sightline_server.cli.parser import COMMANDS, build_parser
from sightline_server.client_setup.clients import CLIENTS
from sightline_server.tools.table import TOOLS

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/reference.md", "bench/RESULTS.md"]


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL)


def reference_builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_reference", ROOT / "docs" / "build_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_equals_the_code() -> None:
    assert text_of("docs/reference.md") == reference_builder().build(), "run `make docs`"


@pytest.mark.parametrize("page", PAGES)
def test_every_link_to_a_file_leads_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text_of(page)):
        if "://" not in target:
            assert (ROOT / page).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_make_target_that_is_named_exists(page: str) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", text_of("Makefile"), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)", text_of(page)))
    named |= {
        line.split()[1] for block in blocks(page, "sh") for line in block.splitlines() if line.startswith("make ")
    }
    assert named
    assert named <= targets


def test_the_readme_opens_with_the_two_commands() -> None:
    first = blocks("README.md", "sh")[0].splitlines()
    assert [line.split("#")[0].strip() for line in first] == ["make run", "make test"]


def test_the_command_lines_of_the_readme_parse() -> None:
    lines = [line for block in blocks("README.md", "sh") for line in block.splitlines() if "serve-mcp" in line]
    assert lines
    for line in lines:
        words = line.split("serve-mcp", 1)[1].split("#")[0].split()
        args = build_parser().parse_args(["serve-mcp", *words])
        assert args.command.name == "serve-mcp"


def test_the_json_of_the_readme_starts_our_server() -> None:
    found = [json.loads(block) for block in blocks("README.md", "json")]
    assert found
    for body in found:
        servers = body.get("mcpServers") or body["servers"]
        entry = servers["sightline"]
        if "command" in entry:
            build_parser().parse_args(entry["args"])
        else:
            assert (entry.get("url") or entry["httpUrl"]) == "http://127.0.0.1:9100/mcp"


def test_the_toml_of_the_readme_is_valid(tmp_path: Path) -> None:
    configurations = 0
    for block in blocks("README.md", "toml"):
        body = tomllib.loads(block)
        if "mcp_servers" in body:
            continue
        file = tmp_path / "config.toml"
        file.write_text(block, "utf-8")
        load_config(environment={}, file=str(file))
        configurations += 1
    assert configurations


def test_the_readme_names_every_tool_and_command_and_none_that_is_missing() -> None:
    text = text_of("README.md")
    today = text.split("## What it does", 1)[1].split("\n## ", 1)[0]
    for name in [tool.name for tool in TOOLS] + list(COMMANDS):
        assert f"`{name}`" in today


def test_the_dependencies_are_explained() -> None:
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    text = text_of("CONTRIBUTING.md")
    for requirement in wanted:
        name = re.split(r"[<>=\[ ]", requirement, maxsplit=1)[0]
        assert f"**{name}**" in text, name


def test_the_packages_of_the_layout_exist() -> None:
    for folder in re.findall(r"`((?:core|indexer|search|lsp|server)/sightline_[a-z]+)", text_of("ARCHITECTURE.md")):
        assert (ROOT / folder / "__init__.py").is_file()


def test_the_invariants_name_tests_that_exist() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", text_of("ARCHITECTURE.md"))
    assert len(named) >= 15
    for file, test in named:
        assert re.search(rf"^(?:async )?def {test}\(", text_of(file), re.MULTILINE), f"{file}::{test}"


def test_the_files_that_contributing_names_exist() -> None:
    for path in re.findall(
        r"`((?:core|indexer|search|lsp|server|tests|docs)/[\w/.]+\.\w+)`", text_of("CONTRIBUTING.md")
    ):
        assert (ROOT / path).is_file(), path


def test_the_readme_sets_up_every_client() -> None:
    for client in CLIENTS:
        assert f"`sightline init {client.name}`" in text_of("README.md")
