"""Spark on this machine, where Java is."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="needs the 'spark' extra")
pytest.importorskip("pandas", reason="needs the 'spark' extra")
import pandas

from unshuffle.errors import DataError
from unshuffle.integrations.rows import RowSettings
from unshuffle.integrations.spark import frames_ordered, order_frame


def test_frames_keep_rows_and_columns(model: str, rows: list[Any], expected: tuple[int, ...]) -> None:
    given = pandas.DataFrame({"name": list("abcdef"), "sentences": rows}, index=[5, 3, 1, 2, 4, 0])
    (found,) = frames_ordered(RowSettings(model=model))(iter([given]))
    answer = ["order", "confidence", "probability", "kept", "warnings", "error"]
    assert list(found.columns) == ["name", "sentences", *answer]
    assert list(found["name"]) == list("abcdef") and list(found["order"].iloc[0]) == list(expected)
    assert [error is None for error in found["error"].astype(object).where(found["error"].notna(), None)] == [
        True, True, False, False, False, True,
    ]  # fmt: skip
    assert list(given.columns) == ["name", "sentences"]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    java = shutil.which("java")
    if not java or subprocess.run([java, "-version"], capture_output=True, check=False).returncode:
        pytest.skip("needs Java: Spark runs on it")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.mark.slow
def test_a_spark_table_is_ordered_row_by_row(
    session: Any, model: str, sentences: list[str], expected: tuple[int, ...]
) -> None:
    given = session.createDataFrame(
        [("a", sentences), ("b", ["One."]), ("c", []), ("d", None)], "name string, sentences array<string>"
    )
    found = {row["name"]: row for row in order_frame(given, RowSettings(model=model, threads=1)).collect()}
    assert tuple(found["a"]["order"]) == expected
    assert found["a"]["sentences"] == [sentences[place] for place in expected]
    assert found["b"]["order"] == [0] and found["b"]["error"] is None
    assert found["c"]["order"] is None and found["c"]["error"] and found["d"]["error"]
    with pytest.raises(DataError, match="column 'text' is missing"):
        order_frame(given, column="text")
    with pytest.raises(DataError, match="'order' is there already"):
        order_frame(given.withColumnRenamed("name", "order"))
