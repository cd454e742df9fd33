"""A model is a folder of JSON, safetensors and text; nothing in it can name or carry code."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unshuffle.errors import ConfigError
from unshuffle.graph.batch import collate
from unshuffle.graph.build import EntityVocabulary
from unshuffle.graph.prepare import ENTITIES, TOKENIZER, TOPICS, Item, Preparer, relatedness_of
from unshuffle.graph.relations import RELATION_FILE, RELATION_VECTORS
from unshuffle.graph.topics import LDATopics, TopicModel
from unshuffle.light.weights import largest_file
from unshuffle.machine import Precision, usable_precision
from unshuffle.storage.files import (
    FolderFiles,
    Read,
    Storage,
    packed,
    read_tensors,
    unpacked,
    write_json,
    write_tensors,
    write_text,
)
from unshuffle.system.config import SystemConfig
from unshuffle.system.loading import FORMAT, WEIGHTS, loses_nothing, read_description, read_extras
from unshuffle.system.loading import Precision as AnyPrecision
from unshuffle.system.network import Network, TorchReading
from unshuffle.system.rows import merged
from unshuffle.text.tokens import Tokenizer


@dataclass(frozen=True)
class Model:
    """A network with all it needs to read documents."""

    name: str
    config: SystemConfig
    network: Network
    preparer: Preparer
    parser: dict[str, str]
    """Name and fingerprint of the parser the model was trained with."""
    calibration: dict[str, Any] | None = None
    card: str = ""
    precision: Precision = "32"

    @property
    def judged(self) -> bool:
        """Whether it was trained to read a judge's answers as link weights."""
        return self.config.judged

    @property
    def wanted_parser(self) -> str:
        """The parser that its configuration names."""
        return self.config.parser

    @property
    def longest(self) -> int:
        """Word pieces of a sentence that it reads."""
        return self.config.tokens.longest

    @property
    def large(self) -> bool:
        """Whether its products are large enough for several threads to pay."""
        return self.config.sentence_encoder.large

    def description(self) -> dict[str, Any]:
        """The system as plain options, and how many parameters it has."""
        parameters = sum(parameter.numel() for parameter in self.network.parameters())
        return {"system": self.config.write(), "parameters": parameters}

    def read(self, items: Sequence[Item]) -> TorchReading:
        """Everything up to the search."""
        return TorchReading.of(self.network, collate(items), self.precision)


@dataclass(frozen=True)
class Description:
    """What a folder's config.json says of the model in it."""

    name: str
    config: SystemConfig
    parser: dict[str, str]
    files: FolderFiles


def save_model(model: Model, folder: Path, *, storage: Storage = "float32") -> None:
    """Each file is written whole."""
    write_tensors(folder / WEIGHTS, packed(model.network.state_dict(), storage))
    saved = model.preparer.save(folder)
    if model.calibration is not None:
        write_json(folder / "calibration.json", model.calibration)
    write_text(folder / "README.md", model.card or f"# {model.name}\n\nA sentence-ordering model of unshuffle.\n")
    # The weights of pretrained parts are in this folder now, as are the vectors that words began with.
    kept = merged({"tokens": {"vectors": Path(model.config.tokens.vectors).name}}, saved.changes)
    # Last, because a folder without it is no model.
    description = {
        "format": FORMAT,
        "name": model.name,
        "parser": model.parser,
        "sha256": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in (WEIGHTS, *saved.files)},
        "system": merged(model.config.detached().write(), kept),
    }
    write_json(folder / "config.json", description)


def describe(name: str) -> Description:
    """The model of a folder without its weights."""
    described = read_description(name)
    config = SystemConfig.read(described.system)
    return Description(described.name, config, described.parser, described.files)


