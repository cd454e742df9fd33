"""Which systems run without torch, and which tensors they have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unshuffle.errors import ConfigError
from unshuffle.light.encoder import SINGLY, TOGETHER, encoder_shapes
from unshuffle.light.future_history import FutureHistoryWeights
from unshuffle.light.pointer import PointerWeights
from unshuffle.light.weights import Shape
from unshuffle.parts.architecture import checked_architecture

DECODERS: dict[str, type[PointerWeights]] = {"pointer": PointerWeights, "future_history": FutureHistoryWeights}
"""Decoders that have a form in numpy, by kind."""
BERT = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute", "is_decoder": False}
"""What the architecture of a plain BERT says where it says anything."""
SLOTS = ("sentence_encoder", "paragraph_encoder", "decoder")


def light_fault(system: Mapping[str, Any]) -> str:
    """Why a system needs torch, or nothing where it does not."""
    if not all(isinstance(system.get(slot), Mapping) for slot in SLOTS) or not isinstance(
        system.get("tokens", {}), Mapping
    ):
        return "its description is not whole"
    kinds = {slot: str(system[slot].get("kind"))[:40] for slot in SLOTS}
    graph = system.get("graph", {})
    if system.get("refiner") is not None:
        return "it has a refiner"
    if kinds["sentence_encoder"] not in (*SINGLY, *TOGETHER):
        return f"its sentence encoder is of kind '{kinds['sentence_encoder']}'"
    architecture = system["sentence_encoder"].get("architecture")
    plain = isinstance(architecture, Mapping) and all(
        architecture.get(key, value) == value for key, value in BERT.items()
    )
    if not plain or "model_type" not in architecture:
        return "its transformer is no plain BERT"
    if kinds["paragraph_encoder"] != "none":
        return f"its paragraph encoder is of kind '{kinds['paragraph_encoder']}'"
    decoder = system["decoder"]
    if kinds["decoder"] not in DECODERS or decoder.get("pairs") == "encoded" or decoder.get("keys") == "pair":
        return f"its decoder is of kind '{kinds['decoder']}'"
    if not isinstance(graph, Mapping) or graph.get("relations", "none") != "none" or graph.get("topics"):
        return "its graph has relations or topics"
    return ""


def expected_shapes(system: Mapping[str, Any], words: int, where: str) -> dict[str, Shape]:
    """Names and shapes of the tensors of a system, whose description may come from a stranger."""
    checked_architecture(system["sentence_encoder"]["architecture"], kinds={"bert"}, slot="sentence_encoder")
    try:
        return dict(_expected(system, words))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ConfigError(f"{where}: 'system' lacks sizes. Download the model folder again.") from None


def _expected(system: Mapping[str, Any], words: int) -> Iterator[tuple[str, Shape]]:
    yield from encoder_shapes(system["sentence_encoder"], words)
    width = int(system["sentence_encoder"]["architecture"]["hidden_size"])
    decoder = system["decoder"]
    yield from DECODERS[decoder["kind"]].shapes(decoder, width)
