"""`sightline doctor`: what is missing, and the command that brings it."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sightline_server.cli.command import Command, add_workspace_flags, config_of
from sightline_server.cli.in_process import run_on_workspace

if TYPE_CHECKING:
    from sightline_indexer.index_state import IndexState
    from sightline_server.app import Services
    from sightline_server.workspaces import Workspace

_PROBE_BYTES = 4096
_INOTIFY_LIMIT_FILE = "/proc/sys/fs/inotify/max_user_watches"


class Verdict(StrEnum):
    """How a check ended."""

    GOOD = "good"
    MISSING = "missing"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, and what to do about it."""

    name: str
    verdict: Verdict
    detail: str
    remedy: str = ""


def _configure(parser: argparse.ArgumentParser) -> None:
    add_workspace_flags(parser, positional=True)


def _run(args: argparse.Namespace) -> int:
    checks = [_python(), _git(), _data_folder(config_of(args).data_dir), _grammars(), _watches()]
    if all(check.verdict is not Verdict.BAD for check in checks):
        checks += run_on_workspace(args, _examine)
    if args.json:
        sys.stdout.write(json.dumps({"checks": [asdict(check) for check in checks]}) + "\n")
    else:
        sys.stdout.write("".join(_line(check) for check in checks) + _verdict(checks))
    return 0 if all(check.verdict is Verdict.GOOD for check in checks) else 1


async def _examine(services: Services, workspace: Workspace) -> list[Check]:
    index = await services.indexes.of(workspace)
    return [_index(index.status(), workspace.path), *_servers(services, workspace)]


def _python() -> Check:
    return Check("python", Verdict.GOOD, sys.version.split()[0])


def _git() -> Check:
    found = shutil.which("git")
    if found:
        return Check("git", Verdict.GOOD, found)
    return Check("git", Verdict.GOOD, "not installed; only tests need it")


def _data_folder(folder: str) -> Check:
    remedy = "make room or set SIGHTLINE_DATA_DIR to another folder"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0" * _PROBE_BYTES)
    except OSError as error:
        return Check("data folder", Verdict.BAD, f"{folder} cannot be written: {error.strerror}", remedy)
    free = shutil.disk_usage(folder).free // 2**20
    return Check("data folder", Verdict.GOOD, f"{folder}, {free} MiB free")


def _grammars() -> Check:
    from sightline_indexer.grammars import installed_grammars

    available, missing = installed_grammars()
    if not missing:
        return Check("grammars", Verdict.GOOD, f"{len(available)} languages")
    return Check("grammars", Verdict.BAD, f"missing: {', '.join(missing)}", "install sightline again")


def _watches() -> Check:
    try:
        with open(_INOTIFY_LIMIT_FILE, encoding="ascii") as file:
            limit = int(file.read())
    except (OSError, ValueError):
        return Check("file watches", Verdict.GOOD, "the system names no limit")
    enough = 8192
    if limit >= enough:
        return Check("file watches", Verdict.GOOD, f"{limit} directories can be watched")
    return Check("file watches", Verdict.BAD, f"only {limit} directories", f"raise {_INOTIFY_LIMIT_FILE}")


def _index(state: IndexState, path: str) -> Check:
    where = shlex.quote(path)
    if state.problem:
        return Check("index", Verdict.BAD, f"{path}: {state.problem}", f"sightline index --force {where}")
    if not state.complete:
        told = state.indexing_status.value.replace("_", " ")
        return Check("index", Verdict.BAD, f"{path} is {told}", f"sightline index {where}")
    return Check("index", Verdict.GOOD, f"{state.file_count:,} files of {path}")


def _servers(services: Services, workspace: Workspace) -> list[Check]:
    from sightline_core.types import SourceStatus

    checks: list[Check] = []
    for source in services.language_servers.sources(workspace):
        name = f"{source.language} server"
        if source.status is SourceStatus.NOT_INSTALLED:
            checks.append(Check(name, Verdict.MISSING, f"{source.server} is not installed", source.detail))
        elif source.status is SourceStatus.UNTRUSTED:
            checks.append(Check(name, Verdict.MISSING, f"{source.server} runs code of the workspace", source.detail))
        else:
            checks.append(Check(name, Verdict.GOOD, source.server or source.status.value))
    return checks


def _verdict(checks: list[Check]) -> str:
    open_ones = [check for check in checks if check.verdict is not Verdict.GOOD]
    if not open_ones:
        return "\nEverything is there.\n"
    bad = sum(check.verdict is Verdict.BAD for check in open_ones)
    kind = f"{bad} must be mended" if bad else "searches work without them"
    return f"\n{len(open_ones)} of {len(checks)} are missing; {kind}. Run the commands behind the arrows.\n"


def _line(check: Check) -> str:
    mark = {Verdict.GOOD: "ok", Verdict.MISSING: "--", Verdict.BAD: "!!"}[check.verdict]
    remedy = f"\n{'':24}→ {check.remedy}" if check.remedy else ""
    return f"{mark}  {check.name:<18}  {check.detail}{remedy}\n"


DOCTOR = Command("doctor", "tell what to install or repair", _configure, _run, example="sightline doctor")
