"""Which directory a call is about."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sightline_core.config import Config
from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_server.registry import Registry
from sightline_server.workspaces import Origin, Workspaces


@pytest.fixture
def roots(tmp_path: Path) -> Path:
    """A folder of directories: a, a/inner, b, and thirteen more."""
    folder = tmp_path / "roots"
    for name in ("a/inner", "b", *(f"auto{n:02}" for n in range(13))):
        (folder / name).mkdir(parents=True)
    return folder.resolve()


def make(config: Config, **changes: object) -> Workspaces:
    changed = replace(config, **changes)
    return Workspaces(changed, Registry(changed.data_dir))


def code_of(workspaces: Workspaces, text: str | None) -> ErrorCode:
    with pytest.raises(SightlineError) as caught:
        workspaces.resolve(text, None)
    return caught.value.code


def test_a_path_below_a_registered_root_is_that_project_and_the_longest_wins(config: Config, roots: Path) -> None:
    workspaces = make(config, workspace=(str(roots / "a"), str(roots / "a/inner")))
    assert workspaces.resolve(str(roots / "a/inner/deep/x"), None).path == str(roots / "a/inner")
    assert workspaces.resolve(str(roots / "a/other"), None).path == str(roots / "a")
    assert workspaces.resolve(str(roots / "a") + "/", None).path == str(roots / "a")
    assert code_of(workspaces, str(roots / "a2")) is ErrorCode.WORKSPACE_NOT_REGISTERED


def test_a_link_is_its_target(config: Config, roots: Path) -> None:
    (roots / "link").symlink_to(roots / "b")
    workspaces = make(config, workspace=(str(roots / "link"),))
    assert workspaces.resolve(str(roots / "b"), None).path == str(roots / "b")


def test_an_unknown_workspace_is_refused_and_the_known_ones_are_listed(config: Config, roots: Path) -> None:
    workspaces = make(config, workspace=(str(roots / "a"),))
    with pytest.raises(SightlineError) as caught:
        workspaces.resolve(str(roots / "b"), None)
    assert caught.value.code is ErrorCode.WORKSPACE_NOT_REGISTERED
    assert caught.value.data["registered"] == [str(roots / "a")]


@pytest.mark.parametrize("text", ["", "relative/path", "nul\0byte", "/" + "x" * 5000, "/\ud800"])
def test_text_that_is_no_absolute_path_is_invalid(config: Config, text: str) -> None:
    assert code_of(make(config), text) is ErrorCode.INVALID_INPUT


def test_without_a_default_a_call_must_name_its_workspace(config: Config) -> None:
    assert code_of(make(config), None) is ErrorCode.WORKSPACE_NOT_REGISTERED


def test_the_home_directory_and_the_root_are_no_default_unless_named(config: Config, monkeypatch: object) -> None:
    workspaces = make(config, workspace=())
    assert workspaces.default_for("/") is None
    assert workspaces.default_for(os.path.expanduser("~")) is None
    named = make(config, workspace=(os.path.expanduser("~"),))
    assert named.default_for("/").path == os.path.realpath(os.path.expanduser("~"))


def test_the_start_directory_is_the_default_when_nothing_is_named(config: Config, roots: Path) -> None:
    found = make(config, workspace=()).default_for(str(roots / "b"))
    assert found.path == str(roots / "b")
    assert found.trusted


def test_discovery_needs_an_allowed_root_that_exists(config: Config, roots: Path) -> None:
    for allowed in ((), (str(roots / "missing"),)):
        with pytest.raises(SightlineError) as caught:
            make(config, auto_workspace=True, allowed_root=allowed)
        assert caught.value.code is ErrorCode.INVALID_INPUT


def test_discovery_stays_below_the_allowed_roots(config: Config, roots: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (roots / "escape").symlink_to(tmp_path / "outside")
    workspaces = make(config, workspace=(), auto_workspace=True, allowed_root=(str(roots),))
    found = workspaces.resolve(str(roots / "b"), None)
    assert found.origin is Origin.AUTO_DISCOVERED
    assert not found.trusted
    assert code_of(workspaces, str(tmp_path / "outside")) is ErrorCode.WORKSPACE_NOT_ALLOWED
    assert code_of(workspaces, str(roots / "escape")) is ErrorCode.WORKSPACE_NOT_ALLOWED
    assert code_of(workspaces, str(roots) + "x") is ErrorCode.WORKSPACE_NOT_ALLOWED
    assert code_of(workspaces, str(roots / "not-there")) is ErrorCode.INVALID_INPUT


def test_the_least_recently_used_idle_workspace_makes_room(config: Config, roots: Path) -> None:
    limits = replace(Limits(), max_auto_workspaces=3)
    workspaces = make(config, workspace=(), auto_workspace=True, allowed_root=(str(roots),), limits=limits)
    first, second, third = (workspaces.resolve(str(roots / f"auto0{n}"), None) for n in range(3))
    workspaces.resolve(first.path, None)
    workspaces.resolve(str(roots / "auto03"), None)
    assert {w.path for w in workspaces.all()} == {first.path, third.path, str(roots / "auto03")}
    assert second.path not in {w.path for w in workspaces.all()}


def test_busy_workspaces_are_never_evicted(config: Config, roots: Path) -> None:
    limits = replace(Limits(), max_auto_workspaces=2)
    workspaces = make(config, workspace=(), auto_workspace=True, allowed_root=(str(roots),), limits=limits)
    for number in range(2):
        workspaces.resolve(str(roots / f"auto0{number}"), None).active_calls = 1
    assert code_of(workspaces, str(roots / "auto02")) is ErrorCode.WORKSPACE_LIMIT_EXCEEDED


def test_the_registry_survives_a_restart_and_discovery_asks_again(config: Config, roots: Path) -> None:
    before = make(config, workspace=(str(roots / "a"),), auto_workspace=True, allowed_root=(str(roots),))
    before.resolve(str(roots / "b"), None)
    after = make(config, workspace=())
    assert {w.path for w in after.all()} == {str(roots / "a")}
    again = make(config, workspace=(), auto_workspace=True, allowed_root=(str(roots),))
    assert {w.path for w in again.all()} == {str(roots / "a"), str(roots / "b")}
    assert not again.resolve(str(roots / "a"), None).trusted, "only naming it again makes it trusted"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"workspaces": 3}', '{"workspaces": [{"path": 1}]}', "\0\0"])
def test_a_damaged_registry_is_set_aside(tmp_path: Path, content: str) -> None:
    (tmp_path / "registry.json").write_text(content, "utf-8")
    registry = Registry(str(tmp_path))
    assert registry.entries() == []
    assert (tmp_path / "registry.json.damaged").read_text("utf-8") == content
    registry.remember("/somewhere", auto_discovered=False)
    assert [entry.path for entry in Registry(str(tmp_path)).entries()] == ["/somewhere"]


def test_trust_is_remembered_and_revoked(tmp_path: Path) -> None:
    registry = Registry(str(tmp_path))
    registry.set_trusted("/somewhere", trusted=True)
    assert Registry(str(tmp_path)).get("/somewhere").trusted
    Registry(str(tmp_path)).set_trusted("/somewhere", trusted=False)
    assert not Registry(str(tmp_path)).get("/somewhere").trusted


def test_a_project_id_is_sixteen_hexadecimal_digits(config: Config, roots: Path) -> None:
    found = make(config, workspace=(str(roots / "a"),)).resolve(str(roots / "a"), None)
    assert len(found.project_id) == 16
    int(found.project_id, 16)
