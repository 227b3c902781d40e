"""One daemon for all: started once, keyed by version and configuration, gone when nobody needs it."""

from __future__ import annotations

import json
import os
import resource
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sightline_core.config import SETTINGS, Config
from sightline_server.daemon import place as light
from sightline_server.daemon import places
from support.daemon_kit import INITIALIZE, Front, Yard, until, yard_of


def test_twenty_fronts_at_once_start_one_daemon(yard: Yard) -> None:
    fronts = [yard.start() for _ in range(20)]
    for front in fronts:
        front.open()
    assert len(yard.daemon()["sessions"]) == 20
    assert {front.end() for front in fronts} == {0}
    until(lambda: not yard.daemon()["sessions"], "sessions stayed")


def test_only_the_user_reaches_the_socket(yard: Yard) -> None:
    yard.start().open()
    (place,) = places.all_places(yard.effective)
    assert stat.S_IMODE(os.stat(place.folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(place.socket).st_mode) == 0o600


def test_stale_files_are_no_obstacle(yard: Yard) -> None:
    place = places.place_of(yard.effective)
    light.prepare_folder(place.folder)
    for path in (place.socket, place.lock):
        Path(path).write_text("left behind", "utf-8")
    assert yard.start().open().end() == 0
    assert yard.daemon()["name"] == place.name


def test_a_folder_with_a_long_name_serves_too(config: Config, tmp_path: Path) -> None:
    with yard_of(config, tmp_path / ("long" * 30)) as yard:
        yard.start().open()
        assert len(yard.daemon()["sessions"]) == 1


def test_another_version_gets_a_daemon_of_its_own_and_the_old_one_leaves(yard: Yard) -> None:
    old_front = yard.start().open()
    old = yard.daemon()["pid"]
    program = (
        "import sys, sightline_core.version as version; version.__version__ = '99.0'\n"
        "from sightline_server.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    argv = yard.command("serve-mcp")
    new_front = yard.start(argv=[sys.executable, "-c", program, *argv[argv.index("serve-mcp") :]]).open()
    until(lambda: any(found["retired"] for found in yard.daemons()), "the old daemon was not told")
    assert {found["pid"] for found in yard.daemons()} > {old}
    # It serves to the end those that it has.
    assert old_front.call("health_check")["status"] in ("ready", "indexing", "warming")
    old_front.end()
    until(lambda: [found["pid"] for found in yard.daemons()] != [old] and len(yard.daemons()) == 1, "it stayed")
    assert new_front.call("health_check")["version"]


def test_a_daemon_without_sessions_ends(config: Config, tmp_path: Path) -> None:
    short = replace(config, limits=replace(config.limits, daemon_idle_s=0.2))
    with yard_of(short, tmp_path) as yard:
        yard.start().open().end()
        until(lambda: not yard.processes(), "it stayed")
        assert not os.path.exists(places.place_of(yard.effective).socket)


def test_where_there_can_be_no_socket_the_front_serves_in_process(yard: Yard, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    front = yard.start(env={"SIGHTLINE_RUNTIME_DIR": str(blocked / "run")})
    # The mark of the yard is another one now, so it is asked while it lives.
    assert front.open().call("health_check")["status"]
    assert yard.daemons() == []
    assert front.end() == 0
    assert b"serving in process" in front.process.stderr.read()


def test_a_disk_that_takes_nothing_more_still_gets_answers(yard: Yard) -> None:
    front = yard.start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    body = front.open().call("health_check")
    assert body["metadata"]["result_completeness"]


def test_no_daemon_means_none(yard: Yard) -> None:
    assert yard.start("--no-daemon").open().end() == 0
    assert yard.daemons() == []


@pytest.mark.parametrize("args", [["--toolset", "nonsense"], ["--workspace", "missing"], ["--auto-workspace"]])
def test_a_session_that_cannot_work_is_refused_at_the_start(yard: Yard, args: list[str]) -> None:
    front = yard.start(*args)
    assert front.process.wait(40) == 2
    assert b"sightline: " in front.process.stderr.read()


def test_every_setting_belongs_to_the_daemon_the_session_or_the_front() -> None:
    groups = places.SERVICE_SETTINGS + places.SESSION_SETTINGS + places.OWN_SETTINGS
    assert sorted(groups) == sorted(setting.key for setting in SETTINGS)


def test_the_settings_of_a_daemon_survive_the_way_to_it(config: Config) -> None:
    given = replace(config, language_servers={"python": ("ty",)}, server_tables={"ty": {"command": ["ty", "server"]}})
    there = places.service_config(places.service_settings(given), "/run")
    assert places.service_settings(there) == places.service_settings(given)
    assert places.place_of(replace(there, runtime_dir="")).name == places.place_of(given).name


def test_what_belongs_to_a_session_does_not_make_another_daemon(config: Config) -> None:
    name = places.place_of(config).name
    assert places.place_of(replace(config, toolset=("core",), workspace=())).name == name
    assert places.place_of(replace(config, watch=False)).name != name
    assert places.place_of(config, version="99").name != name


def test_only_monotonic_clocks_decide() -> None:
    for file in Path(places.__file__).parent.glob("*.py"):
        text = file.read_text("utf-8")
        assert "time.time(" not in text
        assert "datetime" not in text


def test_a_client_without_roots_keeps_the_workspace_of_its_front(yard: Yard, workspace: Path, tmp_path: Path) -> None:
    other = (tmp_path / "other").resolve()
    other.mkdir()
    front = yard.start()
    front.ask("initialize", {**INITIALIZE["params"], "capabilities": {"roots": {"listChanged": True}}})
    for change, roots, expected in (
        ("initialized", [{"uri": other.as_uri()}], other),
        ("roots/list_changed", [], workspace),
    ):
        front.write(b'{"jsonrpc":"2.0","method":"notifications/%s"}\n' % change.encode())
        question = front.read()
        assert question["method"] == "roots/list"
        answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"roots": roots}}
        front.write(json.dumps(answer).encode() + b"\n")
        until(lambda path=str(expected): _default_of(front) == path, f"{expected} did not become the default")


def _default_of(front: Front) -> str | None:
    return front.call("health_check")["metadata"].get("workspace")
