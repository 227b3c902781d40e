"""Nothing outside a root is ever read, however the path is written and whatever changes meanwhile."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline_core import paths
from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import Limits
from sightline_core.path_text import real_directory
from sightline_core.paths import RepoPath, RepoRoot, open_beneath, relative_to, walk_beneath

INSIDE = b"inside\n"
SECRET = b"SECRET\n"
SWAPS = 3000
# The root of the file system as this process sees it: a magic link that leaves every directory.
PROC_ROOT = "/proc/self/root"


@pytest.fixture(params=["openat2", "walk"])
def opener(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to open, so that every test holds for kernels with and without `openat2`."""
    if request.param == "walk":
        monkeypatch.setattr(paths, "_works", False)
    elif not paths._openat2_works():
        pytest.skip("this kernel has no openat2")
    return request.param


@pytest.fixture
def tree(tmp_path: Path, opener: str) -> Iterator[Path]:
    """A root with a file in it, beside a directory with a secret."""
    root, outside = (tmp_path / "base").resolve(), (tmp_path / "outside").resolve()
    (root / "sub").mkdir(parents=True)
    outside.mkdir()
    (root / "file.txt").write_bytes(INSIDE)
    (root / "sub" / "file.txt").write_bytes(INSIDE)
    (outside / "file.txt").write_bytes(SECRET)
    (tmp_path / "base-twin").mkdir()
    (tmp_path / "base-twin" / "file.txt").write_bytes(SECRET)
    yield root


def read(root: Path, text: str, limits: Limits | None = None) -> bytes | ErrorCode:
    """The content that caller text leads to, or the code of the refusal."""
    door = RepoRoot(str(root), limits or Limits())
    try:
        return door.read_file(door.resolve(text)).data
    except SightlineError as error:
        return error.code


@pytest.mark.parametrize(
    "text",
    [
        "file.txt",
        "./file.txt",
        "sub/../file.txt",
        "sub//file.txt",
        "sub/./file.txt",
        "file.txt/",
        "nowhere/../file.txt",
    ],
)
def test_a_path_inside_is_read_however_it_is_written(tree: Path, text: str) -> None:
    assert read(tree, text) == INSIDE


def test_an_absolute_path_inside_is_read(tree: Path) -> None:
    assert read(tree, str(tree / "file.txt")) == INSIDE
    assert read(tree, f"/{tree}/file.txt") == INSIDE
    assert read(tree, f"{PROC_ROOT}{tree}/file.txt") == INSIDE


@pytest.mark.parametrize(
    "text",
    [
        "..",
        "../outside/file.txt",
        "../base-twin/file.txt",
        "../base/../outside/file.txt",
        "sub/../../outside/file.txt",
        "./.././outside//file.txt",
        "../" * 40 + "etc/passwd",
        "/etc/passwd",
        "//etc/passwd",
        "///etc/passwd",
        "/",
        PROC_ROOT + "/etc/passwd",
        "/proc/self/cwd/../../../../../../etc/passwd",
        "/proc/self/environ",
        "/dev/stdin",
        "/dev/zero",
    ],
)
def test_a_path_that_leads_outside_is_refused(tree: Path, text: str) -> None:
    assert read(tree, text) is ErrorCode.PATH_NOT_ALLOWED


def test_a_twin_whose_name_begins_like_the_root_is_outside(tree: Path) -> None:
    assert read(tree, f"{tree}-twin/file.txt") is ErrorCode.PATH_NOT_ALLOWED


@pytest.mark.parametrize(
    "text", ["", "\0", "file.txt\0", "a\0/../../etc/passwd", "\ud800", "x" * 4097, "a/" * 2100, "../" * 2000]
)
def test_text_that_can_be_no_path_is_invalid(tree: Path, text: str) -> None:
    assert read(tree, text) is ErrorCode.INVALID_INPUT


@pytest.mark.parametrize(
    "text",
    [
        "missing",
        "file.txt/below",
        "sub",
        ".",
        "FILE.TXT",
        "file.txt ",
        "%2e%2e/outside/file.txt",
        "..%2foutside%2ffile.txt",
        "..\\outside\\file.txt",
        "~/.bashrc",
        "$HOME/.bashrc",
        "file:///etc/passwd",
        "x" * 300,
        "\udcff",
        "－．．/etc/passwd",
        "．．/outside/file.txt",
    ],
)
def test_what_is_no_file_inside_is_not_found(tree: Path, text: str) -> None:
    assert read(tree, text) is ErrorCode.FILE_NOT_FOUND


