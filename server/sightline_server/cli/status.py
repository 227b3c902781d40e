"""`sightline status` and `sightline cancel`: what the index and its jobs are doing."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from sightline_server.cli.ask import call_on_workspace, status_source
from sightline_server.cli.command import Command, Group, add_workspace_flags, config_of
from sightline_server.cli.paint import is_live
from sightline_server.cli.told import counted, tell_error, visible


def _configure_status(parser: argparse.ArgumentParser) -> None:
    add_workspace_flags(parser, positional=True)
    parser.add_argument("-w", "--watch", action="store_true", help="go on showing it until Ctrl-C")


def _configure_cancel(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job_id", metavar="JOB", help="the id that index and status print")
    add_workspace_flags(parser, positional=False)


def _run_status(args: argparse.Namespace) -> int:
    if args.watch:
        return _watch(args)
    return _show(args, call_on_workspace(args, "index_status", {}, catch_up=False))


def _watch(args: argparse.Namespace) -> int:
    """Show the status again when it changed: in place on a terminal, one after the other in a pipe."""
    interval_s = config_of(args).limits.status_watch_s
    live = is_live(sys.stdout) and not args.json
    last: Any = None
    with status_source(args) as read:
        while True:
            body = read()
            if live:
                sys.stdout.write("\x1b[H\x1b[J")
            if live or body != last:
                code = _show(args, body)
                sys.stdout.flush()
                if code == 2:
                    return code
            last = body
            time.sleep(interval_s)


def _show(args: argparse.Namespace, body: dict[str, Any]) -> int:
    if "error" in body:
        return tell_error(body, as_json=args.json)
    sys.stdout.write(json.dumps(body, ensure_ascii=False) + "\n" if args.json else _shown(body))
    return 0 if body["file_count"] else 1


def _run_cancel(args: argparse.Namespace) -> int:
    body = call_on_workspace(args, "cancel_job", {"job_id": args.job_id}, catch_up=False)
    if "error" in body:
        return tell_error(body, as_json=args.json)
    sys.stdout.write(json.dumps(body) + "\n" if args.json else f"job {body['job_id']} is {body['status']}\n")
    return 0


def _shown(body: dict[str, Any]) -> str:
    metadata = body["metadata"]
    rows = [
        ("workspace", body["repo_root"]),
        ("ref", metadata.get("ref", "")),
        ("index", f"{body['index_status']}, {_freshness(body)}"),
        ("files", f"{body['file_count']:,}"),
        ("symbols", f"{body['symbol_count']:,}"),
        ("indexed at", body.get("last_indexed_at", "never")),
        ("languages", counted(body["languages"], total=body["file_count"])),
        ("skipped", counted(body["skipped"])),
    ]
    if "active_job" in body:
        job = body["active_job"]
        rows.append(("running", f"{job['job_id']}  {job['estimated_completion_pct']}%  {job['message']}"))
    if "problem" in body:
        rows.append(("problem", f"{body['problem']}; run: sightline index --force"))
    if "interrupted_recovery_report" in body:
        report = body["interrupted_recovery_report"]
        rows.append(("interrupted", f"{report['interrupted_jobs']} jobs; run: {report['recommended_action']}"))
    rows += [
        ("job", f"{job['job_id']}  {job['status']}  {job.get('message', '')}") for job in body["recent_jobs"][:3]
    ]
    return "".join(f"{name:<12} {visible(value)}\n" for name, value in rows)


def _freshness(body: dict[str, Any]) -> str:
    fresh: str = body["metadata"]["freshness_status"]
    if fresh == "stale" and body["index_status"] == "ready" and body["watcher"]["state"] == "off":
        return "not watched: commands look for changes first"
    return fresh


STATUS = Command("status", "show the state of a workspace's index", _configure_status, _run_status, group=Group.INDEX)
CANCEL = Command("cancel", "stop a running index job", _configure_cancel, _run_cancel, group=Group.INDEX)