def load_model(name: str, *, device: str | torch.device = "cpu", precision: AnyPrecision = "32") -> Model:
    """The model of a folder, checked part by part, each file read once."""
    described = describe(name)
    config, files = described.config, described.files
    folder = files.folder
    tokenizer = Tokenizer.read(folder / TOKENIZER, config.tokens.longest, read=files.read)
    with torch.random.fork_rng(devices=[]):  # what a fresh network draws is nobody else's business
        planned = _planned(config, tokenizer.size, folder)
        most = largest_file({name: tuple(tensor.shape) for name, tensor in planned.items()})
        stored = read_tensors(folder / WEIGHTS, read=partial(files.read, most=most))
        tensors = unpacked(stored, f"{folder}/{WEIGHTS}")
        _check(planned, tensors, folder)
        network = Network(config, words=tokenizer.size)
    _fill(network, tensors, folder)
    network.to(torch.device(device)).eval()
    counted = config.graph.entities.minimum_count > 0
    preparer = build_preparer(
        _within(config, folder),
        tokenizer,
        EntityVocabulary.read(folder / ENTITIES, read=files.read) if counted else None,
        LDATopics.load(folder / TOPICS, read=files.read) if config.graph.topics else None,
        read=files.read,
    )
    calibration, card = read_extras(files)
    if precision == "auto" and not loses_nothing("bf16", calibration):
        precision = "32"
    chosen = usable_precision(precision, torch.device(device))
    return Model(described.name, config, network, preparer, described.parser, calibration, card, chosen)


def build_preparer(
    config: SystemConfig,
    tokenizer: Tokenizer,
    entities: EntityVocabulary | None,
    topics: TopicModel | None = None,
    *,
    read: Read | None = None,
) -> Preparer:
    """What turns documents into this network's input; `read` gives the bytes of files beside the weights."""
    pieces = config.sentence_encoder.reads_pieces
    # Of a user's vectors the model folder keeps those of the words that the model knows.
    every = pieces or config.tokens.vectors == "default"
    return Preparer(
        tokenizer=tokenizer,
        config=config.graph,
        entities=entities,
        relatedness=relatedness_of(
            config.graph, config.tokens.vectors, None if every else tokenizer.words(), read=read
        ),
        topics=topics,
        spans=pieces,
    )


def _within(config: SystemConfig, folder: Path) -> SystemConfig:
    """The same with the folder before the names of files that lie in it."""
    if config.graph.relation_file == RELATION_FILE:
        config = replace(config, graph=replace(config.graph, relation_file=str(folder / RELATION_FILE)))
    if config.tokens.vectors == RELATION_VECTORS:
        config = replace(config, tokens=replace(config.tokens, vectors=str(folder / RELATION_VECTORS)))
    return config


def _planned(config: SystemConfig, words: int, folder: Path) -> dict[str, Tensor]:
    """Names and shapes of the network's tensors without their memory: a description may ask for any size."""
    try:
        with torch.device("meta"):
            return Network(config, words=words).state_dict()
    except (AssertionError, RuntimeError, TypeError, ValueError, OverflowError, MemoryError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ConfigError(
            f"{folder}/config.json: no network has these sizes ({reason}). Download the model folder again."
        ) from None


def _check(expected: dict[str, Tensor], tensors: dict[str, Tensor], folder: Path) -> None:
    for name, tensor in expected.items():
        if name not in tensors:
            raise ConfigError(f"{folder}/{WEIGHTS}: '{name}' is missing. Download the model folder again.")
        if tensors[name].shape != tensor.shape:
            shapes = f"{tuple(tensors[name].shape)}, not {tuple(tensor.shape)}"
            raise ConfigError(f"{folder}/{WEIGHTS}: '{name}' has shape {shapes}. Download the model folder again.")
    for name in tensors:
        if name not in expected:
            raise ConfigError(
                f"{folder}/{WEIGHTS}: '{name}' belongs to another system. Download the model folder again."
            )


def _fill(network: Network, tensors: dict[str, Tensor], folder: Path) -> None:
    expected = network.state_dict()
    _check(expected, tensors, folder)
    network.load_state_dict({name: tensors[name].to(value.dtype) for name, value in expected.items()})
