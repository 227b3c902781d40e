"""What a real server is asked in its fixture of two roots."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from sightline_core.config import Config
from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.types import Position
from sightline_lsp.pool import Pool, Root

REPOS = Path(__file__).parents[2] / "fixtures" / "repos"
PATIENT_S = 60.0


@dataclass(frozen=True, slots=True)
class Case:
    """`use` marks the cursor by `|` in a line of `file`; the definition is `line` of `target`."""

    server: str
    language: str
    fixture: str
    symbol: str
    other: str
    file: str
    use: str
    target: str
    line: int
    references: int
    callers: int = 0
    subtypes: int = 0
    finds: bool = True

    def __str__(self) -> str:
        return self.server


@dataclass(frozen=True, slots=True)
class Real:
    """A pool over both roots of a fixture, copied away from the configuration of this repository."""

    pool: Pool
    a: str
    b: str

    def cursor(self, case: Case) -> Position:
        before, _, after = case.use.partition("|")
        for number, line in enumerate(Path(self.a, case.file).read_text("utf-8").split("\n"), 1):
            at = line.find(before + after)
            if at >= 0:
                return Position(number, at + len(before) + 1)
        raise AssertionError(f"{case.use} is not in {case.file}")


@asynccontextmanager
async def real_pool(case: Case, folder: Path) -> AsyncGenerator[Real]:
    for name in ("a", "b"):
        shutil.copytree(REPOS / case.fixture / name, folder / name)
    a, b = (RepoRoot(str(folder / name)).path for name in ("a", "b"))
    config = Config(language_servers={case.language: (case.server,)})
    async with Pool(config, Limits(lsp_late_answer_s=PATIENT_S)) as pool:
        await pool.set_roots([Root(path, True, frozenset({case.language})) for path in (a, b)])
        yield Real(pool, a, b)


async def check(case: Case, folder: Path) -> None:
    """Symbols of both roots, definition, references, hover, hierarchies, diagnostics."""
    async with real_pool(case, folder) as real:
        pool, root = real.pool, RepoRoot(real.a)
        for path, symbol in ((real.a, case.symbol), (real.b, case.other)):
            found = await pool.workspace_symbols(path, symbol, [case.language], PATIENT_S)
            assert str(found.sources[0].status) == "ok", found.sources
            names = [live.name.partition("(")[0].rpartition(".")[2] for live in found.symbols]
            assert symbol in names, found
            assert {live.location.in_root for live in found.symbols} == {path}
        file, at = root.known(case.file), real.cursor(case)
        definition = await pool.definition(real.a, file, at, PATIENT_S)
        places = [(place.relative, place.range.start.line) for place in definition.value]
        assert (case.target, case.line) in places
        references = await pool.references(real.a, file, at, PATIENT_S)
        assert len(references.value) >= case.references, references.value
        hover = await pool.hover(real.a, file, at, PATIENT_S)
        assert hover.value is not None
        if case.callers:
            await _check_callers(case, real)
        if case.subtypes:
            await _check_subtypes(case, real)
        answer = await pool.diagnostics(real.a, file, PATIENT_S)
        assert str(answer.outcome) == "updated"
        assert bool(answer.items) == case.finds, answer.items


async def _check_callers(case: Case, real: Real) -> None:
    file = RepoRoot(real.a).known(case.file)
    items = await real.pool.prepare_calls(real.a, file, real.cursor(case), PATIENT_S)
    calls = await real.pool.incoming_calls(real.a, file, items.value[0], PATIENT_S)
    assert len(calls.value) == case.callers, calls.value
    assert all(call.sites for call in calls.value)


async def _check_subtypes(case: Case, real: Real) -> None:
    file = RepoRoot(real.a).known(case.target)
    text = Path(real.a, case.target).read_text("utf-8")
    line = next(n for n, row in enumerate(text.split("\n"), 1) if row.startswith(f"class {case.symbol}"))
    items = await real.pool.prepare_types(real.a, file, Position(line, len("class ") + 1), PATIENT_S)
    found = await real.pool.subtypes(real.a, file, items.value[0], PATIENT_S)
    assert len(found.value) == case.subtypes, found.value
