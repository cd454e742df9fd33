"""Spark: a function for `mapInPandas`, one model a Python worker; and the call that sets it up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from unshuffle.errors import DataError, MissingExtra
from unshuffle.integrations.rows import RowOrderer, RowSettings

ANSWER = "`order` array<int>, confidence double, probability double, kept boolean, warnings array<string>, error string"
"""Columns that are added, in Spark's words; the column of sentences is put in reading order."""


@lru_cache(maxsize=1)
def rows_of(settings: RowSettings) -> RowOrderer:
    """One model per process: Spark calls the function for every partition."""
    return RowOrderer(settings)


def frames_ordered(settings: RowSettings, column: str = "sentences") -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function for `mapInPandas`."""

    def ordered(frames: Iterator[Any]) -> Iterator[Any]:
        for frame in frames:
            outcomes = rows_of(settings).outcomes(frame[column].tolist())
            answer = frame.copy()
            answer[column] = [
                given if outcome.error else list(outcome.sentences)
                for given, outcome in zip(frame[column], outcomes, strict=True)
            ]
            answer["order"] = [None if outcome.error else list(outcome.order) for outcome in outcomes]
            for name in ("confidence", "probability", "kept"):
                answer[name] = [getattr(outcome, name) for outcome in outcomes]
            answer["warnings"] = [list(outcome.warnings) for outcome in outcomes]
            answer["error"] = [outcome.error for outcome in outcomes]
            yield answer

    return ordered


def order_frame(frame: Any, settings: RowSettings | None = None, *, column: str = "sentences") -> Any:
    """A Spark DataFrame with the answer's columns; one row out for each row in."""
    try:
        from pyspark.sql.types import StructType
    except ImportError:
        raise MissingExtra("Spark", "spark") from None
    if column not in frame.columns:
        raise DataError(f"column '{column}' is missing (there are: {', '.join(frame.columns[:8])}). Name it.")
    added: Any = StructType.fromDDL(ANSWER)
    if both := sorted({field.name for field in added} & set(frame.columns)):
        raise DataError(f"column '{both[0]}' is there already, and the answer has one of that name. Rename it.")
    schema = StructType([*frame.schema.fields, *added.fields])
    return frame.mapInPandas(frames_ordered(settings or RowSettings(threads=1), column), schema)
