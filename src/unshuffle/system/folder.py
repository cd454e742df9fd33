"""A model is a folder of JSON, safetensors and text; nothing in it can name or carry code."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unshuffle.encoders.pretrained.loading import PretrainedConfig
from unshuffle.errors import ConfigError
from unshuffle.graph.prepare import Preparer
from unshuffle.graph.relatedness import relatedness_of
from unshuffle.graph.relations import FileRelatedness, VectorRelatedness
from unshuffle.graph.topics import LDATopics
from unshuffle.storage.files import read_json, read_tensors, write_json, write_tensors, write_text, write_whole
from unshuffle.storage.packing import Storage, packed, unpacked
from unshuffle.system.config import SystemConfig
from unshuffle.system.network import Network
from unshuffle.text.entities import EntityVocabulary
from unshuffle.text.tokens import Tokenizer

FORMAT = 1
RELATION_VECTORS, RELATION_FILE = "relations.npy", "relations.tsv"
"""Which words are related, where the user said so with files."""
HASHED = (
    "model.safetensors",
    "tokenizer.json",
    "entities.txt",
    "relations.npy",
    "relations.words.txt",
    "relations.tsv",
)
"""What decides the orders; config.json tells their hashes, so that damage and mixed folders are noticed."""
LONGEST_CARD = 2**20
"""Letters of a model's README that are kept."""
MODELS = Path(__file__).parent.parent / "data" / "models"
"""Models that are part of the package, by name."""


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


def find_folder(name: str) -> Path:
    """The folder of a model: one of the package's by name, or the user's by path."""
    if "/" not in name and "\\" not in name and (MODELS / name / "config.json").is_file():
        return MODELS / name
    folder = Path(name)
    if not folder.is_dir():
        shipped = sorted(path.name for path in MODELS.glob("*") if path.is_dir()) if MODELS.is_dir() else []
        raise ConfigError(f"{name}: there is no such model folder. Shipped models: {', '.join(shipped) or 'none'}.")
    return folder


def save_model(model: Model, folder: Path, *, storage: Storage = "float32") -> None:
    """Each file is written whole."""
    write_tensors(folder / "model.safetensors", packed(model.network.state_dict(), storage))
    write_text(folder / "tokenizer.json", model.preparer.tokenizer.json())
    if model.preparer.entities is not None and model.preparer.entities.words is not None:
        write_whole(folder / "entities.txt", model.preparer.entities.write)
    if isinstance(model.preparer.topics, LDATopics):
        model.preparer.topics.save(folder / "topics")
    system = _keep_relations(model, folder)
    if model.calibration is not None:
        write_json(folder / "calibration.json", model.calibration)
    write_text(folder / "README.md", model.card or f"# {model.name}\n\nA sentence-ordering model of unshuffle.\n")
    # Last, because a folder without it is no model.
    written = {name: _hash(folder / name) for name in HASHED if (folder / name).is_file()}
    description = {
        "format": FORMAT,
        "name": model.name,
        "parser": model.parser,
        "sha256": written,
        "system": system.detached().write(),  # the weights of pretrained parts are in this folder now
    }
    write_json(folder / "config.json", description)


def load_model(name: str, *, device: str = "cpu") -> Model:
    """The model of a folder, checked part by part."""
    folder = find_folder(name)
    described = read_json(folder / "config.json", most=2**20)
    if not isinstance(described, dict) or described.get("format") != FORMAT or "system" not in described:
        raise ConfigError(f"{folder}/config.json: not a model of this program. Take a folder that it has written.")
    if not isinstance(described["system"], dict):
        raise ConfigError(f"{folder}/config.json: 'system' is not a table of options. Take the folder anew.")
    for part in ("parser", "sha256"):
        if not isinstance(described.get(part, {}), dict):
            raise ConfigError(f"{folder}/config.json: '{part}' is not a table. Take the folder anew.")
    config = SystemConfig.read(described["system"])
    for slot in (config.sentence_encoder, config.decoder):
        if getattr(slot, "source", ""):  # it may be a module to import or a hub to ask
            raise ConfigError(f"{folder}/config.json: 'source' names weights elsewhere. Take a folder with its own.")
    for file, digest in described.get("sha256", {}).items():
        if file in HASHED and _hash(folder / file) != digest:
            raise ConfigError(f"{folder}/{file}: not as it was written with config.json. Take the folder anew.")
    tokenizer = Tokenizer.read(folder / "tokenizer.json", config.tokens.longest)
    tensors = unpacked(read_tensors(folder / "model.safetensors"))
    _check(_planned(config, tokenizer.size, folder), tensors, folder)
    network = Network(config, words=tokenizer.size)
    _fill(network, tensors, folder)
    network.to(torch.device(device)).eval()
    counted = config.graph.entities.minimum_count > 0
    entities = EntityVocabulary.read(folder / "entities.txt") if counted else None
    calibration = read_json(folder / "calibration.json") if (folder / "calibration.json").is_file() else None
    readme = folder / "README.md"
    card = ""
    if readme.is_file():
        with readme.open(encoding="utf-8", errors="replace") as file:
            card = file.read(LONGEST_CARD)
    topics = LDATopics.load(folder / "topics") if config.graph.topics else None
    preparer = build_preparer(_with_relations(config, folder), tokenizer, entities, topics)
    parser = {str(key): str(value) for key, value in described.get("parser", {}).items()}
    return Model(str(described.get("name", folder.name)), config, network, preparer, parser, calibration, card)


