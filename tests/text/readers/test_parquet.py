from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from unshuffle.errors import DataError
from unshuffle.text.readers import ReadReport, read_documents

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def write(file: Path, **columns: object) -> Path:
    parquet.write_table(pyarrow.table(columns), file, row_group_size=100)
    return file


def test_rows_are_documents_across_row_groups(tmp_path: Path) -> None:
    sentences = [[f"One {row}.", f"Two {row}."] for row in range(1000)]
    file = write(tmp_path / "data.parquet", id=list(range(1000)), sentences=sentences, other=["x"] * 1000)
    documents = list(read_documents(file))
    assert [list(document.sentences) for document in documents] == sentences
    assert documents[999].id == "999"
    packed = tmp_path / "data.parquet.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert list(read_documents(packed)) == documents
    assert list(read_documents(io.BytesIO(file.read_bytes()), "parquet")) == documents


def test_ids_are_made_where_there_are_none(tmp_path: Path) -> None:
    file = write(tmp_path / "data.parquet", sentences=[["a"], ["b"]])
    assert [document.id for document in read_documents(file)] == ["data-1", "data-2"]


def test_broken_rows_are_named_or_skipped(tmp_path: Path) -> None:
    rows = pyarrow.array([["a"], None, [], ["b", None], ["c"]], pyarrow.list_(pyarrow.string()))
    file = write(tmp_path / "data.parquet", sentences=rows)
    with pytest.raises(DataError, match=r"data\.parquet row 2: the sentences are not a list"):
        list(read_documents(file))
    report = ReadReport()
    assert [document.sentences for document in read_documents(file, None, "skip", report)] == [("a",), ("c",)]
    assert report.skipped == 3


@pytest.mark.parametrize(
    ("columns", "reason"), [({"text": ["a"]}, "column 'sentences' is missing"), ({"sentences": ["a"]}, "is string")]
)
def test_wrong_columns_are_named(tmp_path: Path, columns: dict[str, list[str]], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        list(read_documents(write(tmp_path / "data.parquet", **columns)))


def test_what_is_no_parquet_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "data.parquet"
    whole = write(file, sentences=[["a"]] * 500).read_bytes()
    for content in (b"", b"PAR1", b"some text that is no table", whole[: len(whole) // 2]):
        file.write_bytes(content)
        with pytest.raises(DataError, match=r"data\.parquet: ") as caught:
            list(read_documents(file))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("names", [["sentences", "sentences"], ["id", "id", "sentences"]])
def test_a_column_that_is_there_twice_is_named(tmp_path: Path, names: list[str]) -> None:
    columns = [pyarrow.array([["a"]] if name == "sentences" else ["x"]) for name in names]
    parquet.write_table(pyarrow.Table.from_arrays(columns, names), tmp_path / "data.parquet")
    with pytest.raises(DataError, match=rf"data\.parquet: there are two columns '{names[0]}'"):
        list(read_documents(tmp_path / "data.parquet"))
