"""Answers reach a pipe whole however slowly they are read, and the pipe stays as its owner made it."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from sightline_server.transports.descriptors import LineSink, quick_sink

pytestmark = pytest.mark.anyio

LONG = bytes(byte for byte in range(256) if byte != ord("\n")) * 4096
DEADLINE_S = 5


def read_to_end(source: int) -> bytes:
    with os.fdopen(source, "rb") as pipe:
        return pipe.read()


async def test_a_long_answer_reaches_a_pipe_whole() -> None:
    source, sink = os.pipe()
    read = b""

    async def reader() -> None:
        nonlocal read
        read = await anyio.to_thread.run_sync(read_to_end, source)

    with anyio.fail_after(DEADLINE_S):
        async with anyio.create_task_group() as group:
            with quick_sink(sink) as opened:
                group.start_soon(reader)
                await LineSink(opened).send(LONG)
            assert os.get_blocking(sink)
            os.close(sink)
    assert read == LONG + b"\n"


async def test_a_line_whose_sender_was_cancelled_comes_whole_all_the_same() -> None:
    source, sink = os.pipe()
    read = b""

    async def reader() -> None:
        nonlocal read
        read = await anyio.to_thread.run_sync(read_to_end, source)

    with anyio.fail_after(DEADLINE_S):
        async with anyio.create_task_group() as group:
            with quick_sink(sink) as opened:
                lines = LineSink(opened)
                async with anyio.create_task_group() as senders:
                    senders.start_soon(lines.send, LONG)
                    await anyio.wait_readable(source)
                    # It waits for the first one, and is cancelled before any of it is out.
                    senders.start_soon(lines.send, b"never begun")
                    await anyio.lowlevel.checkpoint()
                    senders.cancel_scope.cancel()
                group.start_soon(reader)
                await lines.send(b"next")
            os.close(sink)
    assert read.split(b"\n") == [LONG, b"next", b""]


async def test_a_client_that_stopped_reading_holds_up_nobody_else() -> None:
    source, sink = os.pipe()
    with anyio.fail_after(DEADLINE_S), quick_sink(sink) as opened:
        async with anyio.create_task_group() as group:
            group.start_soon(LineSink(opened).send, LONG)
            # The pipe is full and nobody empties it: this task goes on all the same.
            await anyio.wait_readable(source)
            group.cancel_scope.cancel()
    os.close(source)
    os.close(sink)


async def test_a_reader_that_left_is_a_broken_pipe() -> None:
    source, sink = os.pipe()
    with quick_sink(sink) as opened:
        os.close(source)
        with pytest.raises(BrokenPipeError):
            await LineSink(opened).send(LONG)
    with quick_sink(sink) as opened, pytest.raises(BrokenPipeError):
        await LineSink(opened).send(LONG)
    os.close(sink)


async def test_a_file_takes_an_answer_too(tmp_path: Path) -> None:
    with (tmp_path / "answers").open("wb") as file, quick_sink(file.fileno()) as opened:
        assert opened == file.fileno()
        await LineSink(opened).send(LONG)
    assert (tmp_path / "answers").read_bytes() == LONG + b"\n"
