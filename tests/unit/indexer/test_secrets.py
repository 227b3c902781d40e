"""Secrets stay out of the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.paths import RepoRoot
from sightline_indexer.secrets import SECRET_FILES, is_secret
from sightline_indexer.walk import SkipReason, walk_files

FORMS = [form for forms in SECRET_FILES.values() for form in forms]


def example(form: str) -> str:
    return form.replace("*", "x")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_table_is_recognised_in_any_case(form: str) -> None:
    for path in (example(form), example(form).upper()):
        parent, _, name = path.rpartition("/")
        assert is_secret(name, parent)
        assert is_secret(name, f"deep/{parent}".rstrip("/"))


def test_table_has_more_than_twenty_kinds() -> None:
    assert len(SECRET_FILES) >= 20


@pytest.mark.parametrize(
    "path",
    [
        ".env.example", ".env.sample", ".env.template", "environment.py", "env.ts", "keys.py", "monkey", "id_rsa.pub",
        "config.json", "app/config", "credentials.py", "docker/config.json", "package.json", "service.json",
        "locales/en/auth.json", "settings.xml", "tokens.go", ".envoy.yaml", "my_key", "host_key.go", "terraform.tf",
    ],
)  # fmt: skip
def test_ordinary_files_are_not_taken_for_secrets(path: str) -> None:
    parent, _, name = path.rpartition("/")
    assert not is_secret(name, parent)


def test_no_rule_lets_a_secret_into_a_walk(tmp_path: Path) -> None:
    names = [".env", ".env.local", "server.PEM", "id_ed25519", ".npmrc", "keep.py"]
    for name in names:
        (tmp_path / name).write_text("x")
    (tmp_path / ".sightlineignore").write_text("!*\n!.env\n!*.PEM\n")
    result = walk_files(RepoRoot(str(tmp_path)), DEFAULT_LIMITS)
    assert [file.relative for file in result.files] == [".sightlineignore", "keep.py"]
    assert result.skipped == {SkipReason.SECRET: 5}
