"""A made-up data set in the layout of the published files, and a folder of models that all tests share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.documents import random_documents, write_vectors
from unshuffle.experiments.run import run_experiment
from unshuffle.text.document import Document


def write_lower(documents: list[Document], stem: Path) -> None:
    lines, entities = [], []
    for document in documents:
        lines.append(" <eos> ".join(text.lower() for text in document.sentences))
        places: dict[str, list[str]] = {}
        for mention in document.mentions or ():
            places.setdefault(mention.word, []).append(f"{mention.sentence}-{int(mention.role)}")
        entities.append(" ".join(f"{word}:{'|'.join(found)}" for word, found in places.items()))
    stem.with_suffix(".lower").write_text("\n".join(lines) + "\n")
    stem.with_suffix(".eg").write_text("\n".join(entities) + "\n")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made-up")
    for seed, (split, count) in enumerate({"train": 12, "val": 6, "test": 8}.items()):
        write_lower(random_documents(count, sentences=(2, 5), seed=seed), folder / split)
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    vectors = write_vectors(tmp_path_factory.mktemp("vectors") / "vectors.txt")
    return [
        f"tokens.vectors={vectors}",
        "sentence_encoder.word_width=8",
        "sentence_encoder.width=8",
        "paragraph_encoder.steps=2",
        "training.epochs=1",
        "training.classifier_epochs=1",
        "parser=none",
    ]


@pytest.fixture(scope="session")
def run(
    data: Path, tiny: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., tuple[Path, list[Path], list[str]]]:
    """Runs an experiment; gives the folder of results, the sheets, and the stages that were trained for it."""
    folder = tmp_path_factory.mktemp("experiments")

    def call(name: str, **options: Any) -> tuple[Path, list[Path], list[str]]:
        trained: list[str] = []
        given: dict[str, Any] = {"changes": tiny, "shuffles": 2, "beam": 2, "runs": folder / "runs"} | options
        out = options.pop("out", folder / "results")
        written = run_experiment(
            name,
            given.pop("data", [f"nips={data}"]),
            out,
            given.pop("runs"),
            progress=lambda progress: trained.append(progress.stage),
            **{key: value for key, value in given.items() if key != "out"},
        )
        return out, written, sorted(set(trained))

    return call
