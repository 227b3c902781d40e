"""What a server's places look like in an answer: other roots named, the outside never shown, no file's secrets."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sightline_server.locations import Location
from support.fake_pool import QUICK, table
from support.index_kit import write_tree
from support.navigation_kit import Desk, desk

pytestmark = pytest.mark.anyio

NAME = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}
METHOD = "textDocument/references"


@asynccontextmanager
async def answering(tmp_path: Path, *uris: str) -> AsyncGenerator[Desk]:
    """Two roots and a server that names these files as references."""
    write_tree(tmp_path / "a", {"main.py": "def alpha(): pass\nalpha()\n", ".env": "def KEY=secret\n"})
    write_tree(tmp_path / "b", {"other.py": "def gamma(): pass\n"})
    write_tree(tmp_path / "outside", {"far.py": "def delta(): pass\n"})
    os.symlink(tmp_path / "outside" / "far.py", tmp_path / "a" / "link.py")
    found = [{"uri": uri, "range": NAME} for uri in uris]
    script = {"on": {METHOD: [{"do": "reply", "result": found}]}}
    settings = {
        "server_tables": {"fake": table(tmp_path, script, "python")},
        "language_servers": {"python": ("fake",)},
    }
    async with desk(tmp_path, tmp_path / "a", tmp_path / "b", limits=QUICK, **settings) as made:
        yield made


async def places(made: Desk) -> list[dict[str, Any]]:
    body = await made.ask("find_references", path="main.py", line=1, column=5)
    assert "error" not in body, body
    return body["locations"]


async def test_a_place_in_another_root_names_the_root(tmp_path: Path) -> None:
    async with answering(tmp_path, (tmp_path / "b" / "other.py").as_uri()) as made:
        (found,) = await places(made)
    Location.model_validate(found)
    assert (found["path"], found["root"]) == ("other.py", str((tmp_path / "b").resolve()))
    assert (found["text"], found["symbol"]) == ("def gamma(): pass", "gamma")


@pytest.mark.parametrize("name", ["outside/far.py", "a/link.py"])
async def test_a_place_outside_all_roots_has_no_text(tmp_path: Path, name: str) -> None:
    async with answering(tmp_path, (tmp_path / name).as_uri()) as made:
        (found,) = await places(made)
    Location.model_validate(found)
    assert found["external"] is True
    assert os.path.isabs(found["path"])
    assert not {"text", "symbol", "root"} & set(found)


async def test_a_file_that_may_hold_secrets_is_named_and_not_quoted(tmp_path: Path) -> None:
    async with answering(tmp_path, (tmp_path / "a" / ".env").as_uri()) as made:
        (found,) = await places(made)
    assert found["path"] == ".env"
    assert "text" not in found


async def test_places_come_by_file_with_this_root_first_and_the_outside_last(tmp_path: Path) -> None:
    names = ("outside/far.py", "b/other.py", "a/main.py")
    async with answering(tmp_path, *((tmp_path / name).as_uri() for name in names)) as made:
        found = await places(made)
    assert [os.path.basename(place["path"]) for place in found] == ["main.py", "other.py", "far.py"]


async def test_the_enclosing_symbol_is_left_out_when_the_file_changed(tmp_path: Path) -> None:
    async with answering(tmp_path, (tmp_path / "b" / "other.py").as_uri()) as made:
        (tmp_path / "b" / "other.py").write_text("\n# moved\ndef gamma(): pass\n", "utf-8")
        (found,) = await places(made)
    assert "symbol" not in found


async def test_the_enclosing_symbol_is_the_one_of_the_index_as_it_is_now(tmp_path: Path) -> None:
    async with answering(tmp_path, (tmp_path / "b" / "other.py").as_uri()) as made:
        assert [place["symbol"] for place in await places(made)] == ["gamma"]
        for name in ("delta", "kappa"):
            (tmp_path / "b" / "other.py").write_text(f"def {name}(): pass\n", "utf-8")
            await made.ask("sync_repo", wait=True, workspace=str(tmp_path / "b"))
            (found,) = await places(made)
            assert (found["text"], found["symbol"]) == (f"def {name}(): pass", name)


async def test_every_field_of_a_place_by_name_is_one_of_the_schema(tmp_path: Path) -> None:
    write_tree(tmp_path / "a", {"main.py": "def alpha(): pass\nalpha()\n", "tests/test_it.py": "alpha = 1\nalpha\n"})
    async with desk(tmp_path, tmp_path / "a", limits=QUICK, language_servers={"python": ()}) as made:
        found = await places(made)
    assert {name for row in found for name in row} >= {"role", "text", "is_test", "doubtful"}
    for row in found:
        assert Location.model_validate(row).model_dump(exclude_none=True) == row
