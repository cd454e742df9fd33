"""Algorithm 1 of the paper with any judge: sure pairs settle, a judge is asked about the others, most useful first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from unshuffle.judge.contracts import Judge, Trust, chance_of, odds_of, put, trust_in
from unshuffle.judge.usefulness import MOST_PAIRS, Orders, gains
from unshuffle.rank.arrange import text_keys
from unshuffle.rank.best import rank
from unshuffle.rank.constraints import Constraints
from unshuffle.rank.ranking import BoolArray, FloatArray, IntArray
from unshuffle.rank.topological import widest_paths
from unshuffle.result import Question, Spend

CERTAIN = 30.0
"""Log-odds of a pair that a constraint decides."""
AT_ONCE = 4
"""Questions on one document that are asked together, before their answers decide what to ask next."""
LEAST_GAIN = 1e-4
"""Pairs that a question must be expected to put right."""


@dataclass(frozen=True, slots=True, eq=False)
class Refinement:
    """What became of a document's pairs."""

    order: tuple[int, ...]
    """Input indices in reading order, by all that is known."""
    unanswered: tuple[int, ...]
    """The same by the model's own chances alone."""
    copies: IntArray  # (sentences,) equal where sentences may stand for each other
    chance: FloatArray  # (sentences, sentences) that the row's sentence comes before the column's
    answered: FloatArray  # (sentences, sentences) the same by the judge's answers alone; 0.5 where it knows nothing
    questions: tuple[Question, ...]
    spend: Spend
    failed: str

    @property
    def told(self) -> bool:
        """Whether the answers say anything: even odds, and a judge that counts for nothing, say as much as silence."""
        return bool((self.answered != 0.5).any())


def refine(
    sentences: Sequence[str],
    chance: FloatArray,
    judge: Judge,
    *,
    questions: int,
    constraints: Constraints | None = None,
    trust: Trust | None = None,
) -> Refinement:
    """Asks at most `questions` questions; `chance`: (sentences, sentences) the model's own, row before column."""
    asking = Asking(sentences, chance, trust or trust_in(judge), constraints)
    while len(asking.asked) < questions and not asking.stopped:
        pairs = asking.next_questions(min(AT_ONCE, questions - len(asking.asked)))
        if not pairs:
            break
        asking.ask(judge, pairs)
    return asking.finished(constraints)


