"""`sightline serve-mcp`: the server that agents connect to."""

from __future__ import annotations

import argparse
import os

from sightline_server.cli.command import Command, Group, config_of, set_up_logging


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--transport", choices=("stdio", "http"), help="how clients connect (default: stdio)")
    parser.add_argument("--port", type=int, metavar="N", help="TCP port for HTTP (default: 9100; 0 picks one)")
    parser.add_argument("--bind", metavar="ADDR", help="address for HTTP (default: 127.0.0.1)")
    parser.add_argument("--workspace", action="append", metavar="PATH", help="register this directory (repeatable)")
    parser.add_argument(
        "--auto-workspace", action="store_true", default=None, help="register unknown workspaces on demand"
    )
    parser.add_argument(
        "--allowed-root", action="append", metavar="PATH", help="where workspaces may be discovered (repeatable)"
    )
    parser.add_argument("--toolset", metavar="LIST", help="toolsets or tools, separated by commas (default: default)")
    parser.add_argument(
        "--allow-write", action="store_true", default=None, help="let tools change files (none of this release does)"
    )
    parser.add_argument(
        "--no-prewarm", dest="prewarm", action="store_false", default=None, help="open indexes at first use only"
    )
    parser.add_argument(
        "--no-watch", dest="watch", action="store_false", default=None, help="do not watch for changes"
    )
    parser.add_argument(
        "--no-daemon",
        dest="daemon",
        action="store_false",
        default=None,
        help="serve stdio in this process, sharing nothing",
    )
    parser.add_argument("--token-file", metavar="FILE", help="bearer token for HTTP (or set SIGHTLINE_TOKEN)")
    parser.add_argument("--audit-log", metavar="FILE", help="write one JSON line for each tool call")


def _run(args: argparse.Namespace) -> int:
    set_up_logging(args.verbose)
    config = config_of(
        args,
        transport=args.transport,
        port=args.port,
        bind=args.bind,
        workspace=args.workspace,
        auto_workspace=args.auto_workspace,
        allowed_root=args.allowed_root,
        toolset=args.toolset.split(",") if args.toolset is not None else None,
        allow_write=args.allow_write,
        prewarm=args.prewarm,
        watch=args.watch,
        token_file=args.token_file,
        audit_log=args.audit_log,
        daemon=args.daemon,
    )
    if config.transport == "stdio" and config.daemon:
        from sightline_server.daemon.serve_front import serve_front

        if serve_front(config, args.verbose):
            return 0
    # Importing the MCP library takes a second, so a wrong flag must have been told before.
    from sightline_server.serving import run_server

    run_server(config, os.environ)
    return 0


SERVE_MCP = Command(
    "serve-mcp",
    "serve agents over stdio or HTTP",
    _configure,
    _run,
    example="sightline serve-mcp --transport http",
    group=Group.AGENTS,
)
