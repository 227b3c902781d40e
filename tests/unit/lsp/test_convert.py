"""URIs, roots and positions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_core.text import ColumnUnit
from sightline_core.types import Position
from sightline_lsp.convert import Converter, Roots, path_to_uri, uri_to_path
from sightline_lsp.shapes import WireLocation, WirePosition, WireRange
from sightline_lsp.texts import FileText, Texts

LIMITS = Limits()
SPAN = WireRange(WirePosition(0, 0), WirePosition(0, 1))


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=40))
@settings(max_examples=200, deadline=None)
def test_a_path_survives_its_uri(name: str) -> None:
    path = str(Path("/r") / name.replace("/", "_"))
    if path.endswith(("/.", "/..")):
        return
    assert uri_to_path(path_to_uri(path)) == path


@pytest.mark.parametrize(
    "uri",
    ["", "file", "http://x/a", "file://host/a", "file:a", "untitled:1", "file:///a%00b", "file:///%ff", "FILEX:///a"],
)
def test_what_is_no_local_file_has_no_path(uri: str) -> None:
    assert uri_to_path(uri) is None


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b.py", "/a/b.py"),
        ("FILE:///a/b.py", "/a/b.py"),
        ("file://localhost/a", "/a"),
        ("file:/a/b", "/a/b"),
        ("file:///a/%C3%A9%20x", "/a/é x"),
        ("file:///a/../b", "/b"),
        ("file:////etc", "/etc"),
        ("file:///a%2Fb", "/a/b"),
    ],
)
def test_local_uris_have_one_normal_path(uri: str, path: str) -> None:
    assert uri_to_path(uri) == path


def converter(*roots: Path) -> Converter:
    return Converter(Roots(RepoRoot(str(root)) for root in roots), Texts(LIMITS), ColumnUnit.UTF16, LIMITS)


def test_a_link_out_of_the_root_is_external_and_one_inside_is_not(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "secret.py"
    root.mkdir()
    outside.write_text("password\n")
    (root / "real.py").write_text("x\n")
    (root / "out.py").symlink_to(outside)
    (root / "in.py").symlink_to(root / "real.py")
    found = converter(root).locations([WireLocation(path_to_uri(str(root / n)), SPAN) for n in ("out.py", "in.py")])
    assert [(place.relative.rsplit("/", 1)[-1], place.in_root) for place in found] == [
        ("out.py", None),
        ("in.py", str(root)),
    ]


def test_the_innermost_root_holds_a_nested_file(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "a.py").write_text("x\n")
    (place,) = converter(tmp_path, inner).locations(WireLocation(path_to_uri(str(inner / "a.py")), SPAN))
    assert (place.in_root, place.relative) == (str(inner), "a.py")


@given(
    st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\r\n𝒳é"), max_size=40),
    st.sampled_from(list(ColumnUnit)),
    st.integers(1, 8),
    st.integers(1, 12),
)
@settings(max_examples=300, deadline=None)
def test_positions_come_back_from_the_wire(text: str, unit: ColumnUnit, line: int, column: int) -> None:
    file = FileText(text)
    wire = file.to_wire(Position(line, column), unit)
    there = file.from_wire(*wire, unit)
    assert file.to_wire(there, unit) == wire


def test_columns_count_code_points_in_every_unit() -> None:
    file = FileText("𝒳é=1\n")
    assert [file.to_wire(Position(1, 3), unit) for unit in ColumnUnit] == [(0, 6), (0, 3), (0, 2)]
    assert [file.from_wire(0, n, unit) for n, unit in zip((6, 3, 2), ColumnUnit, strict=True)] == [Position(1, 3)] * 3


def test_servers_count_a_lone_carriage_return_as_a_line_and_we_do_not() -> None:
    file = FileText("a\rb\nc\n")
    assert file.from_wire(1, 0, ColumnUnit.UTF8) == Position(1, 3)
    assert file.to_wire(Position(2, 1), ColumnUnit.UTF8) == (2, 0)


def test_a_rewritten_file_is_read_again(tmp_path: Path) -> None:
    texts, root = Texts(LIMITS), RepoRoot(str(tmp_path))
    for content in ("one", "two", "six"):
        (tmp_path / "a").write_text(content)
        assert texts.read(root, root.known("a")).text == content
