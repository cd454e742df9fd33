"""A tiny model for all adapters, and three texts to order."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fixtures.tiny import save_tiny
from unshuffle.judge.contracts import Trust
from unshuffle.system.orderer import Orderer

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # before it is imported: tests tell nobody of themselves
SENTENCES = ["She washed the apple.", "Then she ate it.", "Mia picked an apple.", "The river was high."]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tiny(tmp_path_factory.mktemp("adapters") / "tiny"))


@pytest.fixture(scope="session")
def expected(model: str) -> tuple[int, ...]:
    """What the model itself says about the sentences."""
    return Orderer.from_pretrained(model).order(SENTENCES).order


class Backwards:
    """A judge that wants the sentences in the opposite order of the alphabet, and counts what it is asked."""

    trust = Trust(reliability=0.999, model_weight=0.05, sure=1.0)

    def __init__(self) -> None:
        self.asked = 0

    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float]:
        self.asked += len(pairs)
        return [float(sentences[first] > sentences[second]) for first, second in pairs]


@pytest.fixture
def judge() -> Backwards:
    return Backwards()


@pytest.fixture
def sentences() -> list[str]:
    return list(SENTENCES)


@pytest.fixture
def rows(sentences: list[str]) -> list[object]:
    """Good rows and bad ones."""
    return [sentences, ["One."], None, [], ["a", ""], sentences[::-1]]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path
