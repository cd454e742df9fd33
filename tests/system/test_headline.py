"""What is said about an order: how sure, and which steps to check."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.system.test_result import ordering
from unshuffle.headline import FAIR, GUESS, SURE, headline_of
from unshuffle.result import PairProbability
from unshuffle.system.calibration import KEEP_BELOW


def chances(*sure: float) -> dict[tuple[int, int], float]:
    return {pair: chance for pair, chance in zip(pairwise(range(len(sure) + 1)), sure, strict=True)}


@pytest.mark.parametrize(
    ("confidence", "sure", "level", "line"),
    [
        (0.97, (0.99, 0.99), "sure", "Sure of every step"),
        (0.9, (0.99, 0.99), "fair", "Fairly sure of every step"),
        (0.77, (0.99, 0.6, 0.99), "fair", "Fairly sure, but check between sentences 2 and 3"),
        (0.97, (0.6, 0.6), "fair", "Fairly sure, but check every step"),
        (0.97, (0.6,), "fair", "Fairly sure, but check the step"),
        (0.9, (0.9, 0.6, 0.9), "fair", "Fairly sure, but check between sentences 2 and 3"),
        (0.7, (0.99, 0.99), "unsure", "Fairly unsure, though no single step stands out"),
        (0.7, (0.9, 0.6, 0.6), "unsure", "Fairly unsure: check between sentences 2 and 3, and 3 and 4"),
        (0.7, (0.6, 0.6, 0.6, 0.9), "unsure", "Fairly unsure: check between sentences 1 and 2, 2 and 3, and 3 and 4"),
        (0.7, (0.6,) * 4 + (0.9,), "unsure", "Fairly unsure: check most steps"),
        (0.7, (0.6,) * 4 + (0.9,) * 5, "unsure", "Fairly unsure: check 4 steps"),
        (0.6, (0.99, 0.99), "unsure", "Little better than a guess: check every step"),
    ],
)
def test_the_line_follows_confidence_and_pairs(
    confidence: float, sure: tuple[float, ...], level: str, line: str
) -> None:
    found = headline_of(range(len(sure) + 1), confidence, chances(*sure), kept=False)
    assert (found.level, found.line) == (level, line)
    assert found.doubtful == tuple(step for step, chance in enumerate(sure, start=1) if chance < found.doubt_below)


def test_pairs_are_read_the_way_round_in_which_the_order_has_them() -> None:
    assert headline_of((1, 0), 0.97, {(0, 1): 0.1}, kept=False).doubtful == ()
    assert headline_of((1, 0), 0.97, {(0, 1): 0.9}, kept=False).doubtful == (1,)


def test_nothing_is_ever_called_certain() -> None:
    assert "100" not in str(headline_of((0, 1), 1.0, {(0, 1): 1.0}, kept=False))


@pytest.mark.parametrize(
    ("confidence", "words"), [(0.96, "nearly every pair"), (0.95, "nine in ten"), (0.61, "six in ten")]
)
def test_confidence_is_told_as_a_frequency(confidence: float, words: str) -> None:
    assert words in headline_of((0, 1), confidence, {}, kept=False).detail


def test_a_kept_order_and_a_single_sentence_say_so() -> None:
    assert ordering(kept=True).headline.line == "Too unsure: the sentences were left as they were"
    alone = ordering(("Alone.",), order=(0,), pairs=(), confidence=1.0).headline
    assert (alone.level, alone.line) == ("sure", "There is nothing to order: it is one sentence")


def test_equal_sentences_raise_no_doubt() -> None:
    pairs = (PairProbability(0, 1, 0.5), PairProbability(0, 2, 0.9), PairProbability(1, 2, 0.9))
    same = ordering(("Row.", "Row.", "Shore."), order=(0, 1, 2), pairs=pairs, ties=((0, 1),), confidence=0.96)
    assert same.headline.line == "Sure of every step"


def test_identical_sentences_are_no_guess() -> None:
    pairs = (PairProbability(0, 1, 0.5), PairProbability(0, 2, 0.5), PairProbability(1, 2, 0.5))
    same = ordering(("Row.",) * 3, order=(0, 1, 2), pairs=pairs, ties=((0, 1), (1, 2)), confidence=0.5)
    assert same.headline.line == "There is nothing to order: the sentences are identical"
    assert same.headline.level == "sure" and same.headline.doubtful == ()


def test_the_json_carries_the_headline() -> None:
    assert ordering().to_json()["headline"] == {
        "level": "fair",
        "line": "Fairly sure of every step",
        "detail": "By its own estimate, about nine in ten pairs of sentences stand the right way round.",
        "doubtful": [],
        "doubt_below": 0.75,
    }


def test_there_is_one_scale_and_its_steps_stand_in_the_table_of_thresholds() -> None:
    assert KEEP_BELOW == GUESS < FAIR < SURE
    table = (Path(__file__).parents[2] / "docs" / "confidence.md").read_text(encoding="utf-8")
    right = {float(row[0]): float(row[1]) for row in re.findall(r"^\| (0\.\d+) \| \d+% \| ([\d.]+)% \|$", table, re.M)}
    assert right[GUESS] >= 75 and right[FAIR] >= 80 and right[SURE] >= 95
