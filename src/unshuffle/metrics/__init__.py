"""Measures of orders, of pair decisions, and of the certainty of both; numpy only."""

from unshuffle.metrics.bootstrap import Band, Comparison, bootstrap_band, document_values, paired_bootstrap
from unshuffle.metrics.orders import (
    accuracy,
    adjacent,
    align_repeats,
    footrule,
    head,
    inversions,
    longest_common,
    perfect_match,
    tail,
    tau,
    within,
)
from unshuffle.metrics.pairs import (
    PairCalibration,
    ReliabilityBin,
    brier,
    calibration,
    pairwise_accuracy,
    two_sided_pairs,
)
from unshuffle.metrics.summary import OrderPair, Score, Spread, Tally, by_length, spread, summarise, tally

__all__ = [
    "Band",
    "Comparison",
    "OrderPair",
    "PairCalibration",
    "ReliabilityBin",
    "Score",
    "Spread",
    "Tally",
    "accuracy",
    "adjacent",
    "align_repeats",
    "bootstrap_band",
    "brier",
    "by_length",
    "calibration",
    "document_values",
    "footrule",
    "head",
    "inversions",
    "longest_common",
    "paired_bootstrap",
    "pairwise_accuracy",
    "perfect_match",
    "spread",
    "summarise",
    "tail",
    "tally",
    "tau",
    "two_sided_pairs",
    "within",
]
