"""The matches of literal and regex search against ripgrep's, over a real tree.

    python bench/scan_differential.py TREE INDEX_FOLDER [PATTERNS]

Patterns are drawn from the tree with a fixed seed. Prints every pattern whose matching lines differ, and how many
were compared; the exit status is 1 when one differs.
"""

from __future__ import annotations

import os
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.paths import RepoRoot
from sightline_indexer.layout import current_index
from sightline_indexer.store import IndexStore
from support.indexed import index_tree
from support.scan_kit import Tree, as_ripgrep, ripgrep

MAX_MATCHES = 20_000


def main() -> None:
    root = RepoRoot(sys.argv[1])
    wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    index = current_index(sys.argv[2]) or index_tree(root, sys.argv[2], workers=os.cpu_count() or 1)
    tree = Tree(root, IndexStore(index, DEFAULT_LIMITS))
    chosen = random.Random(2024)
    lines = sample_lines(tree, chosen)
    compared = lines_compared = different = 0
    while compared < wanted:
        regex = chosen.random() < 0.6
        pattern = make_regex(chosen, lines) if regex else make_literal(chosen, lines)
        ignore_case = chosen.random() < 0.3
        flags = [*([] if regex else ["--fixed-strings"]), *(["--ignore-case"] if ignore_case else [])]
        theirs = ripgrep(tree, as_ripgrep(pattern) if regex else pattern, *flags)
        if theirs is None or len(theirs) > MAX_MATCHES:
            continue
        ours = tree.every_match(pattern, regex=regex, limit=5000, case_sensitive=not ignore_case)
        compared += 1
        lines_compared += len(theirs)
        if sorted(match[:2] for match in ours) != sorted(match[:2] for match in theirs):
            different += 1
            extra = sorted(set(ours) ^ set(theirs))[:3]
            print(f"differs: {pattern!r} regex={regex} ignore_case={ignore_case}: {len(ours)} {len(theirs)} {extra}")
    print(f"{compared} patterns, {lines_compared} matching lines, {different} differ")
    tree.store.close()
    sys.exit(1 if different else 0)


def sample_lines(tree: Tree, chosen: random.Random) -> list[str]:
    lines: list[str] = []
    for path in chosen.sample(tree.paths(), 800):
        text = Path(tree.root.path, path).read_bytes().decode("utf-8", "ignore")
        lines += [line for line in text.split("\n") if 3 < len(line.strip()) < 200]
    return lines


def make_literal(chosen: random.Random, lines: list[str]) -> str:
    line = chosen.choice(lines).strip("\r")
    start = chosen.randrange(len(line) - 2)
    return line[start : start + chosen.randrange(3, 30)]


def make_regex(chosen: random.Random, lines: list[str]) -> str:
    words = re.findall(r"[A-Za-z_]+|\d+|[^\w\s]", chosen.choice(lines))[:8] or ["x"]
    at = chosen.randrange(len(words))
    parts = [re.escape(word) for word in words[at : at + 3]]
    joints = [r"\s*", r"\s+", ".*", r"\W+", "", r"[^a-z]?", r"\b", r"(?:x|y|\w)?"]
    pattern = "".join(part + chosen.choice(joints) for part in parts)
    return chosen.choice(["", "", "^.*", r"\b", "(?i)"]) + pattern + chosen.choice(["", "", "$", r"\b", r"\w+"])


if __name__ == "__main__":
    main()
