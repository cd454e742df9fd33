"""A tiny model on a BERT, documents in the order in which it puts them, and its folder in 8 bits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import shared_model
from unshuffle.system.folder import save_model
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document


@dataclass(frozen=True)
class Tiny:
    plain: Path
    documents: tuple[Document, ...]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Of its own orders the plain model gets all, so whatever changes its mind loses tau."""
    for package in ("onnx", "onnxruntime"):
        pytest.importorskip(package, reason="needs the 'onnx' extra")
    folder = tmp_path_factory.mktemp("accelerate") / "plain"
    save_model(shared_model("irse-grn-bert-fh"), folder)
    orderer = Orderer.from_pretrained(folder)
    documents = random_documents(16, sentences=(2, 6), seed=4)
    return Tiny(folder, tuple(one.permuted(orderer.order(one).order) for one in documents))


@pytest.fixture(scope="session")
def fast(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from unshuffle.export.accelerate import accelerate

    out = tmp_path_factory.mktemp("accelerate") / "fast"
    accelerate(str(tiny.plain), out, tiny.documents, most_lost=100)
    return out
