"""What all rankers of pair probabilities share: sentences labelled by content, and input indices in the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from unshuffle.rank.constraints import Constraints
from unshuffle.rank.ranking import FloatArray, IntArray, Ranking, checked, log_weights, order_score
from unshuffle.rank.rules import Rules
from unshuffle.rank.ties import content_order


@dataclass(frozen=True, slots=True, eq=False)
class Arranged:
    """A ranking problem whose sentences are numbered by content, so that lower numbers may win ties."""

    probability: FloatArray
    weight: FloatArray
    """What putting row before column adds to the score."""
    rules: Rules
    labels: IntArray
    """The input index of each sentence."""

    def __len__(self) -> int:
        """How many sentences there are."""
        return len(self.labels)

    def ranking(self, order: Sequence[int]) -> Ranking:
        """An order over content labels as a ranking of the input."""
        return Ranking(tuple(int(self.labels[at]) for at in order), order_score(self.weight, order))


def arrange(
    probability: ArrayLike,
    constraints: Constraints | None = None,
    tie_key: ArrayLike | None = None,
) -> Arranged:
    """Checks the probabilities and renumbers the sentences by content."""
    matrix = checked(probability)
    labels = content_order(matrix, tie_key)
    rules = Rules.free(len(matrix)) if constraints is None else constraints.rules(len(matrix)).relabelled(labels)
    # Renumbered before any arithmetic: sums in another order would round differently and so break ties.
    matrix = matrix[labels][:, labels]
    return Arranged(matrix, log_weights(matrix), rules, labels)
