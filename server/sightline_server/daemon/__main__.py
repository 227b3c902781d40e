"""The process of the daemon, as `launch` starts it; its order comes on standard input."""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import socket
import sys

from sightline_server.cli.command import set_up_logging
from sightline_server.daemon.place import Place
from sightline_server.daemon.places import service_config


def main() -> None:
    """Read the order, take over the socket and serve."""
    order = json.load(sys.stdin.buffer)
    config = service_config(order["settings"], order["folder"])
    place = Place(order["folder"], order["name"], os.path.join(config.data_dir, "logs"))
    listener = socket.socket(fileno=order["listener"])
    listener.setblocking(False)
    log_to_file(place, config.limits.daemon_log_bytes, order["verbose"])
    from sightline_server.daemon.process import run_daemon

    try:
        run_daemon(config, place, listener)
    except BaseException:
        logging.getLogger(__name__).exception("the daemon ended")
        raise


def log_to_file(place: Place, max_bytes: int, verbose: int) -> None:
    """The log goes to the daemon's file, kept small; a disk that takes no log stops nothing."""
    set_up_logging(max(1, verbose))
    logging.raiseExceptions = False
    root = logging.getLogger()
    try:
        os.makedirs(place.log_folder, mode=0o700, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(place.log, maxBytes=max_bytes, backupCount=1, encoding="utf-8")
    except OSError:
        return
    handler.setFormatter(root.handlers[0].formatter)
    root.handlers[:] = [handler]


if __name__ == "__main__":
    main()
