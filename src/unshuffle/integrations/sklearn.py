"""A scikit-learn estimator: X are lists of sentences, y their reading orders, the score is Kendall's tau."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unshuffle.errors import DataError, MissingExtra
from unshuffle.metrics.summary import OrderPair, summarise
from unshuffle.system.options import OrderOptions, Threshold
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise MissingExtra("The scikit-learn estimator", "sklearn") from None

Order = Sequence[int]


class SentenceOrderer(BaseEstimator):
    """Orders with a trained model; with `fine_tune_in`, `fit` adapts it to (X, y) first and keeps it in that folder."""

    def __init__(
        self,
        model: str = "default",
        *,
        beam: int | None = None,
        keep_if_unsure: Threshold = None,
        fine_tune_in: str | None = None,
        minutes: float = 10.0,
        seed: int = 1,
    ) -> None:
        self.model = model
        self.beam = beam
        self.keep_if_unsure = keep_if_unsure
        self.fine_tune_in = fine_tune_in
        self.minutes = minutes
        self.seed = seed

    def fit(self, X: Sequence[Sequence[str]], y: Sequence[Order] | None = None) -> SentenceOrderer:
        """Loads the model; `y[i]` are the input indices of `X[i]` in reading order, None says that it stands in it."""
        if self.fine_tune_in is None:
            self.orderer_ = Orderer.from_pretrained(self.model)
            return self
        from unshuffle.training.adaptation import FineTuning
        from unshuffle.training.finetune import fine_tuned

        documents = [Document.from_sentences(list(row), id=str(number)) for number, row in enumerate(X)]
        if y is not None:
            orders = _checked("fit", X, y)
            documents = [document.permuted(order) for document, order in zip(documents, orders, strict=True)]
        job = FineTuning(
            source=self.model,
            documents=tuple(documents),
            out=Path(self.fine_tune_in),
            minutes=self.minutes,
            seed=self.seed,
        )
        self.fine_tuned_ = fine_tuned(job)
        self.orderer_ = Orderer.from_pretrained(self.fine_tune_in)
        return self

    def predict(self, X: Sequence[Sequence[str]]) -> list[tuple[int, ...]]:
        """The reading order of each row, as input indices."""
        check_is_fitted(self, "orderer_")
        rows = [list(row) for row in X]
        options = OrderOptions(beam=self.beam, n_best=1, keep_if_unsure=self.keep_if_unsure)
        return [ordering.order for ordering in self.orderer_.order_many(rows, options)]

    def score(self, X: Sequence[Sequence[str]], y: Sequence[Order]) -> float:
        """Mean Kendall's tau, from -1 to 1; sentences with the same text are interchangeable."""
        rows = zip(_checked("score", X, y), X, strict=True)
        found = self.predict(X)
        pairs = (OrderPair(one, true, tuple(row)) for one, (true, row) in zip(found, rows, strict=True))
        return summarise(pairs).tau / 100


def _checked(where: str, X: Sequence[Sequence[str]], y: Sequence[Order]) -> list[tuple[int, ...]]:
    """The orders as plain numbers, each of which names every sentence of its row once."""
    if len(X) != len(y):
        raise DataError(f"{where}: there are {len(X)} rows and {len(y)} orders. Give one order a row.")
    orders = []
    for number, (row, order) in enumerate(zip(X, y, strict=True)):
        found = tuple(order)
        if sorted(found) != list(range(len(row))):
            raise DataError(
                f"{where}: order {number} does not name each of its {len(row)} sentences once. Count them from 0."
            )
        orders.append(tuple(int(sentence) for sentence in found))
    return orders
