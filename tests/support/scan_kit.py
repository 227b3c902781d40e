"""A tree with every encoding and line end, its index, and ripgrep over the same files."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.paths import RepoRoot
from sightline_indexer.store import IndexStore
from sightline_search.model import SearchOptions, SearchResult
from sightline_search.scan import search_pattern
from support.indexed import index_tree

RIPGREP = str(Path(sys.executable).parent / "rg")

GO = """package server

import "fmt"

// TODO(alice): handle errors
func (s *Server) ListenAndServe() error {
\tif err := s.init(); err != nil {
\t\treturn nil, err
\t}
\tfmt.Println("http_request done")
\treturn nil
}
"""

PYTHON = """import os
import sys


class HTTPParser:
    '''Parses things.'''

    def parse_request(self, data):
        # TODO: errors
        return data.split('\\r\\n')


def parse(text):
    return HTTPParser().parse_request(text)
"""

FILES: Mapping[str, bytes] = {
    "src/server.go": GO.encode(),
    "src/parse.py": PYTHON.encode(),
    "src/crlf.py": b"def first():\r\n    return 1\r\n\r\ndef second():\r\n    return first()\r\n",
    "src/no_final_newline.py": b"value = 1\nlast = 'end'",
    "src/bom.py": b"\xef\xbb\xbfimport os\nvalue = 'bom'\n",
    "src/utf16.txt": "import os\nWort = 'Größe'\n".encode("utf-16"),
    "src/latin1.txt": b"caf\xe9 = 1\nna\xefve = 'ASCII return'\n\xc3\xa9t\xc3\xa9 \xe9\n",
    "src/unicode.txt": "naïve Größe ΑΒΓ 你好 world\nİstanbul K kelvin ſet\n😀 emoji = 'x'\n".encode(),
    "src/late_nul.c": b"int main(void) { return 0; }\n" * 400 + b"char x = '\0';\nint after_nul = 1;\n",
    "src/binary.dat": b"import os\x00\x01\x02\nreturn\n",
    "src/long.js": b"var a=" + b"x+" * 40_000 + b"needle+" + b"y+" * 40_000 + b"1;\nshort();\n",
    "src/blank.txt": b"\n\n  \n\t\n",
    "src/empty.txt": b"",
    "tests/test_parse.py": b"from parse import parse\n\n\ndef test_parse():\n    assert parse('a') == ['a']\n",
    "vendor/lib/util.go": b"package lib\n\nfunc Util() error { return nil }\n",
    "docs/guide.md": b"# Guide\n\nCall `parse(text)` and return.\n\nreturn  err\n",
}


@dataclass(frozen=True)
class Tree:
    """An indexed tree."""

    root: RepoRoot
    store: IndexStore

    def search(
        self, pattern: str, *, regex: bool = True, limits: Limits = DEFAULT_LIMITS, **options: object
    ) -> SearchResult:
        with self.store.snapshot() as snapshot:
            chosen = SearchOptions(**{"limit": 100, **options})  # type: ignore[arg-type]
            deadline = time.monotonic() + 30
            return search_pattern(
                snapshot, self.root, pattern, regex=regex, options=chosen, limits=limits, deadline=deadline
            )

    def every_match(self, pattern: str, *, regex: bool = True, **options: object) -> list[tuple[str, int, int]]:
        """Path, line and column of all matches, by following the cursors."""
        found: list[tuple[str, int, int]] = []
        cursor = ""
        while True:
            result = self.search(pattern, regex=regex, cursor=cursor, **options)
            assert not result.cuts, result.cuts
            found += [(hit.path, hit.line, hit.column) for hit in result.hits]
            cursor = result.next_cursor
            if not cursor:
                return found

    def paths(self) -> list[str]:
        with self.store.snapshot() as snapshot:
            return [entry.path for entry in snapshot.catalogue().entries]


def make_tree(folder: Path, files: Mapping[str, bytes], limits: Limits = DEFAULT_LIMITS) -> Tree:
    root = folder / "tree"
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    repo_root = RepoRoot(str(root))
    return Tree(repo_root, IndexStore(index_tree(repo_root, str(folder / "index"), limits), limits))


def ripgrep(tree: Tree, pattern: str, *flags: str) -> list[tuple[str, int, int]] | None:
    """Path, line and first column of every matching line by ripgrep; None when it refuses the pattern."""
    command = [RIPGREP, "--json", "--no-config", "--no-ignore", "--hidden", "--text", *flags, "-e", pattern, "--"]
    done = subprocess.run([*command, *tree.paths()], cwd=tree.root.path, capture_output=True, timeout=60)
    if done.returncode == 2:
        return None
    found: list[tuple[str, int, int]] = []
    for line in done.stdout.splitlines():
        event = json.loads(line)
        if event["type"] == "match":
            data = event["data"]
            # An empty match at the end of a line is reported without its place.
            at = data["submatches"][0]["start"] if data["submatches"] else None
            column = 0 if at is None else len(_line_bytes(data["lines"])[:at].decode("utf-8", "replace")) + 1
            found.append((data["path"]["text"], data["line_number"], column))
    return found


def _line_bytes(lines: dict[str, str]) -> bytes:
    import base64

    return lines["text"].encode() if "text" in lines else base64.b64decode(lines["bytes"])


def as_ripgrep(pattern: str) -> str:
    """The same expression for an engine whose word classes know all scripts."""
    for escape in (r"\b", r"\B", r"\w", r"\d"):
        pattern = pattern.replace(escape, f"(?-u:{escape})")
    # Spaces, and everything that is not in a class, are characters in both; only the class itself is ASCII in RE2.
    return pattern.replace(r"\s", r"[\t\n\f\r ]").replace(r"\S", r"[^\t\n\f\r ]").replace(r"\W", r"[^0-9A-Za-z_]")


def generated_files(seed: int, count: int) -> dict[str, bytes]:
    """Files of random lines out of a small vocabulary, with every line end and a few stray bytes."""
    chosen = random.Random(seed)
    words = [
        "err",
        "return",
        "foo_bar",
        "fooBar",
        "Foo",
        "naïve",
        "x",
        "42",
        "0x1F",
        "TODO",
        "你好",
        "if",
        "nil",
        "_a1",
    ]
    marks = [" ", "  ", "(", ")", ".", "->", "\t", ": ", "=", "-", '"', "\\", "+", "é"]
    files: dict[str, bytes] = {}
    for number in range(count):
        end = chosen.choice([b"\n", b"\n", b"\r\n"])
        lines = [
            "".join(chosen.choice(words) + chosen.choice(marks) for _ in range(chosen.randrange(8))).encode()
            for _ in range(chosen.randrange(1, 60))
        ]
        data = end.join(lines) + (end if chosen.random() < 0.8 else b"")
        if chosen.random() < 0.1:
            data += b"bad \xff\xfe byte return\n"
        files[f"d{number % 7}/f{number}.{chosen.choice(['py', 'go', 'txt', 'md'])}"] = data
    return files
