"""How the benchmarks are run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Options of the command."""

    quick: bool = False
    """Small networks and few documents: whether the benchmarks work, not what they say."""
    model: str = ""
    """Folder of a trained model to decode with; empty takes random weights, made as sure as trained ones."""
    documents: str = ""
    """File of validation documents in their true order, for the choice of the default beam."""
    data: str = ""
    """Folder of real texts; without it texts are made up, and tau is left out."""
