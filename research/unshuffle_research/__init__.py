"""Experiments, tables and benchmarks of unshuffle, and how its shipped model is made."""

from pathlib import Path

CONFIGS = Path(__file__).parent / "configs"
"""Experiments, data sets and recipes."""
RESULTS = Path(__file__).parents[1] / "results"
"""What was measured, as JSON."""
ROOT = Path(__file__).parents[2]
"""The source tree, whose pages show what was measured."""
