"""Fixtures and options that every test may use."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from sightline_core.config import Config


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what the code says into tests/golden")


def pytest_configure(config: pytest.Config) -> None:
    # A shell that runs the tests in the background has them, and every program that they start, ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A small workspace with one Python file."""
    folder = tmp_path / "workspace"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "greeting.py").write_text('def greet(name):\n    return f"hello {name}"\n', "utf-8")
    return folder.resolve()


@pytest.fixture
def config(tmp_path: Path, workspace: Path) -> Config:
    """A configuration that touches nothing of the user's."""
    return Config(data_dir=str(tmp_path / "data"), workspace=(str(workspace),), toolset=("all",))
