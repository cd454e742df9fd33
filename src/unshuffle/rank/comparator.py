"""Ordering with any judge of two sentences, such as a language model, and no more calls than allowed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from unshuffle.errors import ConfigError, DataError
from unshuffle.rank.best import Method, rank
from unshuffle.rank.constraints import Constraints
from unshuffle.rank.questions import Questions
from unshuffle.rank.ranking import FloatArray, Ranking
from unshuffle.rank.ties import text_keys

Compare = Callable[[str, str], float]


@dataclass(frozen=True, slots=True)
class ComparedRanking(Ranking):
    """A ranking and the number of calls it took."""

    calls: int
    """How often the judge was asked; answers remembered from before are not counted."""
    probability: FloatArray = field(compare=False, repr=False)
    """(sentences, sentences) what was answered or inferred; 0.5 where nothing is known."""


class PairRanker:
    """Orders sentences by a callable that gives the probability that its first text comes before its second."""

    def __init__(
        self,
        compare: Compare,
        budget: int | None = None,
        method: Method = "kemeny",
        *,
        two_sided: bool = False,
        infer: bool = True,
        remembered: int = 100_000,
    ) -> None:
        """`budget` is the number of calls per document (None: all pairs); `two_sided` asks about each pair twice.

        `infer` fills in pairs that were not asked from chains of answers; at most `remembered` answers are kept.
        """
        if budget is not None and budget < 0:
            raise ConfigError(f"budget: it is {budget}. Give 0 or more calls, or None for all pairs.")
        self.compare = compare
        self.budget = budget
        self.method: Method = method
        self.two_sided = two_sided
        self.infer = infer
        self.remembered = remembered
        self._answers: dict[tuple[str, str], float] = {}

    def order(self, sentences: Sequence[str], *, constraints: Constraints | None = None) -> ComparedRanking:
        """The best order given the answers that the budget allows."""
        keys = text_keys(sentences)
        labels = np.argsort(keys, kind="stable")  # asked in the order of content, so that shuffling changes nothing
        texts = [sentences[at] for at in labels]
        asking = _Asking(self, texts)
        questions = Questions(len(texts), asking.pair)
        if asking.affordable():
            questions.ask_all()
        else:
            questions.ask_by_merging()
            questions.ask_neighbours()
        known = questions.inferred() if self.infer else questions.probability
        probability = np.empty_like(known)
        probability[np.ix_(labels, labels)] = known
        ranking = rank(probability, self.method, constraints=constraints, tie_key=keys)
        return ComparedRanking(ranking.order, ranking.score, asking.calls, probability)

    def known(self, first: str, second: str) -> float | None:
        """A remembered answer."""
        return self._answers.get((first, second))

    def ask(self, first: str, second: str) -> float:
        """Asks the judge, checks its answer and remembers it."""
        given = self.compare(first, second)
        try:
            answer = float(given)
        except (TypeError, ValueError):
            answer = math.nan
        if not 0 <= answer <= 1:  # also refuses nan
            raise DataError(
                f"compare: it gave {given!r} for '{first[:40]}' before '{second[:40]}'. Return a number from 0 to 1."
            )
        while len(self._answers) >= max(self.remembered, 1):
            del self._answers[next(iter(self._answers))]  # the oldest
        self._answers[first, second] = answer
        return answer


class _Asking:
    """Answers for one document, counted against the budget."""

    def __init__(self, ranker: PairRanker, texts: Sequence[str]) -> None:
        self.ranker = ranker
        self.texts = texts
        self.calls = 0

    def affordable(self) -> bool:
        """Whether the budget covers every pair that is not remembered yet."""
        if self.ranker.budget is None:
            return True
        distinct = sorted(set(self.texts))
        open_questions = {
            question
            for at, first in enumerate(distinct)
            for second in distinct[at + 1 :]
            for question in self._questions(first, second)
            if self.ranker.known(*question) is None
        }
        return len(open_questions) <= self.ranker.budget

    def pair(self, first: int, second: int) -> float | None:
        """The chance that one sentence comes before another, or None once the budget is spent."""
        one, other = self.texts[first], self.texts[second]
        if one == other:
            return 0.5
        questions = self._questions(one, other)
        remembered = [self.ranker.known(*question) for question in questions]
        missing = remembered.count(None)
        if self.ranker.budget is not None and self.calls + missing > self.ranker.budget:
            return None
        self.calls += missing
        answers = [
            self.ranker.ask(*question) if answer is None else answer
            for question, answer in zip(questions, remembered, strict=True)
        ]
        chance = 0.5 + 0.5 * (answers[0] - answers[1]) if self.ranker.two_sided else answers[0]
        return chance if questions[0] == (one, other) else 1 - chance

    def _questions(self, one: str, other: str) -> list[tuple[str, str]]:
        """What has to be asked about two texts; one way round, that way must not depend on the input's order."""
        low, high = sorted((one, other))
        return [(low, high), (high, low)] if self.ranker.two_sided else [(low, high)]