def test_a_name_that_is_not_utf8_is_read(tree: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    try:
        (tree / name).write_bytes(INSIDE)
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    assert read(tree, name) == INSIDE


def link(tree: Path, name: str, target: str | Path) -> None:
    (tree / name).symlink_to(target)


@pytest.mark.parametrize(
    "target",
    [
        "file.txt",
        "./sub/file.txt",
        "sub/../file.txt",
        "{root}/file.txt",
        "{root}/sub/file.txt",
        "../base/file.txt",
        PROC_ROOT + "{root}/file.txt",
    ],
)
def test_a_link_that_ends_inside_is_followed(tree: Path, target: str) -> None:
    link(tree, "link", target.format(root=tree))
    assert read(tree, "link") == INSIDE


@pytest.mark.parametrize(
    "target",
    [
        "../outside/file.txt",
        "{root}/../outside/file.txt",
        "{root}-twin/file.txt",
        "/etc/passwd",
        PROC_ROOT + "/etc/passwd",
        "/proc/self/environ",
        "/proc/self/fd/0",
        "/dev/zero",
        "sub/../../outside/file.txt",
    ],
)
def test_a_link_that_ends_outside_is_refused(tree: Path, target: str) -> None:
    link(tree, "link", target.format(root=tree))
    link(tree, "chain", "link")
    assert read(tree, "link") is ErrorCode.PATH_NOT_ALLOWED
    assert read(tree, "chain") is ErrorCode.PATH_NOT_ALLOWED


@pytest.mark.parametrize("target", ["../outside", "{root}/../outside", PROC_ROOT + "{root}/../outside"])
def test_a_linked_directory_outside_is_refused(tree: Path, target: str) -> None:
    link(tree, "door", target.format(root=tree))
    assert read(tree, "door/file.txt") is ErrorCode.PATH_NOT_ALLOWED
    assert read(tree, "sub/../door/file.txt") is ErrorCode.PATH_NOT_ALLOWED


def test_a_linked_directory_inside_is_followed(tree: Path) -> None:
    link(tree, "door", "sub")
    link(tree, "absolute", tree / "sub")
    assert read(tree, "door/file.txt") == INSIDE
    assert read(tree, "absolute/file.txt") == INSIDE


def test_links_in_a_circle_are_refused(tree: Path) -> None:
    link(tree, "self", "self")
    link(tree, "a", "b")
    link(tree, "b", tree / "a")
    link(tree, "deeper", "deeper/deeper")
    for name in ("self", "a", "b", "deeper", "a/file.txt"):
        assert read(tree, name) is ErrorCode.PATH_NOT_ALLOWED


def test_a_link_to_nothing_is_not_found(tree: Path) -> None:
    link(tree, "dangling", "missing")
    assert read(tree, "dangling") is ErrorCode.FILE_NOT_FOUND


def test_a_root_that_is_a_link_serves_where_it_leads(tree: Path) -> None:
    alias = tree.parent / "alias"
    alias.symlink_to(tree)
    assert RepoRoot(str(alias)).path == str(tree)
    assert read(alias, str(alias / "file.txt")) == INSIDE


def test_a_pipe_a_socket_and_a_device_do_not_block_and_are_not_files(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tree / "pipe")
    monkeypatch.chdir(tree)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    names = ["pipe", "socket"]
    try:
        os.mknod(tree / "zero", 0o20666, os.makedev(1, 5))
        names.append("zero")
    except PermissionError:
        pass
    for name in names:
        assert read(tree, name) is ErrorCode.FILE_NOT_FOUND


def test_a_path_that_sightline_noted_is_checked_when_it_is_opened(tree: Path) -> None:
    door = RepoRoot(str(tree))
    for relative in ("../outside/file.txt", "sub/../../outside/file.txt", "/etc/passwd"):
        with pytest.raises(SightlineError) as caught:
            door.read_file(door.known(relative))
        assert caught.value.code is ErrorCode.PATH_NOT_ALLOWED


def test_a_file_over_the_limit_is_not_read(tree: Path) -> None:
    assert read(tree, "file.txt", Limits(max_file_bytes=len(INSIDE))) == INSIDE
    assert read(tree, "file.txt", Limits(max_file_bytes=len(INSIDE) - 1)) is ErrorCode.INVALID_INPUT


def test_the_content_carries_the_stat_of_what_was_read(tree: Path) -> None:
    door = RepoRoot(str(tree))
    content = door.read_file(door.resolve("file.txt"))
    info = (tree / "file.txt").stat()
    assert (content.size, content.mtime_ns, content.inode) == (info.st_size, info.st_mtime_ns, info.st_ino)


@pytest.mark.parametrize("text", ["missing", "file.txt", "", "\0"])
def test_a_root_must_be_a_directory(tree: Path, text: str) -> None:
    with pytest.raises(SightlineError) as caught:
        RepoRoot(str(tree / text) if text.isprintable() and text else text)
    assert caught.value.code is ErrorCode.INVALID_INPUT


def test_descriptors_are_closed_on_every_way_out(tree: Path) -> None:
    link(tree, "out", "/etc/passwd")
    link(tree, "loop", "loop")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        for text in ("file.txt", "sub", "missing/x", "out", "loop", "sub/file.txt/x"):
            read(tree, text)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("relative", ["link", "sub/../file.txt", "..", "door/file.txt"])
def test_the_walk_follows_nothing(tree: Path, relative: str) -> None:
    link(tree, "link", "file.txt")
    link(tree, "door", "sub")
    descriptor = os.open(tree, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with pytest.raises(OSError):
            walk_beneath(descriptor, relative)
    finally:
        os.close(descriptor)


def test_opening_without_links_refuses_one_that_stays_inside(tree: Path) -> None:
    link(tree, "link", "file.txt")
    descriptor = os.open(tree, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with pytest.raises(OSError):
            open_beneath(descriptor, "link", follow_links=False)
    finally:
        os.close(descriptor)


def swap_until(stop: threading.Event, place: Path, real: Path, fake: Path, swaps: list[int]) -> None:
    """Put the real directory and the link to the outside in `place` in turn, with no time in between."""
    while not stop.is_set():
        os.rename(place, real)
        os.rename(fake, place)
        os.rename(place, fake)
        os.rename(real, place)
        swaps[0] += 1


@pytest.mark.parametrize("how", ["relative", "absolute"])
def test_a_directory_swapped_for_a_link_leaks_nothing(tree: Path, how: str) -> None:
    target = tree.parent / "outside" if how == "absolute" else Path("../outside")
    link(tree, "fake", target)
    stop, swaps = threading.Event(), [0]
    arguments = (stop, tree / "sub", tree / "real", tree / "fake", swaps)
    swapper = threading.Thread(target=swap_until, args=arguments)
    swapper.start()
    seen: dict[bytes | ErrorCode, int] = {}
    try:
        for _ in range(SWAPS):
            result = read(tree, "sub/file.txt")
            seen[result] = seen.get(result, 0) + 1
    finally:
        stop.set()
        swapper.join(timeout=10)
    assert not swapper.is_alive()
    assert SECRET not in seen
    # The race was real: the directory changed, and both sides of it were met.
    assert swaps[0] > 10
    assert seen.get(INSIDE, 0) > 0
    assert seen.keys() - {INSIDE} <= {ErrorCode.FILE_NOT_FOUND, ErrorCode.PATH_NOT_ALLOWED}


@pytest.mark.parametrize(
    ("root", "path", "expected"),
    [
        ("/a", "/a", ""),
        ("/a", "/a/b/c", "b/c"),
        ("/a", "/ab", None),
        ("/a", "/", None),
        ("/", "/a", "a"),
        ("/a/b", "/a", None),
    ],
)
def test_relative_paths_are_taken_by_whole_components(root: str, path: str, expected: str | None) -> None:
    assert relative_to(root, path) == expected


def test_a_home_directory_is_expanded_for_roots_only(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tree))
    assert real_directory("~/sub") == str(tree / "sub")
    assert RepoPath(str(tree), "").absolute == str(tree)
