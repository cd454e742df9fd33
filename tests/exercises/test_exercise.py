"""Exercises whose solution is unambiguous, or what to change."""

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exercises.conftest import Unsure
from tests.fixtures.systems import shared_model
from tests.serve.fake import EXAMPLES, FakeOrderer
from unshuffle.errors import ConfigError, DataError
from unshuffle.exercises.exercise import label
from unshuffle.exercises.make import difficulty_of, make_exercise, make_exercises
from unshuffle.exercises.scramble import scrambles
from unshuffle.exercises.verdict import lead
from unshuffle.result import Candidate, Ordering
from unshuffle.system.orderer import Orderer

STORY: list[str] = EXAMPLES[0]["sentences"]
CLEAR = [f"Sentence {number}." for number in range(1, 6)]


def test_the_solution_restores_the_paragraph() -> None:
    exercise = make_exercise(FakeOrderer(), STORY, seed=3)
    assert exercise.unambiguous
    assert exercise.paragraph == tuple(STORY)
    assert exercise.items != tuple(STORY)


def test_the_same_seed_gives_the_same_exercise_and_another_another() -> None:
    first, again, other = (make_exercise(FakeOrderer(), STORY, seed=seed) for seed in (5, 5, 6))
    assert first == again
    assert first.items != other.items


def test_an_order_that_the_model_does_not_find_is_not_unambiguous() -> None:
    exercise = make_exercise(FakeOrderer(), CLEAR[::-1])
    assert not exercise.unambiguous
    assert exercise.margin == 0
    assert exercise.reason == "the model prefers another order"


def test_equal_sentences_are_ambiguous() -> None:
    exercise = make_exercise(FakeOrderer(), [*CLEAR[:3], CLEAR[1], CLEAR[3]])
    assert exercise.reason == "two sentences are the same"
    assert any(proposal.change == "drop" and proposal.sentences in {(1,), (3,)} for proposal in exercise.proposals)


def test_exchanged_copies_are_no_rival() -> None:
    orderer = Orderer(shared_model("irse-grn"))
    best = orderer.order(["The box opens.", "A key turns.", "The box opens.", "The rope holds."]).sentences
    for seed in range(6):
        exercise = make_exercise(orderer, best, seed=seed)
        assert exercise.rival is not None and exercise.margin == 0
        assert [exercise.items[item] for item in exercise.rival.order] != list(best)
        assert exercise.rival.why.startswith("The next best order is")


def test_where_another_order_is_near_changes_are_proposed(unsure: Unsure) -> None:
    exercise = make_exercise(unsure, ["s1", "s2", "s3", "s4", "s5"])
    assert not exercise.unambiguous
    assert exercise.reason == "another order reads almost as well"
    assert [proposal.solves for proposal in exercise.proposals] == [True] * 3
    assert exercise.proposals[0].change == "merge"
    assert exercise.proposals[0].result == ("s1 s2", "s3", "s4", "s5")


def test_the_rival_is_named_and_explained(unsure: Unsure) -> None:
    exercise = make_exercise(unsure, ["s1", "s2", "s3", "s4", "s5"])
    assert exercise.rival is not None
    assert [exercise.items[item] for item in exercise.rival.order] == ["s2", "s1", "s3", "s4", "s5"]
    first, second = (label(item) for item in exercise.solution[:2])
    assert exercise.rival.why == (
        f"The next best order is {' '.join(map(label, exercise.rival.order))} (38%, the right one 40%). "
        f"It swaps {first} and {second}. "
        f"The model puts the chance of {first} before {second} at only 48%."
    )


def test_a_rival_that_moves_one_sentence_is_said_so() -> None:
    exercise = make_exercise(FakeOrderer(), [*CLEAR[1:], CLEAR[0]])
    assert exercise.rival is not None
    assert exercise.rival.why.startswith("The order ") and "is more likely to the model" in exercise.rival.why
    assert f"It moves {label(exercise.solution[-1])} from position 5 to position 1." in exercise.rival.why