class Asking:
    """One document's questions and answers, its sentences numbered by content so that shuffling changes nothing."""

    def __init__(
        self, sentences: Sequence[str], chance: FloatArray, trust: Trust, constraints: Constraints | None
    ) -> None:
        keys = text_keys(sentences)
        self.labels: IntArray = np.argsort(keys, kind="stable")
        self.texts = [sentences[number] for number in self.labels]
        self.copies: IntArray = np.array([self.texts.index(text) for text in self.texts], np.intp)
        self.trust = trust
        self.asked: dict[tuple[int, int], float | None] = {}
        self.spend, self.failed, self.stopped = Spend(), "", False
        size = len(self.texts)
        self._keys = keys
        self._chance = chance[np.ix_(self.labels, self.labels)]
        self._model = trust.model_weight * odds_of(self._chance)
        np.fill_diagonal(self._model, 0.0)
        self._answers: FloatArray = np.zeros((size, size))
        self._known: BoolArray = self.copies[:, None] == self.copies  # which would be no question, or was one
        self._settled = _decided(constraints, self.labels)
        seed = int.from_bytes(blake2b(np.sort(keys).tobytes(), digest_size=8).digest(), "big")
        self._orders = Orders(np.argsort(-self._odds().sum(1), kind="stable"), seed)

    def next_questions(self, most: int) -> list[tuple[int, int]]:
        """The pairs whose answers are expected to put most right, no sentence in two of them."""
        if not self.trust.used or len(self.texts) < 2:
            return []
        odds = self._odds()
        first, second = np.triu_indices(len(self.texts), 1)
        left = np.flatnonzero(~((self._settled != 0) | self._known)[first, second])
        if len(left) > MOST_PAIRS:
            left = left[np.argsort(np.abs(odds[first, second][left]), kind="stable")[:MOST_PAIRS]]
        self._orders.draw(odds)
        before = self._orders.before(first[left], second[left])
        share = before.mean(0)
        open_pairs = np.maximum(share, 1 - share) <= self.trust.sure
        left, before = left[open_pairs], before[:, open_pairs]
        if not len(left):
            return []
        gain = gains(before, self.trust.reliability)
        chosen: list[tuple[int, int]] = []
        taken: set[int] = set()
        for at in np.argsort(-gain, kind="stable"):
            pair = int(first[left[at]]), int(second[left[at]])
            texts = {int(self.copies[number]) for number in pair}
            if len(chosen) < most and gain[at] >= LEAST_GAIN and not taken & texts:
                chosen.append(pair)
                taken |= texts
        return chosen

    def ask(self, judge: Judge, pairs: Sequence[tuple[int, int]]) -> None:
        """Puts the questions, whose answers hold for copies too.

        A judge that gives no answer at all is not asked again, and what it has said stays.
        """
        answers = put(judge, self.texts, pairs)
        self.spend, self.failed = self.spend + answers.spend, answers.failed or self.failed
        self.stopped = answers.stopped
        for (first, second), answer in zip(pairs, answers, strict=True):
            self.asked[first, second] = answer
            odds = 0.0 if answer is None else self.trust.log_odds(answer)
            one, other = (self.copies == self.copies[number] for number in (first, second))
            self._known |= np.outer(one, other) | np.outer(other, one)
            self._answers[np.ix_(one, other)], self._answers[np.ix_(other, one)] = odds, -odds

    def finished(self, constraints: Constraints | None) -> Refinement:
        """The best order by the model's and the judge's log-odds, chains of answers included."""
        answers = self._inferred()
        back = np.argsort(self.labels)
        whole, own = (chance[np.ix_(back, back)] for chance in (chance_of(self._odds(answers)), self._chance))
        order, unanswered = (
            rank(chance, "kemeny", constraints=constraints, tie_key=self._keys).order for chance in (whole, own)
        )
        return Refinement(
            order=order,
            unanswered=unanswered,
            copies=self.copies[back] if constraints is None else np.arange(len(back)),  # rules tell copies apart
            chance=whole,
            answered=chance_of(answers)[np.ix_(back, back)],
            questions=tuple(
                self._question(pair, float(self._chance[pair]), answer) for pair, answer in self.asked.items()
            ),
            spend=self.spend,
            failed=self.failed,
        )

    def _odds(self, answers: FloatArray | None = None) -> FloatArray:
        known = self._model + (self._answers if answers is None else answers)
        return np.where(self._settled != 0, CERTAIN * self._settled, known)

    def _inferred(self) -> FloatArray:
        """The answers' log-odds; those of pairs not asked from chains, each as strong as its weakest answer."""
        chain = widest_paths(np.maximum(self._answers, 0.0))
        return np.where(self._known, self._answers, chain - chain.T)

    def _question(self, pair: tuple[int, int], before: float, answer: float | None) -> Question:
        """In input indices, the lower one first, as everywhere in a result."""
        first, second = (int(self.labels[number]) for number in pair)
        if first < second:
            return Question(first, second, before, answer)
        return Question(second, first, 1 - before, None if answer is None else 1 - answer)


def _decided(constraints: Constraints | None, labels: IntArray) -> FloatArray:
    """1 where the constraints put the row's sentence before the column's, -1 where after, else 0."""
    size = len(labels)
    if constraints is None:
        return np.zeros((size, size))
    rules = constraints.rules(size).relabelled(labels)
    first = rules.decided
    return first.astype(np.float64) - first.T
