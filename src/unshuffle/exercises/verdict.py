"""What the model thinks of a paragraph's order, whatever the arrangement in which it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Protocol

from unshuffle.exercises.exercise import Rival, label
from unshuffle.result import Candidate, Ordering
from unshuffle.search.copies import in_turn, interchangeable
from unshuffle.steps import Steps
from unshuffle.text.document import Document

WORDS = 1_000
"""Words that the model reads in one step, if one paragraph alone has not more."""


class OrdersMany(Protocol):
    """The part of `Orderer` that is needed here."""

    def order_many(self, documents: Iterable[Document | Sequence[str]]) -> Iterator[Ordering]:
        """The best order of each document."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """Orders and pairs count the sentences of the paragraph, which stands in its right order."""

    margin: float
    reason: str
    """Why the order is not unambiguous; empty where it is."""
    probability: float | None
    """Of the right order; None where it is not among the best that were found."""
    rival: Candidate | None
    turned: tuple[tuple[int, int, float], ...]
    """Pairs i < j that the rival has the other way round, with the chance that i comes before j; least first."""

    @property
    def unambiguous(self) -> bool:
        """Whether the right order leads far enough."""
        return not self.reason


def verdicts(
    orderer: OrdersMany, paragraphs: Sequence[Sequence[str]], shown: Sequence[int], margin: float
) -> Steps[list[Verdict]]:
    """Judges paragraphs of one length; the model reads them as `shown`, so it cannot lean on their order."""
    documents = [tuple(paragraph[position] for position in shown) for paragraph in paragraphs]
    longest = max((sum(len(text.split()) for text in document) for document in documents), default=1)
    together = max(1, WORDS // max(1, longest))
    found: list[Verdict] = []
    for start in range(0, len(documents), together):
        if start:
            yield
        some = slice(start, start + together)
        for paragraph, ordering in zip(paragraphs[some], orderer.order_many(documents[some]), strict=True):
            found.append(_verdict(ordering, paragraph, shown, margin))
    return found


def lead(ordering: Ordering, right: Sequence[int]) -> float:
    """How far the right order leads the best other one; 0 if it does not lead at all."""
    others = [candidate.probability for candidate in ordering.n_best if candidate.order != tuple(right)]
    own = next((candidate.probability for candidate in ordering.n_best if candidate.order == tuple(right)), 0.0)
    best_other = max(others, default=0.0)
    if own <= best_other:
        return 0.0
    return (own - best_other) / (own + best_other)


def rival_shown(verdict: Verdict, shown: Sequence[int]) -> Rival | None:
    """The rival in terms of the items of an arrangement."""
    if verdict.rival is None:
        return None
    item = {position: number for number, position in enumerate(shown)}
    order = tuple(item[position] for position in verdict.rival.order)
    sentences = [_likelihood(verdict, order), _difference(verdict, item), _doubt(verdict, item)]
    return Rival(order, verdict.rival.probability, " ".join(filter(None, sentences)))


def _verdict(ordering: Ordering, paragraph: Sequence[str], shown: Sequence[int], margin: float) -> Verdict:
    copies = interchangeable([paragraph[position] for position in shown])
    solution = in_turn([shown.index(position) for position in range(len(shown))], copies)
    leading = 0.0 if copies else lead(ordering, solution)
    reason = ""
    if copies:
        reason = "two sentences are the same"
    elif ordering.order != solution:
        reason = "the model prefers another order"
    elif leading < margin:
        reason = "another order reads almost as well"
    before = {(pair.first, pair.second): pair.probability for pair in ordering.pairs}
    before |= {(second, first): 1 - chance for (first, second), chance in before.items()}
    other = next((candidate for candidate in ordering.n_best if candidate.order != solution), None)
    rival = other and replace(other, order=tuple(solution.index(item) for item in other.order))
    turned = [
        (first, second, before[solution[first], solution[second]])
        for second, first in (combinations(rival.order, 2) if rival else ())
        if second > first and (solution[first], solution[second]) in before
    ]
    return Verdict(
        margin=leading,
        reason=reason,
        probability=next((one.probability for one in ordering.n_best if one.order == solution), None),
        rival=rival,
        turned=tuple(sorted(turned, key=lambda pair: pair[2])),
    )


def _likelihood(verdict: Verdict, order: Sequence[int]) -> str:
    assert verdict.rival is not None
    letters = " ".join(map(label, order))
    given = _percent(verdict.rival.probability)
    if verdict.probability is None:
        return f"The order {letters} is more likely to the model ({given}) than the right one."
    own = _percent(verdict.probability)
    if verdict.probability < verdict.rival.probability:
        return f"The order {letters} is more likely to the model ({given}) than the right one ({own})."
    return f"The next best order is {letters} ({given}, the right one {own})."


def _difference(verdict: Verdict, item: dict[int, int]) -> str:
    """What was done to 0, 1, 2, ... to make the rival's order."""
    assert verdict.rival is not None
    order = verdict.rival.order
    right = list(range(len(order)))
    for position in right:
        to = order.index(position)
        if [other for other in order if other != position] != [other for other in right if other != position]:
            continue
        if abs(to - position) == 1:
            first, second = sorted((position, to))
            return f"It swaps {label(item[first])} and {label(item[second])}."
        return f"It moves {label(item[position])} from position {position + 1} to position {to + 1}."
    if not verdict.turned:
        return ""
    first, second, _ = verdict.turned[0]
    return f"It puts {label(item[second])} before {label(item[first])}, among other things."


def _doubt(verdict: Verdict, item: dict[int, int]) -> str:
    if not verdict.turned:
        return ""
    first, second, chance = verdict.turned[0]
    only = "only " if chance < 0.5 else ""
    return (
        f"The model puts the chance of {label(item[first])} before {label(item[second])} at {only}{_percent(chance)}."
    )


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "less than 1%"
