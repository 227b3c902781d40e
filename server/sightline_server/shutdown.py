"""An orderly end on the signals that ask for one."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable

import anyio

logger = logging.getLogger(__name__)


async def end_on_signal(end: Callable[[], None]) -> None:
    """Call `end` on SIGINT, SIGTERM or SIGHUP."""
    asked = False
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for number in signals:
            if asked:
                # Asked twice: whoever asks does not want to wait for an orderly end.
                os._exit(128 + number)
            logger.info("received %s, closing", signal.Signals(number).name)
            asked = True
            end()
