"""How far a judge is trusted: one that does not help is not used, whatever luck it had."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_model
from unshuffle.evaluation.trust import fitted_trust, helps
from unshuffle.system.orderer import Orderer

DOCUMENTS = random_documents(20, sentences=(3, 5), seed=5)
PLACE = {text: at for document in DOCUMENTS for at, text in enumerate(document.sentences)}


class Saying:
    """Answers by the texts of a pair."""

    def __init__(self, says: Callable[[str, str], float]) -> None:
        self.says = says

    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        return [self.says(sentences[first], sentences[second]) for first, second in pairs]


@pytest.fixture(scope="module")
def orderer(tmp_path_factory: pytest.TempPathFactory) -> Orderer:
    return Orderer(tiny_model("se-grn", tmp_path_factory.mktemp("model"), DOCUMENTS))


def test_a_judge_that_says_nothing_is_not_used_and_changes_no_figure(orderer: Orderer) -> None:
    found = fitted_trust(orderer, Saying(lambda one, other: 0.5), DOCUMENTS, questions=3)
    assert not found.trust.used and found.with_judge == found.without and found.asked == 0


def test_a_judge_that_knows_is_used(orderer: Orderer) -> None:
    found = fitted_trust(orderer, Saying(lambda one, other: float(PLACE[one] < PLACE[other])), DOCUMENTS, questions=5)
    assert found.trust.used and found.with_judge > found.without + 10 and found.asked > 0


def test_the_best_of_many_settings_without_effect_is_seldom_called_a_help() -> None:
    draw = np.random.default_rng(0)
    helped = [helps(np.repeat(draw.normal(0, 10, (30, 60, 1)), 2, 2), seed) for seed in range(200)]
    assert sum(helped) <= 12  # 2.3 in 100 are expected


def test_what_ranking_by_pairs_gains_alone_is_not_the_judge_s() -> None:
    gains = np.random.default_rng(0).normal(0, 1, (30, 60, 2)) + np.array([5.0, 0.0])
    assert not helps(gains, 1) and helps(gains + 5.0, 1)
