"""`sightline index` and `sightline sync`: bring an index up to date, with progress."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from sightline_server.cli.command import Command
from sightline_server.cli.in_process import add_workspace_flags, run_on_workspace

if TYPE_CHECKING:
    from sightline_indexer.job import Job
    from sightline_server.app import Services
    from sightline_server.workspaces import Workspace


def _configure(parser: argparse.ArgumentParser) -> None:
    add_workspace_flags(parser, positional=True)
    parser.add_argument("--force", action="store_true", help="do it all again, trusting nothing that is stored")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, only the summary")


def _run_index(args: argparse.Namespace) -> int:
    return _run(args, full=True)


def _run_sync(args: argparse.Namespace) -> int:
    return _run(args, full=False)


def _run(args: argparse.Namespace, *, full: bool) -> int:
    async def work(services: Services, workspace: Workspace) -> int:
        from sightline_core.types import JobMode, JobState

        index = await services.indexes.of(workspace)
        mode = JobMode.FULL if full else JobMode.INCREMENTAL
        job = index.start_job(mode=mode, force=args.force, reason="command line")
        await _follow(job, quiet=args.quiet)
        if job.error is not None:
            raise job.error
        if args.json:
            sys.stdout.write(json.dumps(_body(job, workspace, full=full)) + "\n")
        else:
            _summarise(job, workspace)
        return 0 if job.state is JobState.PUBLISHED else 2

    return run_on_workspace(args, work)


async def _follow(job: Job, *, quiet: bool) -> None:
    from sightline_server.cli.progress_bar import ProgressBar
    from sightline_server.job_follow import follow

    bar = ProgressBar()
    async for progress in follow(job, interval_s=0.1):
        if not quiet and not job.is_over:
            bar.show(progress)
    bar.done()


def _body(job: Job, workspace: Workspace, *, full: bool) -> dict[str, object]:
    from sightline_server.dispatch import finish
    from sightline_server.tools import index_repo, sync_repo
    from sightline_server.tools.base import Answer

    if full:
        return finish(index_repo.INDEX_REPO, Answer(index_repo.shown(job)), workspace, sys.maxsize)
    return finish(sync_repo.SYNC_REPO, Answer(sync_repo.shown(job)), workspace, sys.maxsize)


def _summarise(job: Job, workspace: Workspace) -> None:
    from sightline_server.workspace_status import status_of

    status = status_of(workspace)
    lines = [job.progress.message, f"  changed    {job.changed_files} files"]
    if status.state is not None:
        languages = sorted(status.state.languages.items(), key=lambda item: -item[1])
        lines.append("  languages  " + ", ".join(f"{name or 'other'} {count}" for name, count in languages[:8]))
        if status.state.skipped:
            skipped = sorted(status.state.skipped.items(), key=lambda item: -item[1])
            lines.append("  skipped    " + ", ".join(f"{reason} {count}" for reason, count in skipped))
    sys.stdout.write("\n".join(lines) + "\n")


INDEX = Command(
    "index", "build the index of a workspace", _configure, _run_index, example="sightline index ~/src/project"
)
SYNC = Command("sync", "bring changed files into the index", _configure, _run_sync)