def test_mending_changes_until_the_order_is_unambiguous_and_says_what(unsure: Unsure) -> None:
    exercise = make_exercise(unsure, ["s1", "s2", "s3", "s4", "s5", "s6"], mend=True)
    assert exercise.unambiguous
    assert len(exercise.items) == 4
    assert exercise.changes == (
        "Sentences 1 and 2 were merged into one item: “s1” … “s2”",
        "Sentences 1 and 2 and 3 were merged into one item: “s1 s2” … “s3”",
    )


def test_mending_leaves_alone_what_is_to_be_kept(unsure: Unsure) -> None:
    sentences = ["s1", "s2", "s3", "s4", "s5"]
    exercise = make_exercise(unsure, sentences, mend=True, keep=[0, 2, 4])
    assert exercise.unambiguous and {"s1", "s3", "s5"} <= set(exercise.items)
    untouched = make_exercise(unsure, sentences, mend=True, keep=range(5))
    assert not untouched.unambiguous and untouched.paragraph == tuple(sentences)
    with pytest.raises(ConfigError, match="no sentence 6"):
        make_exercise(unsure, sentences, keep=[5])


def test_mending_leaves_sentences_enough_for_all_sheets(unsure: Unsure) -> None:
    sentences = ["s1", "s2", "s3", "s4", "s5", "s6"]
    made = make_exercises(unsure, sentences, mend=True, count=17)
    assert len(made) == 17 and all(one.unambiguous and len(one.items) == 4 for one in made)
    left = make_exercises(unsure, sentences, mend=True, count=18)  # four items have 17 arrangements
    assert len(left) == 18 and {one.paragraph for one in left} == {tuple(sentences)}
    assert not any(one.unambiguous or one.changes for one in left)


def test_what_cannot_be_mended_stays_as_it_was() -> None:
    exercise = make_exercise(FakeOrderer(), CLEAR[::-1], mend=True)
    assert not exercise.unambiguous and exercise.paragraph == tuple(CLEAR[::-1])
    assert not exercise.changes and not exercise.proposals  # nothing of it helps


def test_two_sentences_are_no_exercise() -> None:
    with pytest.raises(DataError, match="too few"):
        make_exercise(FakeOrderer(), ["a", "b"])


@given(st.integers(3, 9), st.integers(0, 1000), st.integers(1, 2))
def test_scrambles_differ_and_are_more_than_a_swap_from_the_solution(size: int, seed: int, count: int) -> None:
    found = scrambles(size, seed, count)
    assert len(set(found)) == count and found == scrambles(size, seed, count)
    right = list(range(size))
    near = {tuple(right)}
    for first, second in combinations(right, 2):
        swapped = list(right)
        swapped[first], swapped[second] = second, first
        near.add(tuple(swapped))
    for shown in found:
        assert sorted(shown) == right and shown not in near


def test_three_sentences_have_two_scrambles_and_no_more() -> None:
    assert set(scrambles(3, 0, 2)) == {(1, 2, 0), (2, 0, 1)}
    with pytest.raises(ConfigError, match="at most 2"):
        scrambles(3, 0, 3)


def test_several_exercises_of_one_text_have_one_solution_and_one_rival(unsure: Unsure) -> None:
    exercises = make_exercises(unsure, ["s1", "s2", "s3", "s4", "s5"], count=4)
    assert len({exercise.items for exercise in exercises}) == 4
    assert {exercise.paragraph for exercise in exercises} == {("s1", "s2", "s3", "s4", "s5")}
    rivals = {tuple(exercise.items[item] for item in exercise.rival.order) for exercise in exercises if exercise.rival}
    assert rivals == {("s2", "s1", "s3", "s4", "s5")}


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_lead_lies_between_nothing_and_all(own: float, other: float) -> None:
    ordering = Ordering("", (0, 1), own, own, (), (), (Candidate((0, 1), own), Candidate((1, 0), other)))
    leading = lead(ordering, (0, 1))
    assert 0 <= leading <= 1
    assert (leading > 0) == (own > other) or math.isclose(own, other)


def test_longer_and_closer_is_harder() -> None:
    assert [difficulty_of(0.95, 4), difficulty_of(0.7, 6), difficulty_of(0.45, 9)] == ["easy", "medium", "hard"]


def test_labels_go_on_after_z() -> None:
    assert [label(item) for item in (0, 25, 26, 27, 701, 702)] == ["A", "Z", "AA", "AB", "ZZ", "AAA"]
