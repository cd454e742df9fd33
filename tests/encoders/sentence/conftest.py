"""Tiny transformers, saved once."""

from pathlib import Path

import pytest

from tests.encoders import made_up


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a tiny BERT."""
    pytest.importorskip("transformers")
    return str(made_up.bert(tmp_path_factory.mktemp("bert")))


@pytest.fixture(scope="session")
def bart(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a tiny BART."""
    pytest.importorskip("transformers")
    return str(made_up.bart(tmp_path_factory.mktemp("bart")))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installed package with a tiny BERT in it, as a source."""
    pytest.importorskip("transformers")
    folder = tmp_path / "packed_bert"
    folder.mkdir()
    (folder / "__init__.py").touch()
    made_up.bert(folder / "model")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "package:packed_bert"
