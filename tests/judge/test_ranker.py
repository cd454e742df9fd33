"""Ordering with a judge of pairs: calls counted and bounded, answers checked, input order unseen."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unshuffle.errors import ConfigError, DataError
from unshuffle.judge.contracts import Trust
from unshuffle.judge.merging import Questions
from unshuffle.judge.ranker import PairRanker
from unshuffle.metrics import tau
from unshuffle.rank import Constraints


def numbered(count: int) -> list[str]:
    return [f"Sentence {number:03}." for number in range(count)]


class Judge:
    """Knows the alphabet, and remembers what it was asked."""

    def __init__(self, sure: float = 0.9) -> None:
        self.sure = sure
        self.asked: list[tuple[str, str]] = []

    def __call__(self, first: str, second: str) -> float:
        self.asked.append((first, second))
        return self.sure if first < second else 1 - self.sure


def test_a_judge_that_knows_finds_the_order_and_calls_are_counted() -> None:
    judge, sentences = Judge(), numbered(6)[::-1]
    ranking = PairRanker(judge).order(sentences)
    assert ranking.order == (5, 4, 3, 2, 1, 0)
    assert ranking.calls == len(judge.asked) == 15


def test_asking_both_ways_takes_two_calls_a_pair_and_undoes_a_bias() -> None:
    def biased(first: str, second: str) -> float:
        return 0.9 if first < second else 0.6  # always says that the first text comes first

    sentences = numbered(5)[::-1]
    ranking = PairRanker(biased, two_sided=True).order(sentences)
    assert ranking.calls == 20
    assert ranking.order == (4, 3, 2, 1, 0)
    assert ranking.probability[4, 0] == pytest.approx((0.9 + 1 - 0.6) / 2)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 9), st.integers(0, 60), st.booleans(), st.integers(0, 2**32 - 1))
def test_the_budget_is_never_exceeded(count: int, budget: int, two_sided: bool, seed: int) -> None:
    judge = Judge()
    sentences = [numbered(count)[at] for at in np.random.default_rng(seed).permutation(count)]
    ranking = PairRanker(judge, budget, two_sided=two_sided).order(sentences)
    assert ranking.calls == len(judge.asked) <= budget
    assert sorted(ranking.order) == list(range(count))
    every_pair = count * (count - 1) // 2 * (2 if two_sided else 1)
    assert ranking.calls >= min(budget, every_pair) - 1  # one call may be left that half a two-sided question needs


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_a_merge_sort_s_worth_of_calls_is_enough_for_a_judge_that_knows(count: int, seed: int) -> None:
    sentences = [numbered(count)[at] for at in np.random.default_rng(seed).permutation(count)]
    ranking = PairRanker(Judge(), count * math.ceil(math.log2(count))).order(sentences)
    assert [sentences[at] for at in ranking.order] == numbered(count)


def test_more_calls_give_better_orders_from_a_doubtful_judge() -> None:
    generator = np.random.default_rng(0)
    mean: dict[int, float] = {}
    for budget in (5, 33, 66):
        values = []
        for _ in range(60):
            truth = {name: at for at, name in enumerate(numbered(12))}
            noise = {(a, b): generator.normal(0, 2.5) for a in truth for b in truth if a < b}

            def judge(
                first: str, second: str, truth: dict[str, int] = truth, noise: dict[tuple[str, str], float] = noise
            ) -> float:
                low, high = sorted((first, second))
                chance = 1 / (1 + math.exp(-(truth[high] - truth[low] + noise[low, high])))
                return chance if first == low else 1 - chance

            sentences = [numbered(12)[at] for at in generator.permutation(12)]
            order = PairRanker(judge, budget).order(sentences).order
            values.append(tau([truth[sentences[at]] for at in order], range(12)))
        mean[budget] = float(np.mean(values))
    assert mean[5] < mean[33] < mean[66]


@pytest.mark.parametrize("budget", [None, 0, 4, 12])
def test_shuffling_the_sentences_changes_neither_order_nor_questions(budget: int | None) -> None:
    generator = np.random.default_rng(0)
    sentences = numbered(7)
    answers = {frozenset((a, b)): generator.random() for a in sentences for b in sentences if a < b}

    def judge_of(asked: list[tuple[str, str]]) -> Callable[[str, str], float]:
        def judge(first: str, second: str) -> float:
            asked.append((first, second))
            chance = answers[frozenset((first, second))]
            return chance if first < second else 1 - chance

        return judge

    results = []
    for _ in range(5):
        shuffled = [sentences[at] for at in generator.permutation(7)]
        asked: list[tuple[str, str]] = []
        order = PairRanker(judge_of(asked), budget).order(shuffled).order
        results.append(([shuffled[at] for at in order], asked))
    assert all(result == results[0] for result in results)


def test_an_undecided_judge_s_order_says_nothing_about_input_order() -> None:
    generator = np.random.default_rng(0)
    values = []
    for document in range(300):
        sentences = [f"{document} {generator.integers(10**9)}" for _ in range(6)]
        values.append(tau(PairRanker(lambda first, second: 0.5, 8).order(sentences).order, range(6)))
    assert abs(np.mean(values)) < 0.08  # the standard error is 0.02


def test_the_same_question_is_asked_once() -> None:
    judge = Judge()
    ranker = PairRanker(judge, two_sided=True)
    first = ranker.order(numbered(4))
    second = ranker.order(numbered(5)[::-1])
    assert (first.calls, second.calls) == (12, 8)
    assert len(judge.asked) == len(set(judge.asked)) == 20


def test_copies_of_a_sentence_are_never_compared_and_cost_nothing() -> None:
    judge = Judge()
    ranking = PairRanker(judge, 1).order(["b", "a", "b", "a"])
    assert ranking.calls == 1
    assert set(ranking.order[:2]) == {1, 3}


def test_only_so_many_answers_are_remembered() -> None:
    judge = Judge()
    ranker = PairRanker(judge, remembered=2)
    ranker.order(numbered(4))
    ranker.order(numbered(4))
    assert 6 < len(judge.asked) <= 12
    assert ranker._comparing is not None and len(ranker._comparing.known) <= 2


def test_unasked_pairs_are_inferred_from_chains_unless_told_not_to() -> None:
    inferred = PairRanker(Judge(), 4).order(numbered(4)).probability
    plain = PairRanker(Judge(), 4, infer=False).order(numbered(4)).probability
    assert (plain == 0.5).sum() > (inferred == 0.5).sum()
    np.testing.assert_allclose(inferred + inferred.T, 1)


def test_a_chain_of_answers_is_as_sure_as_its_weakest_link() -> None:
    answers: dict[tuple[int, int], float] = {(0, 1): 0.9, (1, 2): 0.7}
    questions = Questions(3, lambda pairs: [answers[pair] for pair in pairs])
    questions.ask([*answers])
    assert questions.inferred()[0, 2] == pytest.approx(0.7)
    assert questions.inferred()[2, 0] == pytest.approx(0.3)
    assert questions.probability[0, 2] == 0.5


@pytest.mark.parametrize("answer", [float("nan"), -0.1, 1.1, None, "yes"])
def test_what_is_no_probability_is_refused_with_both_sentences(answer: object) -> None:
    with pytest.raises(DataError, match=r"compare: it gave .*'a' before 'b'"):
        PairRanker(lambda first, second: answer).order(["b", "a"])  # type: ignore[arg-type,return-value]


def test_constraints_hold_against_the_judge() -> None:
    ranking = PairRanker(Judge()).order(numbered(4), constraints=Constraints(before=((3, 0),)))
    assert ranking.order.index(3) < ranking.order.index(0)


def test_a_budget_below_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="budget"):
        PairRanker(Judge(), -1)


def test_no_sentence_and_one_sentence_need_no_call() -> None:
    assert PairRanker(Judge()).order([]).order == ()
    assert PairRanker(Judge()).order(["Alone."]).calls == 0


class Seeing:
    """Sees the whole text, and remembers how it was asked."""

    def __init__(self, failing: bool = False) -> None:
        self.calls: list[int] = []
        self.failing = failing

    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        self.calls.append(len(pairs))
        if self.failing:
            raise OSError("gone")
        ends = {numbered(6)[0], numbered(6)[5]}
        return [
            None if {sentences[first], sentences[second]} == ends else float(sentences[first] < sentences[second])
            for first, second in pairs
        ]


def test_a_judge_that_sees_the_whole_text_is_asked_in_one_go_where_it_may_be() -> None:
    judge = Seeing()
    found = PairRanker(judge=judge).order(numbered(6)[::-1])
    assert judge.calls == [15] and found.calls == 15
    assert found.order == (5, 4, 3, 2, 1, 0)  # the pair without an answer follows from the others
    assert 0.5 < found.confidence < 0.9  # an answer counts as sure as the judge is reliable


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 9), st.integers(0, 40), st.booleans())
def test_a_judge_s_budget_is_never_exceeded(count: int, budget: int, failing: bool) -> None:
    judge = Seeing(failing)
    found = PairRanker(judge=judge, budget=budget).order(numbered(count))
    assert found.calls == sum(judge.calls) <= budget
    assert sorted(found.order) == list(range(count))
    assert bool(found.failed) == (failing and bool(judge.calls)) and len(judge.calls) <= (1 if failing else 40)


def test_confidence_is_one_half_where_nothing_is_known_and_one_for_a_single_sentence() -> None:
    assert PairRanker(Judge(), 0).order(numbered(4)).confidence == 0.5
    assert PairRanker(Judge()).order(["Alone."]).confidence == 1.0
    assert PairRanker(Judge(0.9)).order(numbered(4)).confidence == pytest.approx(0.9)


def test_many_documents_come_in_turn_as_each_alone() -> None:
    documents = [numbered(count % 5) for count in range(300)]
    ranker = PairRanker(Judge(), at_once=4)
    assert [one.order for one in ranker.order_many(iter(documents))] == [ranker.order(one).order for one in documents]


def test_an_async_judge_is_awaited_on_the_caller_s_loop() -> None:
    loops = set()

    async def compare(first: str, second: str) -> float:
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return 0.9 if first < second else 0.1

    async def several() -> list[tuple[int, ...]]:
        ranker = PairRanker(compare)
        found = await asyncio.gather(*(ranker.order_async(numbered(4)[::-1]) for _ in range(3)))
        return [one.order for one in found]

    assert asyncio.run(several()) == [(3, 2, 1, 0)] * 3
    assert len(loops) == 1
    assert PairRanker(compare).order(numbered(3)).order == (0, 1, 2)


def test_a_ranker_needs_one_judge() -> None:
    for wrong in ({}, {"compare": Judge(), "judge": Seeing()}):
        with pytest.raises(ConfigError, match="either compare or judge"):
            PairRanker(**wrong)


def test_a_judge_that_is_not_trusted_is_not_asked() -> None:
    judge = Seeing()
    judge.trust = Trust(reliability=0.5)  # type: ignore[attr-defined]
    found = PairRanker(judge=judge).order(numbered(4))
    assert judge.calls == [] and found.calls == 0 and found.confidence == 0.5


@pytest.mark.parametrize("budget", [1, 2, None])
def test_calls_are_counted_and_bounded_however_little_is_remembered(budget: int | None) -> None:
    judge = Judge()
    ranker = PairRanker(judge, budget, two_sided=True, remembered=1)
    for _ in range(4):
        judge.asked.clear()
        found = ranker.order(numbered(3))
        assert found.calls == len(judge.asked) <= (6 if budget is None else budget)


def test_half_a_question_that_is_remembered_is_not_asked_again() -> None:
    judge = Judge()
    ranker = PairRanker(judge, 1, two_sided=True, remembered=1)
    assert ranker._comparing is not None
    ranker._comparing.known["b", "a"] = 0.1
    assert ranker.order(["a", "b"]).calls == 1 and judge.asked == [("a", "b")]


def test_threads_that_share_what_is_remembered_do_not_disturb_each_other() -> None:
    ranker = PairRanker(Judge(), two_sided=True, remembered=2, at_once=8)
    found = list(ranker.order_many([numbered(6)[::-1]] * 200))
    assert {one.order for one in found} == {(5, 4, 3, 2, 1, 0)}
    assert ranker._comparing is not None and len(ranker._comparing.known) <= 2
