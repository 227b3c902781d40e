"""Ignore rules decide like git."""

from __future__ import annotations

import os
import re
import string
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline_core.limits import DEFAULT_LIMITS, Limits
from sightline_core.paths import RepoRoot
from sightline_indexer.directory_rules import SkipReason
from sightline_indexer.ignore_rules import NameFilter, NameIndex, parse_rules
from sightline_indexer.path_filter import PathFilter
from sightline_indexer.walk import walk_files

GIT = ["git", "-c", "core.excludesFile=/dev/null", "-c", "core.fsmonitor=false"]
GIT_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}


def git(root: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    return subprocess.run(
        [*GIT, *arguments], cwd=root, input=stdin, capture_output=True, env=GIT_ENVIRONMENT, check=False
    ).stdout


def verdict(rules: bytes, path: str) -> bool | None:
    """What one ignore file at the root says of a path; a trailing slash makes it a directory."""
    is_directory = path.endswith("/")
    return parse_rules(rules, DEFAULT_LIMITS).decide(path.rstrip("/").encode(), is_directory=is_directory)


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        (b"foo", "foo", True),
        (b"foo", "a/b/foo", True),
        (b"foo", "food", None),
        (b"/foo", "a/foo", None),
        (b"/foo", "foo", True),
        (b"a/foo", "b/a/foo", None),
        (b"foo/", "foo", None),
        (b"foo/", "x/foo/", True),
        (b"*.o", "a/b.o", True),
        (b"*.o\n!keep.o", "keep.o", False),
        (b"!keep.o\n*.o", "keep.o", True),
        (b"# comment\n\\#x", "#x", True),
        (b"\\!x", "!x", True),
        (b"x   ", "x", True),
        (b"x\\ ", "x ", True),
        (b"x\\  ", "x ", True),
        (b"x\r\ny\r\n", "y", True),
        (b"\xef\xbb\xbfx", "x", True),
        (b"a/**/b", "a/b", True),
        (b"a/**/b", "a/x/y/b", True),
        (b"a/**", "a/x/y", True),
        (b"a/**", "a/", None),
        (b"**/b", "x/y/b", True),
        (b"**/a/b", "x/a/b", True),
        (b"a/*/b", "a/x/y/b", None),
        (b"a?c", "a/c", None),
        (b"[a-c]x", "bx", True),
        (b"[!a-c]x", "bx", None),
        (b"[^a-c]x", "dx", True),
        (b"[]a]x", "]x", True),
        (b"[[:digit:]]x", "7x", True),
        (b"[[:nope:]]x", "7x", None),
        (b"[a", "[a", None),
        (b"x\\", "x\\", None),
        (b"x\\", "x", None),
        (b"?", "é", None),
        (b"??", "é", True),
        (b"/", "x", None),
        (b"!", "x", None),
        (b"*", "x/", True),
        (b"/**", "x/y", True),
    ],
)
def test_one_rule_file_decides(rules: bytes, path: str, expected: bool | None) -> None:
    assert verdict(rules, path) is expected


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (b"*a" * 60 + b"b", "a" * 250),
        (b"a*" * 60 + b"/" + b"*b" * 60, "a" * 200 + "/" + "a" * 200),
        (b"**/" * 100 + b"x/y", "a/" * 500 + "y"),
        (b"/" + b"*/" * 200 + b"x", "a/" * 200 + "y"),
        (b"[" * 1000, "[" * 200),
        (b"[[:alpha:]" * 90, "a" * 200),
        (b"[\x01-\xff]*" * 100, "a" * 250),
        (b"\\" * 999, "\\" * 200),
        (b"?*" * 500, "a" * 250),
    ],
)
def test_hostile_pattern_neither_raises_nor_stalls(pattern: bytes, path: str) -> None:
    done = threading.Event()

    def evaluate() -> None:
        verdict(pattern, path)
        done.set()

    threading.Thread(target=evaluate, daemon=True).start()
    assert done.wait(5)


