"""Which systems run without torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unshuffle.light.encoder import SINGLY, TOGETHER


def light_fault(system: Mapping[str, Any]) -> str:
    """Why a system needs torch, or nothing where it does not."""
    kinds = {slot: system.get(slot, {}).get("kind") for slot in ("sentence_encoder", "paragraph_encoder", "decoder")}
    graph = system.get("graph", {})
    if system.get("refiner") is not None:
        return "it has a refiner"
    if kinds["sentence_encoder"] not in (*SINGLY, *TOGETHER):
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
