"""`sightline daemon`: the process that sessions and commands share."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from sightline_server.cli.command import Command, config_of, set_up_logging

if TYPE_CHECKING:
    from sightline_core.config import Config
    from sightline_server.daemon.place import Place

_MIB = 2**20
_ACTIONS = ("status", "stop", "restart", "logs", "run")


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=_ACTIONS,
        nargs="?",
        default="status",
        help="status and stop: every daemon of yours; restart, logs and run: the one of this configuration",
    )
    parser.add_argument("-f", "--follow", action="store_true", help="logs: go on as the daemon writes")
    parser.add_argument("-n", "--lines", type=int, metavar="N", help="logs: how many lines (default: 50)")
    parser.add_argument("--port", type=int, metavar="N", help="run: serve HTTP too, on this port")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _run(args: argparse.Namespace) -> int:
    set_up_logging(args.verbose)
    config = config_of(args, port=args.port)
    return {"status": _status, "stop": _stop, "restart": _restart, "logs": _logs, "run": _run_here}[args.action](
        args, config
    )


def _status(args: argparse.Namespace, config: Config) -> int:
    reports = _reports(config)
    if args.json:
        sys.stdout.write(json.dumps({"daemons": reports}) + "\n")
    else:
        sys.stdout.write("".join(_shown(report) for report in reports) or "no daemon is running\n")
    return 0 if reports else 1


def _stop(args: argparse.Namespace, config: Config) -> int:
    from sightline_server.daemon.places import all_places

    stopped = [pid for place in all_places(config) if (pid := _stop_one(place, config)) is not None]
    if args.json:
        sys.stdout.write(json.dumps({"stopped": stopped}) + "\n")
    else:
        sys.stdout.write("".join(f"stopped {pid}\n" for pid in stopped) or "no daemon is running\n")
    return 0 if stopped else 1


def _restart(args: argparse.Namespace, config: Config) -> int:
    from sightline_core.errors import ErrorCode, SightlineError
    from sightline_server.daemon.link import RefusedError, greet_or_start
    from sightline_server.daemon.place import NoDaemonError
    from sightline_server.daemon.places import place_of, way_to
    from sightline_server.daemon.wire import hello

    _stop_one(place_of(config), config)
    try:
        lines = greet_or_start(way_to(config, hello("control", ask="status"), args.verbose))
    except (NoDaemonError, RefusedError) as error:
        raise SightlineError(ErrorCode.INTERNAL_ERROR, f"{error}.") from None
    lines.socket.close()
    return _status(args, config)


def _logs(args: argparse.Namespace, config: Config) -> int:
    from sightline_server.daemon.places import place_of

    place = place_of(config)
    try:
        with open(place.log, encoding="utf-8", errors="replace") as file:
            sys.stdout.write("".join(deque(file, args.lines or config.limits.daemon_log_lines)))
            while args.follow:
                sys.stdout.flush()
                text = file.read()
                sys.stdout.write(text)
                if not text:
                    time.sleep(config.limits.status_watch_s)
    except FileNotFoundError:
        sys.stderr.write(f"sightline: there is no log at {place.log}\n")
        return 1
    return 0


def _run_here(args: argparse.Namespace, config: Config) -> int:
    from sightline_server.daemon.foreground import run_in_foreground

    run_in_foreground(config, with_http=args.port is not None)
    return 0


def _reports(config: Config) -> list[dict[str, Any]]:
    from sightline_server.daemon.client import ask_control
    from sightline_server.daemon.places import all_places

    replies = [ask_control(place, config, "status") for place in all_places(config)]
    return [reply["daemon"] for reply in replies if reply is not None and reply.get("ok")]


def _stop_one(place: Place, config: Config) -> int | None:
    """Stop a daemon and wait until its process is gone; its process id, or None when there is none."""
    from sightline_server.daemon.client import ask_control

    reply = ask_control(place, config, "stop")
    if reply is None:
        return None
    pid: int = reply["pid"]
    end = time.monotonic() + config.limits.daemon_stop_s
    while _is_alive(pid) and time.monotonic() < end:
        time.sleep(config.limits.daemon_lock_poll_ms / 1000)
    return pid


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _shown(report: dict[str, Any]) -> str:
    retired = ", leaves with its last session" if report["retired"] else ""
    memory = f", {report['rss_bytes'] // _MIB} MiB" if report["rss_bytes"] else ""
    lines = [
        f"daemon {report['pid']}  {report['version']}, up {_duration(report['uptime_seconds'])}{memory}{retired}",
        f"  data       {report['data_dir']}",
    ]
    for session in report["sessions"]:
        who = session["client"] or f"process {session['pid']}"
        where = session["workspace"] or "no default workspace"
        calls = f", {session['active_calls']} calls" if session["active_calls"] else ""
        lines.append(f"  session    {who}  {where}, {_duration(session['age_seconds'])}{calls}")
    for project in report["workspaces"]:
        lines.append(f"  workspace  {project['repo_root']}  {project['index_status']}")
    for server in report["servers"]:
        memory = f", {server['rss_bytes'] // _MIB} MiB" if server.get("rss_bytes") else ""
        lines.append(f"  server     {server['name']}  {server['state']}{memory}")
    return "\n".join(lines) + "\n"


def _duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


DAEMON = Command("daemon", "show or stop the shared process", _configure, _run, example="sightline daemon")
