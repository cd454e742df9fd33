"""Exercises whose solution is unambiguous, or what to change."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.serve.fake import EXAMPLES, FakeOrderer
from unshuffle.errors import DataError
from unshuffle.exercises.make import difficulty_of, lead, make_exercise, scramble
from unshuffle.exercises.sheet import answer, label, sheet_html, sheet_text
from unshuffle.result import Candidate, Ordering
from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document

STORY: list[str] = EXAMPLES[0]["sentences"]
CLEAR = [f"Sentence {number}." for number in range(1, 6)]


class Unsure:
    """Finds the right order of "s1", "s2", ... but only of four items or fewer is it sure."""

    def order_many(
        self, documents: Iterable[Document | Sequence[str]], options: OrderOptions | None = None
    ) -> Iterator[Ordering]:
        for document in documents:
            sentences = document.sentences if isinstance(document, Document) else tuple(document)
            best = tuple(sorted(range(len(sentences)), key=lambda place: sentences[place]))
            other = (best[1], best[0], *best[2:])
            first, second = (0.9, 0.05) if len(sentences) <= 4 else (0.4, 0.38)
            yield Ordering("", best, first, first, (), (), (Candidate(best, first), Candidate(other, second)))


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


def test_where_another_order_is_near_changes_are_proposed() -> None:
    exercise = make_exercise(Unsure(), ["s1", "s2", "s3", "s4", "s5"])
    assert not exercise.unambiguous
    assert exercise.reason == "another order reads almost as well"
    assert [proposal.solves for proposal in exercise.proposals] == [True] * 3
    assert exercise.proposals[0].change == "merge"
    assert exercise.proposals[0].result == ("s1 s2", "s3", "s4", "s5")


def test_mending_changes_until_the_order_is_unambiguous() -> None:
    exercise = make_exercise(Unsure(), ["s1", "s2", "s3", "s4", "s5", "s6"], mend=True)
    assert exercise.unambiguous
    assert len(exercise.items) == 4
    assert len(exercise.changes) == 2


def test_what_cannot_be_mended_stays_as_it_was() -> None:
    exercise = make_exercise(FakeOrderer(), CLEAR[::-1], mend=True)
    assert not exercise.unambiguous and exercise.paragraph == tuple(CLEAR[::-1])
    assert not exercise.changes and not exercise.proposals  # nothing of it helps


def test_two_sentences_are_no_exercise() -> None:
    with pytest.raises(DataError, match="too few"):
        make_exercise(FakeOrderer(), ["a", "b"])


@given(st.integers(3, 12), st.integers(0, 1000))
def test_a_scramble_holds_every_item_and_is_not_the_solution(size: int, seed: int) -> None:
    shown = scramble(size, seed)
    assert sorted(shown) == list(range(size))
    assert shown != tuple(range(size))
    assert shown == scramble(size, seed)


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


def test_sheets_have_items_and_a_key_on_another_page() -> None:
    exercise = make_exercise(FakeOrderer(), [*STORY[:-1], "And <b>1 & 2</b> 9."])
    text = sheet_text(exercise)
    page, key = text.split("\f")
    assert all(item in page for item in exercise.items)
    assert answer(exercise) in key
    assert answer(exercise) not in page
    html = sheet_html(exercise, title="<x>")
    assert "&lt;b&gt;1 &amp; 2&lt;/b&gt;" in html
    assert "<b>1 " not in html
    assert "break-before: page" in html
    assert json.loads(json.dumps(exercise.to_json()))["solution"] == list(exercise.solution)
