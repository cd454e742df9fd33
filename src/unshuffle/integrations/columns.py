"""Outcomes as columns of Arrow: what the bulk engines and Ray Data write, under the same names and types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from unshuffle.errors import DataError
from unshuffle.integrations.rows import Outcome

ANSWER = pa.schema(
    [
        ("sentences", pa.list_(pa.string())),
        ("order", pa.list_(pa.int32())),
        ("confidence", pa.float64()),
        ("probability", pa.float64()),
        ("kept", pa.bool_()),
        ("warnings", pa.list_(pa.string())),
        ("error", pa.string()),
    ]
)
"""`sentences` stands in reading order; `order` tells the input index of each; `error` is null where all went well, and
`warnings` say what speaks against relying on the order."""


def renamed(names: Iterable[str], taken: Sequence[str]) -> list[str]:
    """Names for the input's other columns: one that is taken becomes `input_...`."""
    found: list[str] = []
    for name in names:
        while name in taken or name in found:
            name = f"input_{name}"
        found.append(name)
    return found


def answered(table: Any, outcomes: Sequence[Outcome], column: str = "sentences") -> Any:
    """The table with the answer in place of its column of sentences; a row without an answer keeps those it had."""
    if column not in table.column_names:
        there = ", ".join(table.column_names[:8])
        raise DataError(f"column '{column}' is missing (there are: {there}). Name the column of sentences.")
    given = table.column(column).to_pylist()
    others = [position for position, name in enumerate(table.column_names) if name != column]
    kept = table.select(others)
    kept = kept.rename_columns(renamed(kept.column_names, ANSWER.names))
    for field, values in zip(ANSWER, answer_columns(outcomes, given), strict=True):
        kept = kept.append_column(field, values)
    return kept


def answer_columns(outcomes: Sequence[Outcome], given: Sequence[object]) -> list[Any]:
    """One array a field of the answer."""
    texts = [
        _as_given(row) if outcome.error else list(outcome.sentences)
        for row, outcome in zip(given, outcomes, strict=True)
    ]
    orders = [None if outcome.error else list(outcome.order) for outcome in outcomes]
    rest = [
        pa.array([getattr(outcome, name) for outcome in outcomes], ANSWER.field(name).type) for name in ANSWER.names[2:]
    ]
    return [pa.array(texts, ANSWER[0].type), pa.array(orders, ANSWER[1].type), *rest]


def _as_given(row: object) -> list[str | None] | None:
    """The row where it has the type of the column, and nothing where it is of another."""
    if not isinstance(row, list) or not all(text is None or isinstance(text, str) for text in row):
        return None
    return [text if text is None else text.encode("utf-8", "replace").decode() for text in row]
