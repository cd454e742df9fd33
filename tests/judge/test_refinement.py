"""Asking where it helps: sure pairs settle, useful questions come first, and the input's order is never seen."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unshuffle.errors import ConfigError, DataError
from unshuffle.judge.contracts import Trust, chance_of, odds_of
from unshuffle.judge.refinement import refine
from unshuffle.judge.usefulness import Orders, gains
from unshuffle.metrics import tau
from unshuffle.rank.constraints import Constraints
from unshuffle.rank.ranking import FloatArray

SURE = Trust(reliability=0.99)


def numbered(count: int) -> list[str]:
    return [f"Sentence {place:03}." for place in range(count)]


class Knowing:
    """Knows the alphabet, and remembers what it was asked."""

    def __init__(self, right: float = 1.0, seed: int = 0) -> None:
        self.right, self.seed = right, seed
        self.asked: list[tuple[str, str]] = []
        self.listings: set[tuple[str, ...]] = set()

    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        self.listings.add(tuple(sentences))
        said: list[float | None] = []
        for first, second in pairs:
            one, other = sentences[first], sentences[second]
            self.asked.append((one, other))
            luck = np.random.default_rng([self.seed, *map(ord, "".join(sorted((one, other))))]).random()
            said.append(float((one < other) == (luck < self.right)))
        return said


class Saying:
    """Says whatever it is told to."""

    def __init__(self, says: Callable[[int], object]) -> None:
        self.says = says

    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        return self.says(len(pairs))  # type: ignore[return-value]


def unsure(size: int, seed: int, strength: float = 0.8) -> FloatArray:
    """A model's chances for sentences in their true order: mostly right, and of varying sureness."""
    odds = np.triu(np.random.default_rng(seed).normal(strength, 1.0, (size, size)), 1)
    return chance_of(odds - odds.T)


def shuffled(chance: FloatArray, permutation: np.ndarray) -> tuple[list[str], FloatArray]:
    sentences = numbered(len(chance))
    return [sentences[at] for at in permutation], chance[np.ix_(permutation, permutation)]


def test_a_judge_that_knows_needs_few_questions() -> None:
    asked, pairs = 0, 0
    for seed in range(20):
        permutation = np.random.default_rng(seed).permutation(7)
        sentences, chance = shuffled(unsure(7, seed), permutation)
        found = refine(sentences, chance, judge := Knowing(), questions=21, trust=SURE)
        assert [sentences[at] for at in found.order] == numbered(7)
        asked, pairs = asked + len(judge.asked), pairs + 21
    assert asked < 0.6 * pairs  # what follows from other answers is not asked


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 9), st.integers(0, 40), st.floats(0.5, 0.99), st.integers(0, 2**32 - 1))
def test_the_budget_is_never_exceeded_and_no_pair_is_asked_twice(
    size: int, questions: int, reliability: float, seed: int
) -> None:
    sentences, chance = shuffled(unsure(size, seed), np.random.default_rng(seed).permutation(size))
    judge = Knowing(0.7)
    found = refine(sentences, chance, judge, questions=questions, trust=Trust(reliability=reliability))
    assert len(found.questions) == len(judge.asked) <= questions
    assert len({frozenset(pair) for pair in judge.asked}) == len(judge.asked)
    assert sorted(found.order) == list(range(size))
    assert all(asked.first < asked.second for asked in found.questions)
    np.testing.assert_allclose(found.chance + found.chance.T, 1.0)


@pytest.mark.parametrize("questions", [1, 4, 30])
def test_shuffling_the_sentences_changes_neither_order_nor_questions(questions: int) -> None:
    chance, results, listings = unsure(8, 3), [], set()
    for seed in range(5):
        sentences, mixed = shuffled(chance, np.random.default_rng(seed).permutation(8))
        judge = Knowing(0.8)
        found = refine(sentences, mixed, judge, questions=questions)
        results.append(([sentences[at] for at in found.order], judge.asked))
        listings |= judge.listings
    assert all(result == results[0] for result in results)
    assert len(listings) == 1  # the judge sees one listing, whatever the input's order was


