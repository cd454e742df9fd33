"""A tiny model for bulk ordering."""

from pathlib import Path

import pytest

from tests.fixtures.tiny import save_tiny


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tiny(tmp_path_factory.mktemp("bulk-model") / "tiny"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"