def test_rule_file_beyond_its_bounds_is_cut_and_says_so() -> None:
    limits = Limits(max_ignore_rules=3, max_ignore_globs=1, max_ignore_pattern_bytes=20)
    assert parse_rules(b"a\nb\nc\n", limits).complete
    assert not parse_rules(b"a\nb\nc\nd\n", limits).complete
    assert not parse_rules(b"a?\nb?\n", limits).complete
    assert not parse_rules(b"x" * 21, limits).complete
    assert not parse_rules(b"#" * 9 + b"\n" * 9, Limits(max_ignore_file_bytes=8)).complete


PATTERN_BYTES = st.sampled_from(
    [
        "a",
        "b",
        "c",
        "ab",
        "*",
        "**",
        "?",
        "/",
        "/",
        "[ab]",
        "[!a]",
        "[a-c]",
        "[[:alpha:]]",
        "\\a",
        "\\*",
        ".",
        "-",
        " ",
    ]
)
PATTERNS = st.lists(PATTERN_BYTES, min_size=1, max_size=6).map("".join)
LINES = st.builds(
    lambda bang, body, slash: bang + body + slash,
    st.sampled_from(["", "", "!"]),
    PATTERNS,
    st.sampled_from(["", "", "/"]),
)
NAMES = st.sampled_from(["a", "b", "c", "ab", "abc", "a.b", "ba", "-", "b a", "a*", "é"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
# git before 2.52 strips a literal prefix first and then takes `**` behind it for a whole component, against its
# own documentation.
GIT_PREFIX_QUIRK = re.compile(r"[^/*]\*\*+(/|\\/|$)")
RULE_FILES = st.lists(LINES.filter(lambda line: not GIT_PREFIX_QUIRK.search(line)), max_size=5).map("\n".join)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rules=RULE_FILES, nested=RULE_FILES, exclude=RULE_FILES, paths=st.lists(PATHS, min_size=1, max_size=12))
def test_rules_agree_with_git_check_ignore_and_ls_files(
    rules: str, nested: str, exclude: str, paths: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory).resolve()
        git(root, "init", "-q")
        present = make_tree(root, paths)
        (root / ".gitignore").write_text(rules)
        (root / "a").is_dir() and (root / "a" / ".gitignore").write_text(nested)
        (root / ".git" / "info").mkdir(exist_ok=True)
        (root / ".git" / "info" / "exclude").write_text(exclude)

        output = git(
            root, "check-ignore", "--no-index", "-z", "--stdin", stdin=b"\0".join(p.encode() for p in present)
        )
        ignored = {path.decode() for path in output.split(b"\0") if path}
        path_filter = PathFilter(RepoRoot(str(root)), DEFAULT_LIMITS)
        ours = {path for path in present if path_filter.accepts(path) is SkipReason.IGNORED}
        assert ours == ignored

        others = git(root, "ls-files", "-z", "--others", "--exclude-standard").split(b"\0")
        walked = walk_files(RepoRoot(str(root)), DEFAULT_LIMITS)
        assert {file.relative for file in walked.files} == {path.decode() for path in others if path}


def make_tree(root: Path, paths: list[str]) -> list[str]:
    """Create what can be created; where a file is wanted as a directory, the first wins."""
    made: list[str] = []
    for path in paths:
        target = root / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("x")
        except OSError:
            continue
        made.append(path)
    return sorted(set(made))


@given(rules=RULE_FILES, path=PATHS, is_directory=st.booleans())
def test_quick_filter_never_hides_a_rule_that_speaks(rules: str, path: str, is_directory: bool) -> None:
    lists = (parse_rules(rules.encode(), DEFAULT_LIMITS),)
    raw = path.encode()
    parent, slash, name = raw.rpartition(b"/")
    if lists[0].decide(raw, is_directory=is_directory) is not None:
        assert NameFilter(NameIndex(lists), parent + slash).may_match(name)


@given(data=st.binary(max_size=300), path=st.text(alphabet=string.printable, min_size=1, max_size=30))
def test_any_bytes_are_an_ignore_file(data: bytes, path: str) -> None:
    parse_rules(data, DEFAULT_LIMITS).decide(path.encode(), is_directory=False)
