"""Ray Data on a small cluster of this machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray.data", reason="needs the 'ray' extra")
import ray
import ray.data

from tests.bulk.corpus import assert_each_once, records, write_jsonl, write_parquet
from unshuffle.bulk.order_files import order_files
from unshuffle.integrations.ray_data import order_rows
from unshuffle.integrations.rows import RowSettings


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 * 2**20)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


def test_a_dataset_is_ordered_row_by_row(
    cluster: Any, model: str, rows: list[object], expected: tuple[int, ...]
) -> None:
    given = [{"number": number, "sentences": row} for number, row in enumerate(rows) if row]
    found = order_rows(cluster.data.from_items(given), RowSettings(model=model, threads=1), workers=1).take_all()
    assert sorted(row["number"] for row in found) == [row["number"] for row in given]
    (first,) = (row for row in found if row["number"] == 0)
    assert tuple(first["order"]) == expected and first["error"] is None


@pytest.mark.slow
def test_files_are_ordered_on_the_cluster_and_gone_on_with(cluster: Any, model: str, tmp_path: Path) -> None:
    rows, more = records(40), records(15, start=40, seed=2)
    write_jsonl(tmp_path / "in" / "a.jsonl", [*rows, {"id": "bad", "sentences": []}])
    out = tmp_path / "out"
    first = order_files([tmp_path / "in"], out, "ray", model, workers=2, rows_per_part=10)
    assert (first.ordered, first.bad, first.parts) == (40, 1, 5)
    write_parquet(tmp_path / "in" / "b.parquet", more)
    report = order_files([tmp_path / "in"], out, "ray", model, workers=2, rows_per_part=10)
    assert (report.ordered, report.bad, report.resumed) == (55, 1, 5)
    assert_each_once(out, [*(row["id"] for row in [*rows, *more]), "bad"])