def build_preparer(
    config: SystemConfig, tokenizer: Tokenizer, entities: EntityVocabulary | None, topics: LDATopics | None = None
) -> Preparer:
    """What turns documents into this network's input."""
    pretrained = isinstance(config.sentence_encoder, PretrainedConfig)
    return Preparer(
        tokenizer=tokenizer,
        config=config.graph,
        entities=entities,
        # Of a user's vectors the model folder keeps those of the words that the model knows.
        relatedness=relatedness_of(
            config.graph,
            config.tokens.vectors,
            None if pretrained or config.tokens.vectors == "default" else tokenizer.words(),
        ),
        topics=topics,
        spans=pretrained,  # their entities are vectors in context
    )


def _keep_relations(model: Model, folder: Path) -> SystemConfig:
    """Copies what says which words are related into the folder, and names no file outside it any more."""
    config, relatedness = model.config, model.preparer.relatedness
    if isinstance(relatedness, FileRelatedness):
        relatedness.write(folder / RELATION_FILE)
        config = replace(config, graph=replace(config.graph, relation_file=RELATION_FILE))
    vectors = Path(config.tokens.vectors).name  # what the words began with is in the weights now
    if isinstance(relatedness, VectorRelatedness) and vectors != "default":
        vectors = RELATION_VECTORS
        relatedness.vectors.save(folder / vectors)
    return replace(config, tokens=replace(config.tokens, vectors=vectors))


def _with_relations(config: SystemConfig, folder: Path) -> SystemConfig:
    """The same with the folder before the names of files that lie in it."""
    if config.graph.relation_file == RELATION_FILE:
        config = replace(config, graph=replace(config.graph, relation_file=str(folder / RELATION_FILE)))
    if config.tokens.vectors == RELATION_VECTORS:
        config = replace(config, tokens=replace(config.tokens, vectors=str(folder / RELATION_VECTORS)))
    return config


def _hash(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(f"{file}: it cannot be read ({error.strerror}). Take the whole folder.") from None


def _planned(config: SystemConfig, words: int, folder: Path) -> dict[str, Tensor]:
    """Names and shapes of the network's tensors without their memory: a description may ask for any size."""
    try:
        with torch.device("meta"):
            return Network(config, words=words).state_dict()
    except (RuntimeError, TypeError, ValueError, OverflowError, MemoryError) as error:
        reason = str(error).splitlines()[0][:200]
        raise ConfigError(
            f"{folder}/config.json: no network has these sizes ({reason}). Take the folder anew."
        ) from None


def _check(expected: dict[str, Tensor], tensors: dict[str, Tensor], folder: Path) -> None:
    for name, tensor in expected.items():
        if name not in tensors:
            raise ConfigError(f"{folder}/model.safetensors: '{name}' is missing. Take the folder anew.")
        if tensors[name].shape != tensor.shape:
            shapes = f"{tuple(tensors[name].shape)}, not {tuple(tensor.shape)}"
            raise ConfigError(f"{folder}/model.safetensors: '{name}' has shape {shapes}. Take the folder anew.")
    for name in tensors:
        if name not in expected:
            raise ConfigError(f"{folder}/model.safetensors: '{name}' belongs to another system. Take the folder anew.")


def _fill(network: Network, tensors: dict[str, Tensor], folder: Path) -> None:
    expected = network.state_dict()
    _check(expected, tensors, folder)
    network.load_state_dict({name: tensors[name].to(value.dtype) for name, value in expected.items()})
