"""Ray Data: a class for `map_batches`, one model an actor; and the call that sets it up."""

from __future__ import annotations

from typing import Any

from unshuffle.errors import MissingExtra
from unshuffle.integrations.columns import answered
from unshuffle.integrations.rows import RowOrderer, RowSettings


class OrderBatch:
    """Orders Arrow tables: one row out for each row in, bad ones with their `error`; other columns are kept."""

    def __init__(self, settings: RowSettings, column: str = "sentences") -> None:
        self._rows = RowOrderer(settings)
        self._column = column

    def __call__(self, table: Any) -> Any:
        """The table with the answer's columns."""
        given = table.column(self._column).to_pylist() if self._column in table.column_names else []
        return answered(table, self._rows.outcomes(given), self._column)


def order_rows(
    dataset: Any,
    settings: RowSettings | None = None,
    *,
    column: str = "sentences",
    workers: int | tuple[int, int] = 1,
    batch_size: int = 64,
) -> Any:
    """A Ray dataset with the answer's columns; `workers` is a number of actors, or the fewest and the most.

    Ray restarts a killed actor and gives it the same work again.
    """
    try:
        import ray.data
    except ImportError:
        raise MissingExtra("Ray Data", "ray") from None
    fewest, most = (workers, workers) if isinstance(workers, int) else workers
    return dataset.map_batches(
        OrderBatch,
        fn_constructor_args=(settings or RowSettings(threads=1), column),
        batch_size=batch_size,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(min_size=fewest, max_size=most),
        num_cpus=1,
    )
