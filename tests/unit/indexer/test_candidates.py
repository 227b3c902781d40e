"""Candidates for a literal never miss a file."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from sightline_core.limits import DEFAULT_LIMITS
from support.index_kit import opened, paths_of, run, write_tree

LONG = "q" * (DEFAULT_LIMITS.max_word_bytes + 40)
TREE = {
    "a.py": "def parse_http_request(stream):\n    return parseHTTPRequest2(stream, timeout=0x1F)\n",
    "b.go": 'func NewController(client Interface) error {\n\treturn fmt.Errorf("could not find %q", name)\n}\n',
    "c.txt": "naïve café ΣΊΣΥΦΟΣ straße\u3000全角スペース、日本語の文章です。 \u212aelvin\n",
    "d.txt": f"before {LONG} after {'z' * 45}\n",
    "e.txt": "!!! ??? ---\n\n\t\t;;;   \n",
    "f.md": "# Title\r\nwindows line\r\n`code_here`\r\n",
    "g.latin1": "caf\xe9 cr\xe8me".encode("latin-1"),
    "h.utf16": "sixteen bits wide".encode("utf-16"),
    "i.txt": "emoji 🎉party🎉 and combining e\u0301te\u0301 end",
}
# A word too long for the index may hold anything, and a search compares bytes, which say nothing in other encodings.
ALWAYS = {"d.txt", "g.latin1", "h.utf16"}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    root = tmp_path_factory.mktemp("tree")
    write_tree(root, TREE)
    with opened(root, tmp_path_factory.mktemp("index")) as index:
        run(index)
        with index.snapshot() as snapshot:
            yield snapshot


def texts() -> dict[str, str]:
    decoded = {name: content for name, content in TREE.items() if isinstance(content, str)}
    return decoded | {"g.latin1": "caf\xe9 cr\xe8me", "h.utf16": "sixteen bits wide"}


def check_superset(snapshot, literal: str) -> None:
    found = snapshot.candidate_files(literal)
    if found is None:
        return
    holders = {name for name, text in texts().items() if literal in text or literal.lower() in text.lower()}
    assert holders <= paths_of(snapshot, found.file_ids), literal


def test_random_pieces_of_files_are_never_missed(snapshot) -> None:
    chance = random.Random(7)
    for name, text in texts().items():
        for _ in range(80):
            start = chance.randrange(len(text))
            literal = text[start : start + chance.choice((1, 2, 3, 5, 9, 20, 60, 300))]
            for variant in (literal, literal.upper(), literal.lower(), literal.swapcase()):
                # A change of case that changes the length is no case-insensitive match of one text.
                if variant and len(variant) == len(literal):
                    check_superset(snapshot, variant)
        assert name in texts()


@pytest.mark.parametrize(
    ("literal", "files"),
    [
        ("HTTPRequest2(str", {"a.py"}),
        ("_http_", {"a.py"}),
        ("could not find", {"b.go"}),
        ("ontroll", {"b.go"}),
        ("スペース", {"c.txt"}),
        ("nothing holds this text", set()),
        ("kelvin", {"c.txt"}),
        ("z" * 44, {"d.txt"}),
        (LONG[:-3], {"d.txt"}),
        (f" {LONG} ", {"d.txt"}),
        ("`code_here`", {"f.md"}),
    ],
)
def test_candidates_are_few(snapshot, literal: str, files: set[str]) -> None:
    found = snapshot.candidate_files(literal)
    assert found is not None
    assert paths_of(snapshot, found.file_ids) - ALWAYS == files - ALWAYS
    assert paths_of(snapshot, found.file_ids) >= ALWAYS


@pytest.mark.parametrize("literal", ["", "!!!", " \t", "---\n", "、"])
def test_what_has_no_words_cannot_be_narrowed(snapshot, literal: str) -> None:
    assert snapshot.candidate_files(literal) is None


def test_alternatives_and_requirements_combine(snapshot) -> None:
    either = snapshot.candidate_files(["NewController", "parse_http_request"])
    both = snapshot.candidate_files("NewController", "Errorf")
    first = snapshot.candidate_files("NewController", "parse_http_request")
    assert paths_of(snapshot, either.file_ids) == {"a.py", "b.go", *ALWAYS}
    assert paths_of(snapshot, both.file_ids) == {"b.go", *ALWAYS}
    # So few files hold the first text that reading them costs less than looking the second one up.
    assert paths_of(snapshot, first.file_ids) == {"b.go", *ALWAYS}
    assert snapshot.candidate_files(["NewController", "!!"]) is None


def test_a_word_part_stays_findable_after_edits(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    write_tree(root, {"one.py": "alphaBeta = 1\n"})
    with opened(root, tmp_path / "index") as index:
        run(index)
        for step in range(5):
            write_tree(root, {"one.py": f"alphaBeta = {step}\n", f"new{step}.py": f"prefix{step}Gamma{step}suffix\n"})
            run(index)
            with index.snapshot() as snapshot:
                for known in range(step + 1):
                    found = snapshot.candidate_files(f"ix{known}Gamma{known}suf")
                    assert found is not None
                    assert paths_of(snapshot, found.file_ids) == {f"new{known}.py"}
                assert paths_of(snapshot, snapshot.candidate_files("haBet").file_ids) == {"one.py"}
