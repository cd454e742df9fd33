"""Ordering with a judge alone, such as a language model, and no more questions than allowed."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import Any, cast

import numpy as np

from unshuffle.errors import ConfigError, DataError
from unshuffle.judge.contracts import Judge, check_judge, put, trust_in
from unshuffle.judge.merging import Questions
from unshuffle.rank.arrange import text_keys
from unshuffle.rank.best import Method, rank
from unshuffle.rank.constraints import Constraints
from unshuffle.rank.ranking import FloatArray, Ranking
from unshuffle.result import Spend

Compare = Callable[[str, str], float | Awaitable[float]]
WINDOW = 256
"""Documents of a batch that are held at a time."""


@dataclass(frozen=True, slots=True)
class ComparedRanking(Ranking):
    """A ranking, how sure it is, and what it took."""

    calls: int
    """How often the judge was asked; answers remembered from before are not counted."""
    probability: FloatArray = field(compare=False, repr=False)
    """(sentences, sentences) what was answered or inferred; 0.5 where nothing is known."""
    spend: Spend = field(default_factory=Spend)
    """What the calls cost, where the judge tells."""
    failed: str = ""
    """Why the judge, or some of the requests to it, failed; empty where nothing did."""

    @property
    def confidence(self) -> float:
        """Expected share of pairs in their right order, as far as the judge's chances can be believed."""
        first, second = np.triu_indices(len(self.order), 1)
        at = np.asarray(self.order, dtype=np.intp)
        return float(self.probability[at[first], at[second]].mean()) if len(first) else 1.0


class PairRanker:
    """Orders sentences by a judge of pairs, without a model."""

    def __init__(
        self,
        compare: Compare | None = None,
        budget: int | None = None,
        method: Method = "kemeny",
        *,
        judge: Judge | None = None,
        two_sided: bool = False,
        infer: bool = True,
        remembered: int = 100_000,
        at_once: int = 1,
    ) -> None:
        """Give either `compare`, which takes two texts (it may be async), or a `judge`, which sees the whole text.

        `compare` gives the probability that its first text comes before its second. `budget` is the number of calls
        per document (None: all pairs); a judge's call is a pair. `two_sided` compares each pair both ways round, in two
        calls. `infer` fills in pairs that were not asked from chains of answers; at most `remembered` comparisons are
        kept. `at_once`: documents of `order_many` that are asked about at the same time.
        """
        if (compare is None) == (judge is None):
            raise ConfigError("PairRanker: give either compare or judge.")
        if judge is not None:
            check_judge(judge, "PairRanker")
        if budget is not None and budget < 0:
            raise ConfigError(f"budget: it is {budget}. Give 0 or more calls, or None for all pairs.")
        if at_once < 1:
            raise ConfigError(f"at_once: it is {at_once}. Give 1 or more.")
        self.judge = judge
        self.budget = budget
        self.method: Method = method
        self.infer = infer
        self.at_once = at_once
        self._comparing = None if compare is None else _Comparing(compare, two_sided, remembered)

    def order(self, sentences: Sequence[str], *, constraints: Constraints | None = None) -> ComparedRanking:
        """The best order given the answers that the budget allows."""
        return self._order(sentences, constraints, None)

    async def order_async(self, sentences: Sequence[str], *, constraints: Constraints | None = None) -> ComparedRanking:
        """The same without holding up the event loop, on which an async `compare` is run."""
        return await asyncio.to_thread(self._order, sentences, constraints, asyncio.get_running_loop())

    def order_many(self, documents: Iterable[Sequence[str]]) -> Iterator[ComparedRanking]:
        """Each document's order, in turn; `at_once` of them are asked about at the same time."""
        left = iter(documents)
        while window := list(islice(left, WINDOW)):
            pool = ThreadPoolExecutor(self.at_once, thread_name_prefix="judge")
            try:
                yield from pool.map(self.order, window)
            finally:
                pool.shutdown(cancel_futures=True)

    def _order(
        self, sentences: Sequence[str], constraints: Constraints | None, loop: asyncio.AbstractEventLoop | None
    ) -> ComparedRanking:
        keys = text_keys(sentences)
        labels = np.argsort(keys, kind="stable")  # asked in the order of content, so that shuffling changes nothing
        texts = [sentences[at] for at in labels]
        asking: _Asking = (
            _AskingJudge(texts, self.budget, cast(Judge, self.judge))
            if self._comparing is None
            else _AskingFunction(texts, self.budget, self._comparing, loop)
        )
        questions = Questions(len(texts), asking.answers)
        if asking.affordable():
            questions.ask_all()
        else:
            questions.ask_by_merging()
            questions.ask_neighbours()
        known = questions.inferred() if self.infer else questions.probability
        probability = np.empty_like(known)
        probability[np.ix_(labels, labels)] = known
        ranking = rank(probability, self.method, constraints=constraints, tie_key=keys)
        return ComparedRanking(
            ranking.order, ranking.score, asking.calls, probability, spend=asking.spend, failed=asking.failed
        )


