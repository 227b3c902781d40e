"""What the navigation tools add to a language server's own answer, and how good the fallback by name is.

    python bench/navigation_bench.py ROOT --server ty --language python [--symbols 40] [--data DIR]

Places that the fallback does not call doubtful are scored by themselves as well.
Symbols are drawn from the index with a fixed seed. Precision and recall of the fallback count places (path, line)
against the server's references; only answers that the server gave completely are counted.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.navigation_kit import Desk, desk, with_servers  # isort: skip
from sightline_lsp.faults import LspError
from sightline_server.place_lists import listed, place_of
from sightline_server.syntactic import references_by_name
from sightline_server.targets import TargetArgs, resolve_target
from sightline_server.tools.base import Call

# Processor time of this process: the server's own work and the neighbours of a busy machine are not in it.
clock = time.process_time
KINDS = {"function", "method", "class", "struct", "interface"}
ROUNDS = 7


def draw_symbols(index, count: int, language: str) -> list[dict[str, object]]:
    """Definitions of the language, drawn by a fixed seed."""
    with index.snapshot() as snapshot:
        rows = [
            (record.path, record.symbol.name_position.line, record.symbol.name_position.column, record.symbol.name)
            for file in snapshot.files()
            if file.language == language and not file.traits
            for record in snapshot.symbols_in(file)
            if record.symbol.kind.value in KINDS and not record.symbol.name.startswith("__")
        ]
    chosen = random.Random(7).sample(rows, min(count, len(rows)))
    return [{"path": path, "line": line, "column": column} for path, line, column, _ in chosen]


async def compare(made: Desk, workspace, places: list[dict[str, object]]) -> None:
    """Time both ways and score the fallback."""
    pool = made.services.language_servers.pool
    added: list[tuple[int, float, float]] = []
    hits = found_total = true_total = 0
    per_symbol: list[tuple[float, float]] = []
    likely_symbol: list[tuple[float, float]] = []
    likely_hits = likely_total = 0
    fallback_ms: list[float] = []
    for arguments in places:
        call = Call(made.services, made.session, workspace, anyio.current_time() + 45)
        target = await resolve_target(call, TargetArgs(**arguments))
        try:
            reply = await pool.references(workspace.path, target.path, target.position, 30, include_declaration=True)
        except LspError as error:
            # Files that the build leaves out, for example.
            print(f"left out: {error}", file=sys.stderr)
            continue
        if str(reply.source.status) != "ok" or reply.truncated:
            continue
        truth = {(p.path, p.range.start.line) for p in map(place_of, reply.value) if p.root == workspace.path}
        begun = time.perf_counter()
        fallback = await references_by_name(call, target, include_declaration=True)
        fallback_ms.append((time.perf_counter() - begun) * 1000)
        guess = {(p.path, p.range.start.line) for p in listed((), fallback.places, workspace.path).all()}
        both = len(truth & guess)
        hits, found_total, true_total = hits + both, found_total + len(guess), true_total + len(truth)
        per_symbol.append((both / len(guess) if guess else 1.0, both / len(truth) if truth else 1.0))
        likely = {(p.path, p.range.start.line) for p in fallback.places if p.is_likely}
        sure = len(truth & likely)
        likely_hits, likely_total = likely_hits + sure, likely_total + len(likely)
        likely_symbol.append((sure / len(likely) if likely else 1.0, sure / len(truth) if truth else 1.0))
        added.append(await time_both(made, call, target, arguments))
    sizes = [size for size, _, _ in added]
    print(f"symbols {len(added)}, places of the server {true_total}, of the fallback {found_total}")
    print(f"fallback, all places together: precision {hits / found_total:.3f} recall {hits / true_total:.3f}")
    precision, recall = (statistics.mean(row[part] for row in per_symbol) for part in (0, 1))
    print(f"fallback, mean of symbols:     precision {precision:.3f} recall {recall:.3f}")
    print(
        f"not doubtful, all together:    precision {likely_hits / likely_total:.3f}"
        f" recall {likely_hits / true_total:.3f}"
    )
    precision, recall = (statistics.mean(row[part] for row in likely_symbol) for part in (0, 1))
    print(f"not doubtful, mean of symbols: precision {precision:.3f} recall {recall:.3f}")
    print(f"fallback ms: median {statistics.median(fallback_ms):.0f}, worst {max(fallback_ms):.0f}")
    for low, high in ((0, 20), (20, 100), (100, 400), (400, 10_000)):
        part = [tool - server for size, server, tool in added if low <= size < high]
        if part:
            median = statistics.median(part)
            print(f"added by the tool, {low}-{high} places ({len(part)} symbols): median {median:.1f} ms of CPU")
    print(f"most places of a symbol: {max(sizes)}")


async def time_both(made: Desk, call: Call, target, arguments: dict[str, object]) -> tuple[int, float, float]:
    """Places, and the best of some rounds in ms of CPU: the pool's own answer, and the tool's with up to 200."""
    pool, root = made.services.language_servers.pool, call.require_workspace().path
    server_ms, tool_ms, size = [], [], 0
    for _ in range(ROUNDS):
        begun = clock()
        reply = await pool.references(root, target.path, target.position, 30, include_declaration=True)
        server_ms.append((clock() - begun) * 1000)
        begun = clock()
        await made.ask("find_references", **arguments, include_declaration=True, limit=200)
        tool_ms.append((clock() - begun) * 1000)
        size = len(reply.value)
    return size, min(server_ms), min(tool_ms)


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--server", required=True)
    parser.add_argument("--language", required=True)
    parser.add_argument("--symbols", type=int, default=40)
    parser.add_argument("--also", action="append", default=[], metavar="PATH:LINE:COLUMN")
    args = parser.parse_args()
    import support.navigation_kit as kit

    kit.DEADLINE_S = 900.0
    data = Path(tempfile.mkdtemp(prefix="sightline-nav-bench-"))
    settings = with_servers(**{args.language: args.server})
    async with desk(data, args.root.resolve(), **settings) as made:
        workspace = made.services.workspaces.named[0]
        index = await made.services.indexes.of(workspace)
        named = [text.rsplit(":", 2) for text in args.also]
        also = [{"path": path, "line": int(line), "column": int(column)} for path, line, column in named]
        await compare(made, workspace, [*also, *draw_symbols(index, args.symbols, args.language)])


if __name__ == "__main__":
    anyio.run(main)
