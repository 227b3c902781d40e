"""Waiting clients are served in turn."""

from __future__ import annotations

import anyio
import pytest

from sightline_server.sessions.outbox import Outbox
from sightline_server.sessions.turns import Turns

pytestmark = pytest.mark.anyio


async def test_a_client_with_many_calls_does_not_delay_the_others() -> None:
    turns = Turns(1)
    served: list[str] = []
    hold = anyio.Event()
    held = anyio.Event()

    async def holder() -> None:
        async with turns.turn("first"):
            held.set()
            await hold.wait()

    async def call(client: str) -> None:
        async with turns.turn(client):
            served.append(client)

    async with anyio.create_task_group() as group:
        group.start_soon(holder)
        await held.wait()
        for client in ("greedy",) * 5 + ("modest", "other"):
            group.start_soon(call, client)
        await anyio.wait_all_tasks_blocked()
        hold.set()
    assert served == ["greedy", "modest", "other", *["greedy"] * 4]


async def test_a_cancelled_wait_costs_no_place() -> None:
    turns = Turns(1)
    async with turns.turn("first"):
        for _ in range(3):
            with anyio.move_on_after(0):
                async with turns.turn("second"):
                    pass
    with anyio.fail_after(1):
        async with turns.turn("third"):
            pass


async def test_a_client_that_does_not_read_costs_a_bounded_number_of_messages() -> None:
    sent: list[object] = []

    class Stuck:
        async def notify(self, method: str, params: object) -> None:
            sent.append(params)
            await anyio.sleep_forever()

    outbox = Outbox(3)
    async with anyio.create_task_group() as group:
        group.start_soon(outbox.run, Stuck())
        for number in range(100):
            outbox.post("same", "m", {"n": number})
        await anyio.wait_all_tasks_blocked()
        for number in range(100):
            outbox.post(f"key {number}", "m", {"n": number})
        assert sent == [{"n": 99}]
        outbox.close()
