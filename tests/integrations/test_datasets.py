"""Hugging Face datasets, mapped."""

import math
from pathlib import Path

import pytest

pytest.importorskip("datasets", reason="needs the 'hub-data' extra")
import datasets

from unshuffle.errors import DataError
from unshuffle.integrations.datasets import OrderExamples, order_dataset
from unshuffle.integrations.rows import RowSettings


def test_a_dataset_keeps_its_rows_and_columns(
    model: str, rows: list[object], expected: tuple[int, ...], elsewhere: Path
) -> None:
    given = datasets.Dataset.from_dict({"name": list("abcdef"), "sentences": rows})
    found = order_dataset(given, RowSettings(model=model), batch_size=2)
    assert found["name"] == list("abcdef") and found.num_rows == 6
    assert tuple(found[0]["order"]) == expected
    assert found[0]["sentences"] == [rows[0][place] for place in expected]  # type: ignore[index]
    assert [bool(error) for error in found["error"]] == [False, False, True, True, True, False]
    assert found[4]["sentences"] == ["a", ""] and found[4]["order"] == [] and math.isnan(found[4]["confidence"])
    again = order_dataset(given, RowSettings(model=model), batch_size=2)
    assert again._fingerprint == found._fingerprint  # the same work has the same name in the cache
    with pytest.raises(DataError, match="column 'text' is missing"):
        OrderExamples(RowSettings(model=model), "text")({"sentences": []})


def test_a_stream_is_ordered_as_it_comes(model: str, sentences: list[str], expected: tuple[int, ...]) -> None:
    given = datasets.Dataset.from_dict({"sentences": [sentences] * 5}).to_iterable_dataset()
    found = list(order_dataset(given, RowSettings(model=model), batch_size=2))
    assert [tuple(row["order"]) for row in found] == [expected] * 5


@pytest.mark.parametrize("name", ["order", "confidence", "error"])
def test_a_column_of_the_users_is_not_overwritten(name: str, model: str, sentences: list[str], elsewhere: Path) -> None:
    given = datasets.Dataset.from_dict({"sentences": [sentences], name: ["mine"]})
    with pytest.raises(DataError, match=f"column '{name}' is there already"):
        order_dataset(given, RowSettings(model=model))
