"""A yard for each test."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from sightline_core.config import Config
from support.daemon_kit import Yard, yard_of


@pytest.fixture
def yard(config: Config, tmp_path: Path) -> Generator[Yard, None, None]:
    with yard_of(config, tmp_path) as made:
        yield made