def test_useful_questions_beat_random_ones() -> None:
    useful, random, none = [], [], []
    for seed in range(60):
        draw = np.random.default_rng(seed)
        sentences, chance = shuffled(unsure(8, seed), draw.permutation(8))
        truth = [numbered(8).index(sentence) for sentence in sentences]
        found = refine(sentences, chance, Knowing(0.9, seed), questions=6, trust=Trust(reliability=0.9))
        useful.append(tau([truth[at] for at in found.order], range(8)))
        none.append(tau([truth[at] for at in refine(sentences, chance, Knowing(), questions=0).order], range(8)))
        odds = odds_of(chance)
        pairs = [(one, two) for one in range(8) for two in range(one + 1, 8)]
        for pick in draw.choice(len(pairs), 6, replace=False):
            one, two = pairs[pick]
            said = Knowing(0.9, seed).answers(sentences, [(one, two)])[0]
            odds[one, two] += Trust(reliability=0.9).log_odds(said or 0.0)
            odds[two, one] = -odds[one, two]
        by_lot = refine(sentences, chance_of(odds), Knowing(), questions=0)
        random.append(tau([truth[at] for at in by_lot.order], range(8)))
    assert np.mean(useful) > np.mean(random) + 0.03 > np.mean(none)


def test_sure_pairs_are_not_asked_about() -> None:
    chance = np.full((4, 4), 0.5)
    chance[np.triu_indices(4, 1)] = 0.999
    chance[0, 1] = 0.5
    chance = np.triu(chance, 1) + np.tril(1 - chance.T, -1) + 0.5 * np.eye(4)
    judge = Knowing()
    refine(numbered(4), chance, judge, questions=6)
    assert [{*pair} for pair in judge.asked] == [{*numbered(2)}]


def test_constraints_hold_and_decide_without_being_asked_about() -> None:
    sentences, judge = numbered(5), Knowing()
    known = Constraints(before=((4, 0),), fixed=((2, 3),))
    found = refine(sentences, np.full((5, 5), 0.5), judge, questions=10, constraints=known, trust=SURE)
    assert found.order.index(4) < found.order.index(0) and found.order[2] == 3
    assert {sentences[4], sentences[0]} not in [{*pair} for pair in judge.asked]


def test_copies_of_a_sentence_are_never_compared() -> None:
    judge = Knowing()
    found = refine(["b", "a", "b", "a"], np.full((4, 4), 0.5), judge, questions=6, trust=SURE)
    assert all(one != other for one, other in judge.asked)
    assert {*found.order[:2]} == {1, 3}


def test_a_judge_without_reliability_is_not_asked() -> None:
    judge = Knowing()
    assert not refine(numbered(5), unsure(5, 0), judge, questions=10, trust=Trust(reliability=0.5)).questions
    assert not judge.asked


def test_no_answer_changes_nothing() -> None:
    chance = unsure(6, 1)
    found = refine(numbered(6), chance, Saying(lambda count: [None] * count), questions=9)
    assert 0 < len(found.questions) <= 9 and all(asked.answer is None for asked in found.questions)
    np.testing.assert_allclose(found.chance, chance)
    assert (found.answered == 0.5).all()


def test_a_judge_that_breaks_down_is_not_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    calls = []

    def broken(count: int) -> object:
        calls.append(count)
        raise RuntimeError("out of memory")

    with caplog.at_level(logging.WARNING):
        found = refine(numbered(6), unsure(6, 1), Saying(broken), questions=9)
    assert len(calls) == 1 and "out of memory" in found.failed and "out of memory" in caplog.text
    assert "the rest of this document goes without it" in caplog.text


@pytest.mark.parametrize(
    "says",
    [lambda count: [], lambda count: [1.5] * count, lambda count: ["A"] * count, lambda count: None, lambda count: 1.0],
)
def test_what_is_no_answer_is_refused_in_one_line(says: Callable[[int], object]) -> None:
    with pytest.raises(DataError, match="judge: it"):
        refine(numbered(6), unsure(6, 1), Saying(says), questions=9)


