"""Which systems run without torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unshuffle.light.encoder import SINGLY, TOGETHER
from unshuffle.light.future_history import FutureHistoryWeights
from unshuffle.light.pointer import PointerWeights

DECODERS: dict[str, type[PointerWeights]] = {"pointer": PointerWeights, "future_history": FutureHistoryWeights}
"""Decoders that have a form in numpy, by kind."""
BERT = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute", "is_decoder": False}
"""What the architecture of a plain BERT says where it says anything."""
SLOTS = ("sentence_encoder", "paragraph_encoder", "decoder")


def light_fault(system: Mapping[str, Any]) -> str:
    """Why a system needs torch, or nothing where it does not."""
    if not all(isinstance(system.get(slot), Mapping) for slot in SLOTS):
        return "its description is not whole"
    kinds = {slot: system[slot].get("kind") for slot in SLOTS}
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
