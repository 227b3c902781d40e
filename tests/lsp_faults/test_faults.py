"""Every fault of the tables: its outcome, its owner, and that nobody else notices."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from lsp_faults.fault import OK, Fault
from lsp_faults.life_faults import life_faults
from lsp_faults.shape_faults import shape_faults
from lsp_faults.wire_faults import wire_faults
from sightline_core.errors import SightlineError
from sightline_core.types import Position, Range
from support.fake_pool import QUICK, Fake, fake_pool

FAULTS = [*wire_faults(), *shape_faults(), *life_faults()]
AT = Position(1, 5)
SPAN = Range(Position(1, 1), Position(2, 1))
GRACE_S = 8.0


async def ask(fake: Fake, question: str, deadline_s: float) -> Any:
    """The value and source of one question, whatever its form."""
    pool, root, path = fake.pool, fake.root, fake.file()
    if question == "workspace_symbols":
        found = await pool.workspace_symbols(root, "alpha", ["python"], deadline_s)
        return found.symbols, found.sources[0]
    if question == "diagnostics":
        answer = await pool.diagnostics(root, path, deadline_s)
        return answer.items, answer.source
    if question in ("code_actions", "inlay_hints"):
        reply = await getattr(pool, question)(root, path, SPAN, deadline_s)
    elif question in ("document_symbols", "semantic_tokens"):
        reply = await getattr(pool, question)(root, path, deadline_s)
    elif question in ("incoming_calls", "outgoing_calls", "supertypes", "subtypes"):
        prepare = pool.prepare_calls if question.endswith("calls") else pool.prepare_types
        items = (await prepare(root, path, AT, deadline_s)).value
        reply = await getattr(pool, question)(root, path, items[0], deadline_s)
    else:
        reply = await getattr(pool, question)(root, path, AT, deadline_s)
    return reply.value, reply.source


STATUS_OF = {
    "lsp_error": {"down"},
    "lsp_timeout": {"timeout", "starting", "indexing"},
    "lsp_unavailable": {"down"},
    "lsp_unsupported": {"unsupported"},
}


async def check_fault(fake: Fake, fault: Fault) -> None:
    try:
        value, source = await ask(fake, fault.ask, fault.deadline_s)
    except SightlineError as error:
        assert str(error.code) == fault.expect, error.full_message
        assert error.message.startswith("[python] "), error.message
        assert not any(char in error.message for char in "\x00\x07\x1b\u202e")
        assert error.data["status"] in STATUS_OF[fault.expect]
        return
    if fault.expect != OK:
        # A search never raises for a server: its failure is in the source.
        assert fault.ask == "workspace_symbols", f"answered {value!r}"
        assert str(source.status) in STATUS_OF[fault.expect]
        assert value == ()
        return
    assert fault.check is None or fault.check(value), f"answered {value!r}"
    if fault.source:
        assert str(source.status) == fault.source


async def check_neighbour(fake: Fake) -> None:
    reply = await fake.pool.hover(fake.root, fake.file("go"), AT, 15)
    assert reply.value is not None
    assert reply.value.text == "about alpha"


@pytest.mark.parametrize("fault", FAULTS, ids=str)
async def test_fault_has_its_outcome_and_its_neighbour_none(fault: Fault, tmp_path: Path) -> None:
    script = dict(fault.script)
    limits = replace(QUICK, **{**fault.limits, **script.pop("limits", {})})
    with anyio.fail_after(fault.deadline_s + GRACE_S):
        async with fake_pool(tmp_path, limits, python=script, go={}) as fake:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(check_fault, fake, fault)
                tasks.start_soon(check_neighbour, fake)
            pids = [status.pid for status in fake.pool.status() if status.pid is not None]
    assert (tmp_path / "root" / "main.py").read_text("utf-8") == "def alpha(): pass\nalpha()\n"
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def test_there_are_at_least_150_distinct_faults() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 150
