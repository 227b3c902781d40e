"""Which directory a client's root means."""

from __future__ import annotations

import pytest

from sightline_server.sessions.root_uris import RefusedRoot, directory_of


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///srv/code", "/srv/code"),
        ("FILE:///srv/code", "/srv/code"),
        ("file:/srv/code", "/srv/code"),
        ("file://localhost/srv/code", "/srv/code"),
        ("file:///srv/my%20code", "/srv/my code"),
        ("file:///srv/caf%C3%A9", "/srv/café"),
        ("file:///srv/a%23b%3Fc", "/srv/a#b?c"),
        ("file:///srv/a#b", "/srv/a#b"),
        ("file:///srv/100%", "/srv/100%"),
    ],
)
def test_a_file_uri_names_its_path(uri: str, path: str) -> None:
    assert directory_of(uri, windows=False) == path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///c:/Users/me", "C:\\Users\\me"),
        ("file:///C%3A/Users/me", "C:\\Users\\me"),
        ("file:///c|/Users/me", "C:\\Users\\me"),
        ("file://C:/Users/me", "C:\\Users\\me"),
        ("file://server/share/code", "\\\\server\\share\\code"),
    ],
)
def test_windows_forms_name_their_path_on_windows_and_nothing_elsewhere(uri: str, path: str) -> None:
    assert directory_of(uri, windows=True) == path
    assert isinstance(directory_of(uri, windows=False), RefusedRoot)


@pytest.mark.parametrize(
    "uri",
    ["", "https://example.org/x", "git+ssh://host/x", "srv/code", "file:", "file://", "file:///a%00b", "file://["],
)
def test_anything_else_does_not_count(uri: str) -> None:
    assert isinstance(directory_of(uri, windows=False), RefusedRoot)
