"""`sightline status` and `sightline cancel`: what the index and its jobs are doing."""

from __future__ import annotations

import argparse
import functools
import json
import sys
from typing import Any

from sightline_server.cli.command import Command
from sightline_server.cli.in_process import add_workspace_flags, call_tool_on, run_on_workspace


def _configure_status(parser: argparse.ArgumentParser) -> None:
    add_workspace_flags(parser, positional=True)


def _configure_cancel(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job_id", metavar="JOB", help="the id that index and status print")
    add_workspace_flags(parser, positional=False)


def _run_status(args: argparse.Namespace) -> int:
    body = run_on_workspace(args, functools.partial(call_tool_on, "index_status", {}))
    if args.json:
        sys.stdout.write(json.dumps(body) + "\n")
    elif "error" in body:
        sys.stderr.write(f"sightline: {body['error']['message']}\n")
    else:
        sys.stdout.write(_shown(body))
    if "error" in body:
        return 2
    return 0 if body["file_count"] else 1


def _run_cancel(args: argparse.Namespace) -> int:
    body = run_on_workspace(args, functools.partial(call_tool_on, "cancel_job", {"job_id": args.job_id}))
    if "error" in body:
        sys.stderr.write(f"sightline: {body['error']['message']}\n")
        return 2
    sys.stdout.write(json.dumps(body) + "\n" if args.json else f"job {body['job_id']} is {body['status']}\n")
    return 0


def _shown(body: dict[str, Any]) -> str:
    metadata = body["metadata"]
    rows = [
        ("workspace", body["repo_root"]),
        ("ref", metadata.get("ref", "")),
        ("index", f"{body['index_status']}, {metadata['freshness_status']}"),
        ("files", str(body["file_count"])),
        ("symbols", str(body["symbol_count"])),
        ("indexed at", body.get("last_indexed_at", "never")),
        ("languages", _counts(body["languages"])),
        ("skipped", _counts(body["skipped"]) or "nothing"),
    ]
    if "active_job" in body:
        job = body["active_job"]
        rows.append(("running", f"{job['job_id']}  {job['estimated_completion_pct']}%  {job['message']}"))
    if "problem" in body:
        rows.append(("problem", body["problem"]))
    if "interrupted_recovery_report" in body:
        report = body["interrupted_recovery_report"]
        rows.append(("interrupted", f"{report['interrupted_jobs']} jobs; run: {report['recommended_action']}"))
    rows += [
        ("job", f"{job['job_id']}  {job['status']}  {job.get('message', '')}") for job in body["recent_jobs"][:3]
    ]
    return "".join(f"{name:<12} {value}\n" for name, value in rows)


def _counts(table: dict[str, int]) -> str:
    return ", ".join(f"{name or 'other'} {count}" for name, count in table.items())


STATUS = Command("status", "show the state of a workspace's index", _configure_status, _run_status)
CANCEL = Command("cancel", "stop a running index job", _configure_cancel, _run_cancel)
