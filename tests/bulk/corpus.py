"""Made-up corpora for bulk ordering, and what must hold of any answer to them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from tests.fixtures.documents import random_documents


def records(count: int, *, start: int = 0, seed: int = 1, sentences: tuple[int, int] = (2, 5)) -> list[dict[str, Any]]:
    """Documents with ids that say their number, and other keys of several types."""
    return [
        {"id": f"d{start + number}", "sentences": list(document.sentences), "page": number, "tags": ["a", str(number)]}
        for number, document in enumerate(random_documents(count, sentences=sentences, seed=seed))
    ]


def write_jsonl(file: Path, rows: list[Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return file


def write_parquet(file: Path, rows: list[dict[str, Any]], group: int = 10) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(rows), file, row_group_size=group)
    return file


def rows_in(folder: Path) -> list[dict[str, Any]]:
    """All rows of the Parquet files of a folder; none where it is not there."""
    return [row for file in sorted(folder.glob("*.parquet")) for row in parquet.read_table(file).to_pylist()]


def assert_each_once(out: Path, ids: list[str]) -> None:
    """Every id is in the answer or among the errors, and once."""
    found = Counter(
        row["id"] for row in [*rows_in(out / "ordered"), *rows_in(out / "errors")] if row["row"] is not None
    )
    assert found == Counter(ids)


def assert_answers(rows: list[dict[str, Any]], given: dict[str, dict[str, Any]]) -> None:
    """Each answer is a permutation of what was given."""
    for row in rows:
        sentences = given[row["id"]]["sentences"]
        assert sorted(row["order"]) == list(range(len(sentences)))
        assert row["sentences"] == [sentences[place] for place in row["order"]]
        assert 0 <= row["confidence"] <= 1
