"""Waiting for the first of several events."""

from __future__ import annotations

import anyio


async def either(*events: anyio.Event) -> None:
    """Return as soon as one of `events` is set."""
    if any(event.is_set() for event in events):
        return
    async with anyio.create_task_group() as tasks:

        async def watch(event: anyio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        for event in events:
            tasks.start_soon(watch, event)
