"""A model folder read without torch: which ones can be, and what they read and answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unshuffle.errors import ConfigError
from unshuffle.graph.build import GraphConfig
from unshuffle.graph.item import Item
from unshuffle.graph.prepare import Preparer
from unshuffle.light.encoder import LightEncoder
from unshuffle.light.future_history import FutureHistoryWeights
from unshuffle.light.pointer import PointerWeights, Read
from unshuffle.light.weights import Weights
from unshuffle.search.beam import beam_search
from unshuffle.search.content import content_keys, content_ranks
from unshuffle.search.contracts import Floats, Found, Ints, Search
from unshuffle.search.walk import score_orders

CELLS = 2_000
"""Orders times sentences that are scored at once."""


def light_fault(system: Mapping[str, Any]) -> str:
    """Why a system needs torch, or nothing where it does not."""
    kinds = {slot: system.get(slot, {}).get("kind") for slot in ("sentence_encoder", "paragraph_encoder", "decoder")}
    graph = system.get("graph", {})
    if system.get("refiner") is not None:
        return "it has a refiner"
    if kinds["sentence_encoder"] not in ("transformer", "transformer_set"):
        return f"its sentence encoder is of kind '{kinds['sentence_encoder']}'"
    if system["sentence_encoder"].get("architecture", {}).get("model_type") != "bert":
        return "its transformer is no BERT"
    if kinds["paragraph_encoder"] != "none":
        return f"its paragraph encoder is of kind '{kinds['paragraph_encoder']}'"
    if kinds["decoder"] not in ("pointer", "future_history") or system["decoder"].get("pairs") == "encoded":
        return f"its decoder is of kind '{kinds['decoder']}'"
    if graph.get("relations", "none") != "none" or graph.get("topics"):
        return "its graph has relations or topics"
    return ""


@dataclass(frozen=True)
class LightReading:
    """Documents that were read once, ready for any search."""

    read: Read
    decoder: PointerWeights

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


class LightNetwork:
    """Sentence encoder and decoder of a system that runs without torch."""

    def __init__(self, system: Mapping[str, Any], weights: Weights, *, int8: bool, threads: int) -> None:
        if fault := light_fault(system):
            raise ConfigError(f"model: {fault}, so it needs torch. Install it: pip install 'unshuffle[train]'.")
        self.encoder = LightEncoder(system["sentence_encoder"], weights, int8=int8, threads=threads)
        decoder = system["decoder"]
        self.decoder = (
            FutureHistoryWeights(weights, decoder) if decoder["kind"] == "future_history" else PointerWeights(weights)
        )

    def read(self, items: Sequence[Item]) -> LightReading:
        """Encodes the sentences; the document state is their mean."""
        sizes: Ints = np.array([len(item.words) for item in items], np.int64)
        encoded = self.encoder([item.words for item in items])
        total = np.add.reduceat(encoded, sizes.cumsum() - sizes, axis=0)
        return LightReading(Read(sizes, encoded, encoded, total / sizes[:, None].astype(np.float32)), self.decoder)


def light_preparer(system: Mapping[str, Any], tokenizer: Any) -> Preparer:
    """What turns documents into word numbers and the graph that is shown."""
    graph = system.get("graph", {})
    links, most = graph.get("links", "entities"), graph.get("all_up_to", 64)
    if links not in ("entities", "all") or not isinstance(most, int) or most < 2:
        raise ConfigError("config.json: 'graph' has options that no model has. Download the model folder again.")
    return Preparer(tokenizer=tokenizer, config=GraphConfig(links=links, all_up_to=most))
