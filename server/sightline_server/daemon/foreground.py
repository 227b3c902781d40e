"""A daemon in the foreground, for a supervisor or a person; with an HTTP listener if asked for."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import replace

from sightline_core.config import Config
from sightline_core.errors import ErrorCode, SightlineError
from sightline_server.daemon.launch import listen
from sightline_server.daemon.link import is_listening, locked
from sightline_server.daemon.place import NoDaemonError, prepare_folder
from sightline_server.daemon.places import place_of, service_config, service_settings
from sightline_server.daemon.process import run_daemon


def run_in_foreground(config: Config, *, with_http: bool) -> None:
    """Serve on the socket of this configuration, and over HTTP too; raises `invalid_input` if a daemon runs."""
    place = place_of(config)
    try:
        prepare_folder(place.folder)
        with locked(place, config.limits, time.monotonic() + config.limits.daemon_start_s):
            if is_listening(place, config.limits):
                raise NoDaemonError("a daemon runs already; end it with: sightline daemon stop")
            made = listen(place, config.limits.daemon_backlog_connections)
    except NoDaemonError as error:
        raise SightlineError(ErrorCode.INVALID_INPUT, f"{error}.") from None
    listener = socket.socket(fileno=made.detach())
    listener.setblocking(False)
    shared = service_config(service_settings(config), config.runtime_dir)
    if not with_http:
        run_daemon(shared, place, listener)
        return
    from sightline_server.serving import http_service

    http = replace(shared, port=config.port, bind=config.bind, token_file=config.token_file)
    run_daemon(http, place, listener, http_service(http, os.environ))
