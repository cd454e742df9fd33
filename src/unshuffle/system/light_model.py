"""A model folder read without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.graph.build import GraphConfig
from unshuffle.graph.prepare import TOKENIZER, Item, Preparer
from unshuffle.light.encoder import LightEncoder
from unshuffle.light.pointer import EncodedBatch, PointerWeights
from unshuffle.light.systems import DECODERS, expected_shapes
from unshuffle.light.weights import SCALE, Weights, check_shapes, largest_file
from unshuffle.machine import multiplies_bytes
from unshuffle.result import Round
from unshuffle.search.beam import beam_search, content_keys, content_ranks
from unshuffle.search.contracts import Floats, Found, Ints, Search
from unshuffle.search.walk import score_orders
from unshuffle.storage.files import read_arrays
from unshuffle.system.loading import WEIGHTS, FolderDescription, Precision, loses_nothing, read_extras
from unshuffle.text.tokens import Tokenizer

if TYPE_CHECKING:
    from unshuffle.system.config import SystemConfig
    from unshuffle.system.folder import Model
    from unshuffle.system.network import Network

CELLS = 2_000
"""Orders times sentences that are scored at once."""


@dataclass(frozen=True)
class LightReading:
    """Documents that were read once, ready for any search."""

    read: EncodedBatch
    decoder: PointerWeights

    def rounds(self) -> list[tuple[Round, ...]]:
        """No system with a refiner runs without torch."""
        return [()] * len(self.read.sizes)

    def search(self, search: Search) -> list[Found]:
        """The best orders of each document."""
        content = content_ranks(content_keys(self.read.encoded, self.read.states), self.read.sizes)
        return beam_search(self.decoder.memory(self.read), self.read.sizes, search, content)

    def choices(self, orders: Sequence[Sequence[int]]) -> Floats:
        """Orders of the only document -> (orders, sentences) log-probability of each of their choices."""
        memory = self.decoder.memory(self.read)
        size = int(self.read.sizes[0])
        together = max(1, CELLS // size)
        rows: Ints = np.array(orders, np.int64).reshape(-1, size)
        parts = [score_orders(memory, rows[start : start + together]) for start in range(0, len(rows), together)]
        return np.concatenate(parts) if parts else np.zeros((0, size))


@dataclass(frozen=True)
class LightModel:
    """A model folder that runs without torch."""

    folder: str
    name: str
    system: Mapping[str, Any]
    preparer: Preparer
    parser: Mapping[str, str]
    encoder: LightEncoder
    decoder: PointerWeights
    parameters: int
    calibration: dict[str, Any] | None = None
    card: str = ""

    @classmethod
    def load(cls, described: FolderDescription, *, precision: Precision, threads: int) -> LightModel:
        """The model of a folder, checked tensor by tensor, each file read once."""
        files, system = described.files, described.system
        folder = files.folder
        tokenizer = Tokenizer.read(folder / TOKENIZER, _longest(system, folder), read=files.read)
        file = folder / WEIGHTS
        expected = expected_shapes(system, tokenizer.size, str(file))
        weights = Weights(read_arrays(file, read=partial(files.read, most=largest_file(expected))))
        check_shapes(weights, expected, str(file))
        decoder = system["decoder"]
        calibration, card = read_extras(files)
        int8 = precision == "int8"
        if precision == "auto":
            int8 = multiplies_bytes() and loses_nothing("int8", calibration)
        return cls(
            folder=str(folder),
            name=described.name,
            system=system,
            preparer=Preparer(tokenizer=tokenizer, config=_graph(system, folder)),
            parser=described.parser,
            encoder=LightEncoder(system["sentence_encoder"], weights, int8=int8, threads=threads),
            decoder=DECODERS[decoder["kind"]](weights, decoder),
            parameters=sum(value.size for name, value in weights.stored.items() if not name.endswith(SCALE)),
            calibration=calibration,
            card=card,
        )

    @property
    def large(self) -> bool:
        """Whether its products are large enough for several threads to pay."""
        return True

    @property
    def judged(self) -> bool:
        """Whether it was trained to read a judge's answers as link weights: it has no links."""
        return False

    @property
    def wanted_parser(self) -> str:
        """The parser that its configuration names."""
        return str(self.system.get("parser", "none"))

    @property
    def longest(self) -> int:
        """Word pieces of a sentence that it reads."""
        return self.preparer.tokenizer.longest

    @property
    def config(self) -> SystemConfig:
        """The system; needs torch."""
        return self._twin.config

    @property
    def network(self) -> Network:
        """The torch module with the same weights; needs torch."""
        return self._twin.network

    @cached_property
    def _twin(self) -> Model:
        """The same folder on torch, for what only torch can do."""
        if find_spec("torch") is None:
            raise MissingExtra(f"{self.name}: this", "train")
        from unshuffle.system.folder import load_model

        return load_model(self.folder)

    def description(self) -> dict[str, Any]:
        """The system as plain options, and how many parameters it has."""
        return {"system": dict(self.system), "parameters": self.parameters}

    def read(self, items: Sequence[Item]) -> LightReading:
        """Encodes the sentences; the document state is their mean."""
        sizes: Ints = np.array([len(item.words) for item in items], np.int64)
        encoded = self.encoder([item.words for item in items])
        total = np.add.reduceat(encoded, sizes.cumsum() - sizes, axis=0)
        documents = (total / sizes[:, None]).astype(np.float32)
        return LightReading(EncodedBatch(sizes, encoded, encoded, documents), self.decoder)


def _graph(system: Mapping[str, Any], folder: Path) -> GraphConfig:
    """Which sentences are linked in the graph that is shown."""
    graph = system.get("graph", {})
    links, most = graph.get("links", "entities"), graph.get("all_up_to", 64)
    if links not in ("entities", "all") or not isinstance(most, int) or most < 2:
        raise ConfigError(f"{folder}/config.json: 'graph' has unknown options. Download the model folder again.")
    return GraphConfig(links=links, all_up_to=most)


def _longest(system: Mapping[str, Any], folder: Path) -> int:
    longest = system.get("tokens", {}).get("longest", 512)
    most = system["sentence_encoder"]["architecture"].get("max_position_embeddings", 0)
    if not isinstance(longest, int) or not isinstance(most, int) or not 1 <= longest <= most:
        raise ConfigError(f"{folder}/config.json: 'tokens.longest' does not fit. Download the model folder again.")
    return longest
