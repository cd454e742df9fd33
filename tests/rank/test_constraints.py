"""Constraints: kept by every ranker, exact where the search is, refused where no order meets them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.oracles.constraints import keeps
from unshuffle.errors import ConfigError
from unshuffle.rank import METHODS, Constraints, Method, by_beam, by_kemeny, by_positions, by_scores, rank
from unshuffle.rank.ranking import log_weights, order_score


@st.composite
def constraint_sets(draw: st.DrawFn) -> tuple[int, Constraints]:
    count = draw(st.integers(1, 6))
    sentence = st.integers(0, count - 1)
    before = draw(st.lists(st.tuples(sentence, sentence), max_size=4))
    fixed = draw(st.lists(st.tuples(sentence, sentence), max_size=2))
    sources = draw(st.just([]) | st.lists(st.sampled_from(["a", "b", None]), min_size=count, max_size=count))
    return count, Constraints(tuple(before), tuple(fixed), tuple(sources))


@settings(deadline=None, max_examples=200)
@given(constraint_sets())
def test_constraints_are_refused_exactly_if_no_order_meets_them(case: tuple[int, Constraints]) -> None:
    count, constraints = case
    possible = any(keeps(order, constraints) for order in permutations(range(count)))
    if possible:
        constraints.rules(count)
    else:
        with pytest.raises(ConfigError, match="constraints:"):
            constraints.rules(count)


@settings(deadline=None, max_examples=60)
@given(constraint_sets(), st.integers(0, 2**32 - 1))
def test_every_ranker_keeps_the_constraints_and_exact_ones_are_best(case: tuple[int, Constraints], seed: int) -> None:
    count, constraints = case
    allowed = [order for order in permutations(range(count)) if keeps(order, constraints)]
    assume(allowed)
    probability = np.random.default_rng(seed).random((count, count))
    for method in METHODS:
        assert rank(probability, method, constraints=constraints).order in allowed
    weight = log_weights(probability)
    best = max(order_score(weight, order) for order in allowed)
    assert by_kemeny(probability, constraints=constraints).score == pytest.approx(best)
    assert by_beam(probability, width=720, constraints=constraints).score == pytest.approx(best)
    assert by_scores(probability[0], constraints=constraints).order in allowed
    assert by_positions(probability, constraints=constraints).order in allowed


@settings(deadline=None, max_examples=60)
@given(constraint_sets())
def test_a_sentence_may_follow_exactly_if_some_order_goes_on_with_it(case: tuple[int, Constraints]) -> None:
    count, constraints = case
    allowed = [order for order in permutations(range(count)) if keeps(order, constraints)]
    assume(allowed)
    rules = constraints.rules(count)
    for order in allowed[:5]:
        for length in range(count):
            prefix = set(order[:length])
            used = np.isin(np.arange(count), order[:length])
            follow = {other[length] for other in allowed if set(other[:length]) == prefix}
            assert set(np.flatnonzero(rules.allowed(used)).tolist()) == follow


@pytest.mark.parametrize("method", METHODS)
def test_constraints_follow_their_sentences_when_the_input_is_shuffled(method: Method) -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        probability, shuffle = generator.random((7, 7)), generator.permutation(7)
        place = np.argsort(shuffle)
        straight = rank(probability, method, constraints=Constraints(before=((5, 1), (1, 3)), fixed=((2, 6),)))
        moved = Constraints(
            before=((int(place[5]), int(place[1])), (int(place[1]), int(place[3]))), fixed=((2, int(place[6])),)
        )
        shuffled = rank(probability[shuffle][:, shuffle], method, constraints=moved)
        assert tuple(int(shuffle[at]) for at in shuffled.order) == straight.order


def test_sentences_of_one_source_keep_their_order_against_all_odds() -> None:
    against = np.tril(np.ones((6, 6)), -1)  # every pair speaks for the reverse order
    constraints = Constraints(within_source=("a", "b", "a", "b", None, "a"))
    for method in METHODS:
        order = rank(against, method, constraints=constraints).order
        assert [sentence for sentence in order if sentence in (0, 2, 5)] == [0, 2, 5]
        assert [sentence for sentence in order if sentence in (1, 3)] == [1, 3]
    assert rank(against, constraints=constraints).order[0] == 4


def test_forty_sentences_with_anchors_are_ordered_within_the_rules() -> None:
    probability = np.random.default_rng(0).random((40, 40))
    constraints = Constraints(before=((0, 39), (39, 20)), fixed=((0, 7), (20, 8), (39, 9)))
    for method in METHODS:
        assert keeps(rank(probability, method, constraints=constraints).order, constraints)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (Constraints(before=((0, 1), (1, 2), (2, 0))), "0 before 1 closes a cycle"),
        (Constraints(before=((2, 0),), within_source=("a", None, "a")), "2 before 0 closes a cycle"),
        (Constraints(before=((1, 1),)), "1 before 1 names one sentence twice"),
        (Constraints(before=((0, 3),)), "sentence 0 is to come before 3, but the 3 sentences are 0 to 2"),
        (Constraints(fixed=((3, 0),)), "sentence 0 is to stand at position 3, but the 3 sentences are 0 to 2"),
        (Constraints(fixed=((0, 1), (0, 2))), "sentences 1 and 2 are both to stand at position 0"),
        (Constraints(fixed=((0, 1), (2, 1))), "sentence 1 is to stand at positions 0 and 2"),
        (Constraints(before=((0, 1),), fixed=((2, 0), (1, 1))), "0 before 1, but their positions are 2 and 1"),
        (Constraints(before=((0, 1),), fixed=((0, 1),)), "sentence [01] must be at position"),
        (Constraints(within_source=("a",)), "1 given for a document of 3 sentences"),
    ],
)
def test_impossible_constraints_are_refused_by_name(constraints: Constraints, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        rank(np.full((3, 3), 0.5), constraints=constraints)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"before": [0, 1]}, r"before has 0 in it\. Give pairs of numbers, such as before=\[\(0, 2\)\]\.$"),
        ({"before": [(0, 1, 2)]}, r"before has \(0, 1, 2\) in it"),
        ({"before": ["01"]}, "before has '01' in it"),
        ({"before": [(0, True)]}, "before has"),
        ({"before": None}, "before is of type NoneType"),
        ({"fixed": {0: 2}}, r"fixed is of type dict\. Give pairs of numbers, such as fixed=\[\(0, 2\)\]"),
        ({"fixed": [(0.0, 1)]}, "fixed has"),
        ({"within_source": "aab"}, "within_source is of type str"),
        ({"within_source": 3}, "within_source is of type int"),
        ({"within_source": [["a"], "b"]}, "the source of sentence 0 is"),
    ],
)
def test_what_cannot_be_a_constraint_is_refused_when_it_is_written(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        Constraints(**wrong)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_constraints_can_be_written_as_lists_arrays_and_generators() -> None:
    same = Constraints(before=((0, 1),), fixed=((2, 2),), within_source=("a", None, "a"))
    assert Constraints([[0, 1]], [(2, 2)], ["a", None, "a"]) == same  # type: ignore[list-item]
    assert hash(Constraints(np.array([[0, 1]]), iter([(2, 2)]), iter("a")))  # type: ignore[arg-type]
