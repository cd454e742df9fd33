import math
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.fixtures.documents import STORIES
from tests.fixtures.systems import tiny_model as tiny_system
from tests.fixtures.tiny import tiny_model
from unshuffle.decode.contracts import Gold
from unshuffle.errors import DataError
from unshuffle.graph.batch import collate
from unshuffle.result import SLIGHTLY, Coherence, Move, Transition
from unshuffle.system.coherence import ALL_MOVES, _moves
from unshuffle.system.orderer import Orderer
from unshuffle.system.rows import system_names
from unshuffle.text.document import Document

STORY = STORIES[0]


@pytest.fixture(scope="module")
def orderer() -> Orderer:
    return Orderer(tiny_model(seed=3))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("systems")


@pytest.mark.parametrize("name", system_names())
def test_reading_once_scores_every_order_like_reading_anew(name: str, folder: Path) -> None:
    documents = [Document(story, mentions=()) for story in STORIES]
    model = tiny_system(name, folder, documents)
    item = model.preparer.item(documents[0])
    orders = list(permutations(range(len(STORY))))
    with torch.inference_mode():
        found = model.read([item]).choices(orders)
        batch = collate([item])
        read = model.network.read(batch)
        for order, choices in zip(orders, found, strict=True):
            alone = model.network.transitions(read, batch, Gold.of([list(order)]))
            np.testing.assert_allclose(choices, alone.numpy(), atol=1e-4)
    assert np.exp(found.sum(1)).sum() == pytest.approx(1, abs=1e-3)


def test_figures_follow_their_definitions(orderer: Orderer) -> None:
    found = orderer.coherence(STORY)
    totals = {order: _log_probability(orderer, order) for order in permutations(range(len(STORY)))}
    own = totals.pop((0, 1, 2, 3))
    assert found.log_probability == pytest.approx(own, abs=1e-4)
    assert found.probability == pytest.approx(math.exp(own), rel=1e-3)
    assert found.percentile == pytest.approx(100 * sum(total < own for total in totals.values()) / len(totals))
    gains = {}
    for sentence in range(4):
        rest = [other for other in range(4) if other != sentence]
        for to in range(4):
            moved = (*rest[:to], sentence, *rest[to:])
            if moved != (0, 1, 2, 3):
                gains[sentence, to] = totals[moved] - own
    best = sorted({round(gain, 4) for gain in gains.values() if gain >= SLIGHTLY}, reverse=True)
    assert [round(move.gain, 4) for move in found.moves] == pytest.approx(best[:3], abs=2e-4)
    for move in found.moves:
        assert move.gain == pytest.approx(gains[move.sentence, move.to], abs=1e-4)


def test_transitions_are_chances_and_the_last_compares_with_other_positions(orderer: Orderer) -> None:
    found = orderer.coherence(STORY)
    assert [(step.first, step.second) for step in found.transitions] == [(0, 1), (1, 2), (2, 3)]
    assert math.prod(step.score for step in found.transitions[:-1]) >= found.probability
    positions = [(0, 1, 2, 3), (0, 1, 3, 2), (0, 3, 1, 2), (3, 0, 1, 2)]
    likely = [math.exp(_log_probability(orderer, order)) for order in positions]
    assert found.transitions[-1].score == pytest.approx(likely[0] / sum(likely), abs=1e-4)
    assert found.transitions[-1].score != pytest.approx(found.transitions[-2].score, abs=1e-4)


def test_a_long_text_has_each_swap_of_neighbours_once() -> None:
    choices = np.random.default_rng(1).normal(size=30)
    moves = list(_moves(30, choices))
    assert len({(min(move), max(move), abs(move[0] - move[1]) == 1 or move) for move in moves}) == len(moves)
    assert all(one != to for one, to in moves)


def test_a_verdict_is_never_sure_of_an_order_that_a_move_would_improve() -> None:
    def verdict(percentile: float, *gains: float, score: float = 0.9) -> str:
        moves = tuple(Move(0, 1, gain) for gain in gains)
        return Coherence(0.1, -2.3, percentile, (Transition(0, 1, score),), moves).verdict

    assert verdict(100.0) == "reads well"
    assert verdict(100.0, 3.0) == "one step is clearly out of place"
    assert "might help" in verdict(99.0, 1.0)
    assert verdict(99.0, score=0.1) == "reads well; one step is weak"
    assert Coherence(1.0, 0.0, 100.0, (), ()).verdict == "there is only one sentence"
    assert verdict(50.0) != verdict(85.0) != verdict(99.0)


def test_the_best_order_has_no_better_move(orderer: Orderer) -> None:
    best = orderer.order(STORY, beam=24).order
    found = orderer.coherence([STORY[place] for place in best])
    assert found.moves == ()
    assert found.percentile == pytest.approx(100)


def test_a_text_is_split_into_its_sentences(orderer: Orderer) -> None:
    assert orderer.coherence(" ".join(STORY)) == orderer.coherence(STORY)


def test_a_single_sentence_is_as_coherent_as_can_be(orderer: Orderer) -> None:
    found = orderer.coherence(["Only one."])
    assert (found.probability, found.log_probability, found.percentile) == (1.0, 0.0, 100.0)
    assert found.transitions == found.moves == ()


def test_equal_sentences_count_half(orderer: Orderer) -> None:
    assert orderer.coherence(["Same.", "Same."]).percentile == 50


def test_what_has_no_sentence_is_refused(orderer: Orderer) -> None:
    with pytest.raises(DataError, match="no sentence"):
        orderer.coherence("   ")
    with pytest.raises(DataError, match="no sentence"):
        orderer.order("   ")


def test_a_long_text_is_scored_with_bounded_work(orderer: Orderer) -> None:
    sentences = [f"The river rose for the {number} time and fell again." for number in range(ALL_MOVES + 60)]
    found = orderer.coherence(sentences)
    assert 0 <= found.percentile <= 100
    assert len(found.transitions) == len(sentences) - 1
    assert len(found.moves) <= 3
    assert all(abs(move.to - move.sentence) <= 3 for move in found.moves)


def test_the_same_text_scores_the_same_twice(orderer: Orderer) -> None:
    sentences = [f"Sentence {number} of a text." for number in range(9)]
    assert orderer.coherence(sentences) == orderer.coherence(sentences)


def _log_probability(orderer: Orderer, order: tuple[int, ...]) -> float:
    model = orderer.model
    item = model.preparer.item(replace(Document(STORY), mentions=()))
    with torch.inference_mode():
        batch = collate([item])
        return float(model.network.transitions(model.network.read(batch), batch, Gold.of([list(order)])).sum())


def test_words_and_weak_steps_are_part_of_the_answer() -> None:
    transitions = (Transition(0, 1, 0.3), Transition(1, 2, 0.4), Transition(2, 3, 0.24))
    moves = (Move(2, 0, 2.5), Move(1, 3, 1.0))
    found = Coherence(0.1, -2.3, 80.0, transitions, moves).to_json()
    # Of three and two that could have come: a third, a half; for the last a quarter, of four positions.
    assert [step["weak"] for step in found["transitions"]] == [True, True, True]
    assert [move["words"] for move in found["moves"]] == ["clearly better", "slightly better"]
    assert found["verdict"] == "some steps seem out of place"
    firm = Coherence(0.1, -2.3, 97.0, (Transition(0, 1, 0.34), Transition(1, 2, 0.5), Transition(2, 3, 0.5)), ())
    assert not any(step["weak"] for step in firm.to_json()["transitions"]) and firm.to_json()["verdict"] == "reads well"