def test_drawn_orders_follow_the_odds() -> None:
    odds = np.array([[0, 0.7, -0.3], [-0.7, 0, 1.1], [0.3, -1.1, 0]])
    weight = {order: np.exp(sum(odds[a, b] for at, a in enumerate(order) for b in order[at + 1 :]) / 2)
              for order in permutations(range(3))}  # fmt: skip
    exact = sum(value for order, value in weight.items() if order.index(0) < order.index(1)) / sum(weight.values())
    shares = []
    for seed in range(12):
        orders = Orders(np.arange(3), seed)
        orders.draw(odds)
        shares.append(orders.before(np.array([0]), np.array([1])).mean())
    assert np.mean(shares) == pytest.approx(exact, abs=0.03)


def test_the_gain_of_a_question_is_what_bayes_says() -> None:
    orders = [(0, 1, 2), (0, 1, 2), (1, 0, 2), (2, 1, 0), (0, 2, 1)]
    pairs = [(0, 1), (0, 2), (1, 2)]
    before = np.array([[float(order.index(a) < order.index(b)) for a, b in pairs] for order in orders])
    reliability, expected = 0.8, []
    for asked in range(3):
        total = 0.0
        for answer in (1.0, 0.0):
            likelihood = np.where(before[:, asked] == answer, reliability, 1 - reliability)
            chance = likelihood.mean()
            after = (likelihood[:, None] * before).sum(0) / likelihood.sum()
            total += chance * np.maximum(after, 1 - after).sum()
        share = before.mean(0)
        expected.append(total - np.maximum(share, 1 - share).sum())
    np.testing.assert_allclose(gains(before, reliability), expected, atol=1e-12)


def test_trust_is_written_and_read_and_checked() -> None:
    trust = Trust(reliability=0.9, temperature=2, sure=0.8)
    assert Trust.read(json.loads(json.dumps(trust.write()))) == trust
    assert trust.log_odds(1.0) == -trust.log_odds(0.0) == pytest.approx(np.log(9) / 2)
    for wrong in ({"reliability": 1.0}, {"temperature": 0}, {"sure": float("nan")}, {"model_weight": -1}):
        with pytest.raises(ConfigError, match="trust: "):
            Trust(**wrong)
    for plain in ([], {"format": 0}, {"format": 1, "extra": 2}):
        with pytest.raises(ConfigError, match="Fit it again"):
            Trust.read(plain)


def test_a_hundred_sentences_are_no_trouble() -> None:
    sentences, chance = shuffled(unsure(100, 0, 0.3), np.random.default_rng(0).permutation(100))
    found = refine(sentences, chance, Knowing(), questions=12, trust=SURE)
    assert len(found.questions) == 12 and sorted(found.order) == list(range(100))


def test_a_text_and_its_copies_are_one_question_whose_answer_holds_for_all() -> None:
    judge, sentences = Knowing(), ["x", "z", "x", "y", "x"]
    found = refine(sentences, np.full((5, 5), 0.5), judge, questions=20, trust=SURE)
    assert len({frozenset(pair) for pair in judge.asked}) == len(judge.asked) == len(found.questions) <= 3
    assert [sentences[at] for at in found.order] == ["x", "x", "x", "y", "z"]
    assert found.answered[0, 3] == found.answered[2, 3] == found.answered[4, 3] > 0.9


@pytest.mark.parametrize("answer", [0.5, None])
def test_even_odds_tell_as_little_as_silence(answer: float | None) -> None:
    found = refine(numbered(6), unsure(6, 1), Saying(lambda count: [answer] * count), questions=9)
    assert found.questions and not found.told and found.order == found.unanswered
    assert refine(numbered(6), unsure(6, 1), Knowing(), questions=9).told


@pytest.mark.parametrize("one", [np.int64(1), np.True_, np.float32(1), True])
def test_every_kind_of_number_is_an_answer(one: object) -> None:
    found = refine(numbered(2), np.full((2, 2), 0.5), Saying(lambda count: [one] * count), questions=1)
    assert [asked.answer for asked in found.questions] in ([1.0], [0.0])  # as the question is turned


def test_answers_that_fail_while_they_are_read_are_a_judge_that_fails() -> None:
    found = refine(numbered(4), unsure(4, 1), Saying(lambda count: (1 / 0 for _ in range(count))), questions=3)
    assert "ZeroDivisionError" in found.failed
