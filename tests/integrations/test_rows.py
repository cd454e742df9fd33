"""What the adapters to tables share: one outcome a row, whatever the row is."""

import copy
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from unshuffle.errors import ConfigError, DataError
from unshuffle.integrations.columns import ANSWER, answered, renamed
from unshuffle.integrations.ray_data import OrderBatch
from unshuffle.integrations.rows import RowOrderer, RowSettings
from unshuffle.system.orderer import Orderer


def test_good_rows_are_ordered_and_bad_ones_told(model: str, rows: list[object], expected: tuple[int, ...]) -> None:
    orderer = RowOrderer(RowSettings(model=model, longest=4))
    found = orderer.outcomes([*rows, np.array(rows[0]), ["x"] * 5, 3])
    assert found[0].order == found[6].order == expected and found[0].error is None
    assert [outcome.error is None for outcome in found] == [True, True, False, False, False, True, True, False, False]
    assert all("\n" not in (outcome.error or "") for outcome in found)
    assert "5 sentences, and 4 are allowed" in str(found[7].error)
    assert orderer.outcomes([]) == []


def test_a_failure_inside_the_model_costs_the_row_that_causes_it(
    model: str, sentences: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    order_many = Orderer.order_many

    def failing(self: Orderer, documents: Any, options: Any) -> Any:
        documents = list(documents)
        if any("poison" in sentence for document in documents for sentence in document.sentences):
            raise RuntimeError("out of memory\nat some place")
        return order_many(self, documents, options)

    monkeypatch.setattr(Orderer, "order_many", failing)
    found = RowOrderer(RowSettings(model=model)).outcomes([sentences, ["poison", "x"], sentences])
    assert [outcome.error is None for outcome in found] == [True, False, True]
    assert found[1].error == "row: it could not be ordered (RuntimeError: out of memory). Look at its text."


def test_only_settings_travel_between_processes(model: str, sentences: list[str]) -> None:
    orderer = RowOrderer(RowSettings(model=model))
    orderer.outcomes([sentences])
    assert copy.copy(orderer).__dict__ == {"settings": RowSettings(model=model)}


def test_a_model_that_is_not_there_is_no_row_s_fault() -> None:
    with pytest.raises(ConfigError, match="no such model"):
        RowOrderer(RowSettings(model="missing-model")).outcomes([["a"]])


def test_tables_keep_rows_and_columns(model: str, rows: list[object], expected: tuple[int, ...]) -> None:
    table = pa.table({"order": [9] * 6, "text": pa.array(rows, pa.list_(pa.string())), "input_order": range(6)})
    found = OrderBatch(RowSettings(model=model), "text")(table)
    assert found.column_names == ["input_order", "input_input_order", *ANSWER.names]
    assert found.column("input_input_order").to_pylist() == list(range(6))
    answers = found.to_pylist()
    assert (
        answers[0]["order"] == list(expected) and answers[4]["sentences"] == ["a", ""] and answers[4]["order"] is None
    )
    assert OrderBatch(RowSettings(model=model), "text")(table.slice(0, 0)).num_rows == 0
    with pytest.raises(DataError, match="column 'sentences' is missing"):
        answered(table, [])
    assert renamed(["a", "a", "id"], ["id"]) == ["a", "input_a", "input_id"]
