"""Hugging Face `datasets`: a dataset with a column of sentences in, the same with the answer's columns out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unshuffle.errors import DataError
from unshuffle.integrations.rows import RowOrderer, RowSettings

ADDED = ("order", "confidence", "error")
"""Columns that are added."""


class OrderExamples:
    """What `dataset.map(..., batched=True)` calls; its hash depends on the settings alone, so that caching works."""

    def __init__(self, settings: RowSettings, column: str = "sentences") -> None:
        self.column = column
        self._rows = RowOrderer(settings)

    def __call__(self, batch: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """The column put in order, and the answer's other columns."""
        if self.column not in batch:
            there = ", ".join(list(batch)[:8])
            raise DataError(f"column '{self.column}' is missing (there are: {there}). Name the column of sentences.")
        if both := next((name for name in ADDED if name in batch), None):
            raise DataError(f"column '{both}' is there already, and the answer has one of that name. Rename it.")
        given = batch[self.column]
        outcomes = self._rows.outcomes(given)
        # Where a row has no answer its sentences stay, so that the types of the columns are the same in every batch.
        return {
            self.column: [
                row if outcome.error else list(outcome.sentences) for row, outcome in zip(given, outcomes, strict=True)
            ],
            "order": [list(outcome.order) for outcome in outcomes],
            "confidence": [float("nan") if outcome.confidence is None else outcome.confidence for outcome in outcomes],
            "error": [outcome.error or "" for outcome in outcomes],
        }


def order_dataset(
    dataset: Any,
    settings: RowSettings | None = None,
    *,
    column: str = "sentences",
    batch_size: int = 256,
    processes: int | None = None,
) -> Any:
    """Orders a `Dataset`, `DatasetDict` or iterable dataset; other columns are kept."""
    call = OrderExamples(settings or RowSettings(), column)
    options: dict[str, Any] = {"batched": True, "batch_size": batch_size}
    if processes is not None:  # streams have no such option
        options["num_proc"] = processes
    return dataset.map(call, **options)