class _Asking:
    """Answers for one document, counted against the budget."""

    def __init__(self, texts: Sequence[str], budget: int | None) -> None:
        self.texts, self.budget = texts, budget
        self.calls, self.spend, self.failed = 0, Spend(), ""

    def affordable(self) -> bool:
        """Whether the budget covers every pair."""
        raise NotImplementedError

    def answers(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        """As many as the budget allows."""
        raise NotImplementedError

    def left(self) -> float:
        """Calls that are left."""
        return math.inf if self.budget is None else self.budget - self.calls


class _AskingJudge(_Asking):
    """A judge that sees the whole text; a pair is a call."""

    def __init__(self, texts: Sequence[str], budget: int | None, judge: Judge) -> None:
        super().__init__(texts, budget)
        self._judge, self._trust = judge, trust_in(judge)
        self._stopped = not self._trust.used

    def affordable(self) -> bool:
        return self._price(
            [(one, two) for one in range(len(self.texts)) for two in range(one + 1, len(self.texts))]
        ) <= (self.left())

    def answers(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        chosen = list(pairs)
        while chosen and self._price(chosen) > self.left():
            chosen.pop()
        asked = [pair for pair in chosen if self.texts[pair[0]] != self.texts[pair[1]]]
        if self._stopped:
            return []
        given = put(self._judge, self.texts, asked)
        self.calls += len(asked)
        self.spend, self.failed = self.spend + given.spend, given.failed or self.failed
        self._stopped = given.stopped
        found = {
            pair: 0.5 if answer is None else 1 / (1 + math.exp(-self._trust.log_odds(answer)))
            for pair, answer in zip(asked, given, strict=True)
        }
        return [found.get(pair, 0.5) for pair in chosen]

    def _price(self, pairs: Sequence[tuple[int, int]]) -> int:
        return sum(self.texts[one] != self.texts[other] for one, other in pairs)


class _AskingFunction(_Asking):
    """A function of two texts, whose answers are remembered."""

    def __init__(
        self, texts: Sequence[str], budget: int | None, comparing: _Comparing, loop: asyncio.AbstractEventLoop | None
    ) -> None:
        super().__init__(texts, budget)
        self._comparing, self._loop = comparing, loop

    def affordable(self) -> bool:
        distinct = sorted(set(self.texts))
        pairs = ((one, other) for at, one in enumerate(distinct) for other in distinct[at + 1 :])
        known = (answer for pair in pairs for answer in self._comparing.recalled(*pair).values())
        return sum(answer is None for answer in known) <= self.left()

    def answers(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        found: list[float] = []
        for first, second in pairs:
            one, other = self.texts[first], self.texts[second]
            known = self._comparing.recalled(one, other)
            missing = [question for question, answer in known.items() if answer is None]
            if len(missing) > self.left():
                break
            self.calls += len(missing)
            answers = {question: self._comparing.ask(question, self._loop) for question in missing}
            found.append(self._comparing.chance(one, other, known | answers))
        return found


class _Comparing:
    """A user's function with the answers that it has given; threads may share it."""

    def __init__(self, compare: Compare, two_sided: bool, remembered: int) -> None:
        self.compare, self.two_sided, self.remembered = compare, two_sided, remembered
        self.known: dict[tuple[str, str], float] = {}
        self._lock = Lock()

    def recalled(self, one: str, other: str) -> dict[tuple[str, str], float | None]:
        """What has to be asked about two texts, with the answers that are remembered."""
        with self._lock:
            return {question: self.known.get(question) for question in self._questions(one, other)}

    def chance(self, one: str, other: str, answered: Mapping[tuple[str, str], float | None]) -> float:
        """That one comes before the other."""
        if one == other:
            return 0.5
        questions = self._questions(one, other)
        answers = [cast(float, answered[question]) for question in questions]
        chance = 0.5 + 0.5 * (answers[0] - answers[1]) if self.two_sided else answers[0]
        return chance if questions[0] == (one, other) else 1 - chance

    def ask(self, question: tuple[str, str], loop: asyncio.AbstractEventLoop | None) -> float:
        """Asks, checks the answer and remembers it."""
        given: Any = self.compare(*question)
        if inspect.isawaitable(given):
            given = asyncio.run(_awaited(given)) if loop is None else _on(loop, given)
        try:
            answer = float(given)
        except (TypeError, ValueError):
            answer = math.nan
        if not 0 <= answer <= 1:  # also refuses nan
            first, second = (text[:40] for text in question)
            raise DataError(f"compare: it gave {given!r} for '{first}' before '{second}'. Return a number from 0 to 1.")
        with self._lock:
            while len(self.known) >= max(self.remembered, 1):
                self.known.pop(next(iter(self.known)))  # the oldest
            self.known[question] = answer
        return answer

    def _questions(self, one: str, other: str) -> list[tuple[str, str]]:
        """What has to be asked about two texts; one way round, that way must not depend on the input's order."""
        if one == other:
            return []
        low, high = sorted((one, other))
        return [(low, high), (high, low)] if self.two_sided else [(low, high)]


async def _awaited(given: Awaitable[Any]) -> Any:
    return await given


def _on(loop: asyncio.AbstractEventLoop, given: Awaitable[Any]) -> Any:
    return asyncio.run_coroutine_threadsafe(_awaited(given), loop).result()
