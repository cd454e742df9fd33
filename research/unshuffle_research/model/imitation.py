"""Teach a larger encoder what the shipped model knows while it learns its own way: the beginning of a recipe.

`python -m unshuffle_research.model.imitation default --teacher default --data FOLDER --out FOLDER`, under torchrun for
several processes. The student takes over the teacher's decoder, and for the first part of the training its sentence
vectors are pulled towards the teacher's, less and less: a decoder that is right from the start and a target for every
sentence teach it within some thousand documents what took the teacher some hundred thousand.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn

from unshuffle.cli.terminal import StageBars
from unshuffle.decode.contracts import Gold
from unshuffle.errors import ConfigError, UnshuffleError
from unshuffle.graph.batch import Batch
from unshuffle.machine import keep_memory, usable_precision
from unshuffle.seeds import derived
from unshuffle.storage.files import write_json
from unshuffle.system.folder import Model, load_model, save_model
from unshuffle.system.network import Network
from unshuffle.training.checkpoint import check_settings
from unshuffle.training.corpus import Splits, parsed
from unshuffle.training.loop import Drawn
from unshuffle.training.ordering import OrderingStage, decoder_share
from unshuffle.training.processes import Launched, leads
from unshuffle.training.run import beginning, new_fabric, new_model
from unshuffle.training.stages import Run
from unshuffle_research.model.mixture import held_out, training_documents
from unshuffle_research.model.recipe import load_recipe


class ImitatingTask(nn.Module):
    """The decoder's loss, and at first the distance of sentence vectors from the teacher's in units of their spread."""

    steps: Tensor

    def __init__(self, network: Network, teacher: Network, *, weight: float, until: int) -> None:
        super().__init__()
        self.network = network
        self._teacher = (teacher.eval().requires_grad_(False),)  # no part of what is trained and kept
        self.weight, self.until = weight, until
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, batch: Batch, gold: Gold, drawn: Drawn) -> Tensor:
        """Both losses; after `until` steps the first alone."""
        encoded = self.network.sentence_encoder(batch)
        loss = decoder_share(self.network, drawn, self.network(batch, gold, encoded))
        weight = self.weight * max(0.0, 1.0 - float(self.steps) / self.until)
        self.steps += 1
        if not weight:
            return loss
        with torch.no_grad():
            target = self._teacher[0].sentence_encoder(batch).sentences.float()
        return loss + weight * distance(encoded.sentences.float(), target)


def distance(vectors: Tensor, target: Tensor) -> Tensor:
    """Mean squared difference, as a share of the target's variance within each dimension."""
    return (vectors - target).square().mean() / target.var(0).mean().clamp_min(1e-6)


def with_decoder(model: Model, teacher: Model) -> None:
    """Begins with the teacher's decoder, which reads the same vectors."""
    if model.preparer.tokenizer.backend.get_vocab() != teacher.preparer.tokenizer.backend.get_vocab():
        raise ConfigError(f"{teacher.name}: it reads other words than the student. Choose an encoder with the same ones.")
    try:
        model.network.decoder.load_state_dict(teacher.network.decoder.state_dict())
    except RuntimeError:
        raise ConfigError(f"{teacher.name}: its decoder is of another kind or width than the student's.") from None


def imitate(options: argparse.Namespace) -> None:
    """One training from start to model folder; `--resume` goes on with it."""
    (each,) = load_recipe(options.recipe, options.change or []).passes
    texts = training_documents(each.mixture, options.data, options.seed)
    found = held_out(each.mixture, options.data, "valid", each.mixture.valid_documents)
    valid = [document for documents in found.values() for document in documents]
    cache = options.cache or options.out / "parses"
    data = Splits(parsed(texts, each.system.parser, cache), parsed(valid, each.system.parser, cache), ())
    data.check()
    fabric = new_fabric(options.out, options.seed, Launched.read())
    marker = options.out / "stages"
    if marker.exists() and any(marker.iterdir()) and not options.resume:
        raise ConfigError(f"{options.out}: there is a training already. Say --resume, or choose another --out.")
    fabric.barrier()
    torch.manual_seed(derived(options.seed, "weights") % 2**31)
    teacher = load_model(options.teacher)
    model = new_model(options.recipe, each.system, data.train, options.seed)
    with_decoder(model, teacher)
    run = Run(
        fabric=fabric,
        config=each.system,
        training=each.training,
        seed=options.seed,
        data_hash=data.hash + beginning(options.teacher),
        folder=marker,
        precision=usable_precision(options.precision, fabric.device),
    )
    check_settings(options.out, run.settings(), write=leads())
    fabric.barrier()
    stage = OrderingStage(
        "ordering",
        model.network,
        list(model.preparer.items(data.train)),
        list(model.preparer.items(data.valid)),
        derived(options.seed, "valid") % 2**31,
        beam=each.training.validation_beam,
        measure=each.training.measure,
    )
    stage.module = ImitatingTask(model.network, teacher.network, weight=options.weight, until=options.until)
    recipe = [run.settings(), options.weight, options.until]
    chosen = each.training
    with StageBars() as bars:
        for progress in run.stage(
            stage, recipe, epochs=chosen.epochs, patience=chosen.patience, minutes=chosen.minutes
        ):
            if leads():
                bars(progress)
    if leads():
        write_json(options.out / "trail.json", run.trail())
        save_model(replace(model, network=model.network.eval()), options.out)
    fabric.barrier()


def main() -> None:
    """Reads the arguments."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("recipe", help="a recipe of the package, or a TOML file, of one pass")
    options.add_argument("--teacher", required=True, help="model to imitate: a folder or a name")
    options.add_argument("--data", type=Path, required=True, help="folder that holds the sets the recipe names")
    options.add_argument("--out", type=Path, required=True, help="folder of the model to be made")
    options.add_argument("--weight", type=float, default=2.0, help="of the distance from the teacher's vectors")
    options.add_argument("--until", type=int, default=1000, help="steps after which the teacher has no say")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--precision", choices=["32", "bf16", "auto"], default="auto")
    options.add_argument("--set", action="append", dest="change", help="table.option=value, as `unshuffle recipe` has it")
    options.add_argument("--cache", type=Path, help="folder of parses, which several trainings may share")
    options.add_argument("--resume", action="store_true", help="go on with a training that was cut off")
    torch.set_num_threads(1)
    keep_memory()
    try:
        imitate(options.parse_args())
    except UnshuffleError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
