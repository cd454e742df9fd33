"""Give a trained model the layers that its encoder was once made without.

`python -m unshuffle_research.model.growth default --layers gte-small --share 0.2 --out FOLDER`: all-MiniLM-L6's layers
descend from those of even number of a transformer of twelve, and gte-small has all twelve. Those of odd number go back
between the trained ones, heard softly at first, so that the larger model begins about as good as the smaller one is.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from unshuffle.errors import ConfigError, UnshuffleError
from unshuffle.graph.batch import collate
from unshuffle.machine import keep_memory
from unshuffle.storage.files import read_tensors
from unshuffle.system.config import SystemConfig
from unshuffle.system.folder import Model, load_model, save_model
from unshuffle.system.network import Network
from unshuffle.training.corpus import parsed
from unshuffle_research.model.mixture import held_out
from unshuffle_research.model.recipe import load_recipe

Tensors = Mapping[str, Tensor]
ENCODER = "sentence_encoder.pieces.model."
APART = "sentence_encoder.apart"
LAYER = "encoder.layer.{}."
NORMS = ("attention.output.LayerNorm.", "output.LayerNorm.")
HEARD = ("attention.output.dense.", "output.dense.")


def grown_layers(known: Tensors, other: Tensors, means: Tensor, spreads: Tensor, share: float) -> dict[str, Tensor]:
    """Twice the layers: each known one and, after it, the other's, which changes little of what it is given.

    `means`, `spreads`: (layers,) of the states that leave each known layer. A norm with these as its bias and gain
    gives back what it reads; what the layer adds to it is `share` of what it has learned.
    """
    grown = {name: value for name, value in known.items() if not name.startswith("encoder.layer.")}
    for number in range(len(means)):
        for name, value in _of(known, number).items():
            grown[LAYER.format(2 * number) + name] = value
        for name, value in _of(other, 2 * number + 1).items():
            if name.startswith(NORMS):
                value = torch.full_like(value, float((spreads if name.endswith("weight") else means)[number]))
            elif name.startswith(HEARD):
                value = share * value * spreads[number]
            grown[LAYER.format(2 * number + 1) + name] = value
    return grown


def _of(tensors: Tensors, number: int) -> dict[str, Tensor]:
    """One layer's, by their names within it."""
    before = LAYER.format(number)
    return {name.removeprefix(before): value for name, value in tensors.items() if name.startswith(before)}


@torch.no_grad()
def states_of(model: Model, data: Path, recipe: str, documents: int, cache: Path) -> tuple[Tensor, Tensor]:
    """(layers,) mean and spread, within a word piece, of the states that leave each layer on validation texts."""
    mixture = load_recipe(recipe).last.mixture
    found = held_out(mixture, data, "valid", max(1, documents // len(mixture.sources)))
    texts = [document for texts in found.values() for document in texts]
    items = list(model.preparer.items(parsed(texts, model.config.parser, cache)))
    layers = list(model.network.get_submodule(f"{ENCODER}encoder.layer").children())
    sums = torch.zeros(2, len(layers))
    pieces = torch.zeros(len(layers))

    def listen(number: int, states: Tensor) -> None:
        sums[:, number] += torch.stack([states.mean(1), states.std(1)]).sum(1)
        pieces[number] += len(states)

    handles = [
        layer.register_forward_hook(lambda _, given, states, number=number: listen(number, states))
        for number, layer in enumerate(layers)
    ]
    for start in range(0, len(items), 8):
        model.network.sentence_encoder(collate(items[start : start + 8]))
    for handle in handles:
        handle.remove()
    means, spreads = sums / pieces
    return means, spreads


def grow(model: Model, other: Tensors, means: Tensor, spreads: Tensor, share: float) -> Model:
    """The larger model."""
    options = model.config.detached().write()
    encoder = options["sentence_encoder"]
    encoder["architecture"]["num_hidden_layers"] = 2 * len(means)
    encoder["alone"] *= 2
    system = SystemConfig.read(options)
    network = Network(system, words=model.preparer.tokenizer.size)
    tensors = dict(model.network.state_dict())
    known = {name.removeprefix(ENCODER): tensors.pop(name) for name in list(tensors) if name.startswith(ENCODER)}
    layers = grown_layers(known, other, means, spreads, share)
    tensors |= {ENCODER + name: value for name, value in layers.items()}
    network.load_state_dict(tensors | {APART: tensors[APART].repeat_interleave(2, 0)})
    return replace(model, config=system, network=network.eval(), calibration=None, card="")


def main() -> None:
    """Reads the arguments."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("model", help="a model folder or a name")
    options.add_argument("--layers", type=Path, required=True, help="folder of a BERT with twice the layers")
    options.add_argument("--share", type=float, default=0.2, help="of what the new layers have learned")
    options.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    options.add_argument("--recipe", default="default", help="the recipe whose validation texts are read")
    options.add_argument("--documents", type=int, default=120, help="validation documents to read")
    options.add_argument("--out", type=Path, required=True)
    torch.set_num_threads(1)
    keep_memory()
    chosen = options.parse_args()
    try:
        model = load_model(chosen.model)
        if APART not in model.network.state_dict():
            raise ConfigError(f"{model.name}: its sentences do not hear each other. Take another model.")
        other = {name: value.float() for name, value in read_tensors(chosen.layers / "model.safetensors").items()}
        means, spreads = states_of(model, chosen.data, chosen.recipe, chosen.documents, chosen.out / "parses")
        save_model(grow(model, other, means, spreads, chosen.share), chosen.out)
    except UnshuffleError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
