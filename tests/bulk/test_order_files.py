"""Files in, Parquet out: every row once, in the answer or among the errors."""

import gzip
import json
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.bulk.corpus import assert_answers, assert_each_once, records, rows_in, write_jsonl, write_parquet
from tests.fixtures.tiny import TEXTS
from unshuffle.bulk.order_files import BulkReport, order_files
from unshuffle.bulk.parts import cut, find_files, stem_of
from unshuffle.bulk.reading import read_part
from unshuffle.errors import ConfigError, DataError, MissingExtra
from unshuffle.system.orderer import Orderer


def ordered(paths: list[Path], out: Path, model: str, **options: Any) -> BulkReport:
    return order_files(paths, out, "local", model, **{"workers": 1, "rows_per_part": 7} | options)


def test_rows_of_all_files_are_ordered_once_with_ids_and_other_columns(tmp_path: Path, out: Path, model: str) -> None:
    lines, table = records(17), records(25, start=100, seed=2)
    for number, text in enumerate(TEXTS):  # words that the model knows, so that it has an opinion
        lines[number]["sentences"] = list(text)
    corpus = tmp_path / "corpus"
    write_jsonl(corpus / "a.jsonl", lines)
    write_parquet(corpus / "deep" / "b.parquet", table)
    (corpus / "c.jsonl.gz").write_bytes(gzip.compress(json.dumps(["One.", "Two."]).encode()))
    seen: list[str] = []
    report = ordered([corpus], out, model, workers=2, report=lambda done: seen.append(done.name))
    assert (report.files, report.ordered, report.bad, report.resumed, report.broken) == (3, 43, 0, 0, ())
    assert len(seen) == report.parts == len(set(seen)) == 3 + 5 + 1
    given = {row["id"]: row for row in [*lines, *table, {"id": "c-1", "sentences": ["One.", "Two."]}]}
    assert_each_once(out, list(given))
    rows = rows_in(out / "ordered")
    assert_answers(rows, given)
    for row in rows:
        if row["source"].endswith("b.parquet"):  # Parquet keeps types
            assert (row["page"], row["tags"]) == (given[row["id"]]["page"], given[row["id"]]["tags"])
        elif row["source"].endswith("a.jsonl"):  # of JSON lines the rest is JSON
            assert json.loads(row["extra"]) == {name: given[row["id"]][name] for name in ("page", "tags")}
            assert row["row"] == int(row["id"][1:]) + 1
    assert not (out / "errors").exists() or not list((out / "errors").iterdir())
    orderer = Orderer.from_pretrained(model)
    for row in rows:
        if row["id"] in ("d0", "d1"):
            assert tuple(row["order"]) == orderer.order(given[row["id"]]["sentences"], n_best=1).order


def test_what_speaks_against_an_order_is_a_column_and_no_noise(
    tmp_path: Path, out: Path, model: str, capfd: pytest.CaptureFixture[str]
) -> None:
    texts = [
        [
            "Der Hund lief durch den Garten.",
            "Danach schlief er auf der Bank ein.",
            "Am Abend kam sein Herr nach Hause.",
        ],
        ["Mia picked an apple.", "Then she washed it.", "In the end she ate it with her brother."],
    ]
    ordered([write_jsonl(tmp_path / "a.jsonl", [{"sentences": text} for text in texts])], out, model)
    german, english = rows_in(out / "ordered")
    assert "English" in german["warnings"][0] and english["warnings"] == []
    assert capfd.readouterr() == ("", "")


def test_bad_rows_go_to_the_table_of_errors_and_stop_nothing(tmp_path: Path, out: Path, model: str) -> None:
    good = records(3)
    rows: list[Any] = [
        good[0], "{broken", {"id": "e1"}, {"id": "e2", "sentences": []}, "", good[1],
        {"id": "e3", "sentences": ["a", 4]}, {"id": "e4", "sentences": ["a", " "]},
        "[" * 3000, {"id": "long", "sentences": ["x"] * 51}, good[2],
    ]  # fmt: skip
    write_jsonl(tmp_path / "a.jsonl", rows)
    with (tmp_path / "a.jsonl").open("ab") as file:
        file.write(b'["\xff"]\n')
    report = ordered([tmp_path / "a.jsonl"], out, model, longest=50)
    assert (report.ordered, report.bad) == (3, 8)
    assert_each_once(out, ["d0", "d1", "d2", "a-2", "e1", "e2", "e3", "e4", "a-9", "long", "a-12"])
    errors = {row["id"]: row for row in rows_in(out / "errors")}
    assert "51 sentences" in errors["long"]["error"] and "sentence 2 is empty" in errors["e4"]["error"]
    assert errors["a-12"]["error"] == "a.jsonl line 12: byte 3 is not UTF-8. Save the file as UTF-8."
    assert [errors[id]["row"] for id in ("a-2", "e1", "a-9")] == [2, 3, 9]
    assert all("\n" not in row["error"] for row in errors.values())


def test_broken_files_are_told_and_the_others_are_done(tmp_path: Path, out: Path, model: str) -> None:
    write_jsonl(tmp_path / "good.jsonl", records(4))
    whole = write_parquet(tmp_path / "whole.parquet", records(30, start=50)).read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[:-40])
    (tmp_path / "other.parquet").write_bytes(b"not parquet")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    parquet.write_table(pa.table({"text": ["x"]}), tmp_path / "columns.parquet")
    packed = gzip.compress("".join(json.dumps(row) + "\n" for row in records(200, start=500)).encode())
    (tmp_path / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    report = ordered(sorted(tmp_path.glob("*.*")), out, model, rows_per_part=50)
    assert len(report.broken) == 4 and all("\n" not in line for line in report.broken)
    assert "cut.jsonl.gz: the packed file is truncated" in " ".join(report.broken)
    assert report.ordered > 34 and len(rows_in(out / "ordered")) == report.ordered
    assert sum(row["row"] is None for row in rows_in(out / "errors")) == 4


def test_equal_ids_and_names_are_kept_apart_by_file_and_row(tmp_path: Path, out: Path, model: str) -> None:
    same = {"id": "x", "sentences": ["One.", "Two."], "order": "theirs", "row": 9}
    write_jsonl(tmp_path / "a" / "f.jsonl", [same, same])
    write_parquet(tmp_path / "b" / "f.parquet", [same])
    assert ordered([tmp_path / "a", tmp_path / "b", tmp_path / "a"], out, model).ordered == 3
    rows = rows_in(out / "ordered")
    assert len({(row["source"], row["row"]) for row in rows}) == 3 and {row["id"] for row in rows} == {"x"}
    (table,) = (row for row in rows if row.get("input_order"))
    assert (table["input_order"], table["input_row"]) == ("theirs", 9)


def test_a_second_run_does_only_what_is_new_or_changed(tmp_path: Path, out: Path, model: str) -> None:
    a = write_jsonl(tmp_path / "in" / "a.jsonl", records(14))
    assert ordered([tmp_path / "in"], out, model).resumed == 0
    before = {file: file.stat().st_mtime_ns for file in (out / "ordered").iterdir()}
    (victim, *_) = (out / "manifest").iterdir()
    victim.write_text("{")
    write_jsonl(tmp_path / "in" / "b.jsonl", records(3, start=20))
    report = ordered([tmp_path / "in"], out, model)
    assert (report.ordered, report.parts, report.resumed) == (17, 3, 1)
    after = {file: file.stat().st_mtime_ns for file in (out / "ordered").iterdir()}
    assert sum(after[file] == time for file, time in before.items()) == 1
    write_jsonl(a, records(14, seed=9))
    os.utime(a, ns=(1, 1))
    assert ordered([tmp_path / "in"], out, model).resumed == 1
    assert json.loads((out / "report.json").read_text())["ordered"] == 17


def test_parts_that_are_no_longer_cut_so_are_forgotten(tmp_path: Path, out: Path, model: str) -> None:
    a = write_jsonl(tmp_path / "a.jsonl", records(14))
    b = write_jsonl(tmp_path / "b.jsonl", records(3, start=20))
    for rows_per_part, files in ((4, [a, b]), (5, [a])):
        ordered(files, out, model, rows_per_part=rows_per_part)
        rows = rows_in(out / "ordered")
        assert len(rows) == len({row["id"] for row in rows}) == 17
    write_jsonl(a, records(6))
    ordered([a], out, model, rows_per_part=5)
    assert len(rows_in(out / "ordered")) == 9


def test_wrong_requests_are_one_line(tmp_path: Path, out: Path, model: str) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", records(2))
    (tmp_path / "a.docx").write_text("x")
    (tmp_path / "nothing").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    with pytest.raises(DataError, match="there is no such file"):
        ordered([tmp_path / "missing"], out, model)
    with pytest.raises(DataError, match="no JSONL or Parquet file in this folder"):
        ordered([tmp_path / "nothing"], out, model)
    with pytest.raises(DataError, match="reads JSONL and Parquet"):
        ordered([tmp_path / "a.docx"], out, model)
    with pytest.raises(ConfigError, match="no run of ours"):
        ordered([file], tmp_path / "full", model)
    with pytest.raises(ConfigError, match="no such engine"):
        order_files([file], out, "dask", model)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="no such model"):
        ordered([file], out, "missing-model")
    with pytest.raises(ConfigError, match="count from 1"):
        ordered([file], out, model, workers=0)
    ordered([file], out, model)
    with pytest.raises(ConfigError, match="begun with other settings"):
        ordered([file], out, model, beam=3)


@pytest.mark.parametrize("name", ["a" * 249, "\U0001f600" * 62, "..", "...", "-rf", "~", "a\nb", "%2e%2e%2f", "\udcff"])
def test_names_of_output_files_lead_nowhere_else_and_are_never_too_long(name: str) -> None:
    stem = stem_of(Path("folder") / f"{name}.jsonl")
    assert "/" not in stem and not stem.startswith(".") and len(stem.encode()) < 200
    assert stem != stem_of(Path("other") / f"{name}.jsonl")


def test_without_pyarrow_bulk_work_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_jsonl(tmp_path / "a.jsonl", records(2))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="parquet"):
        order_files([tmp_path / "a.jsonl"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_answers_inside_the_input_folder_are_never_read_as_input(tmp_path: Path, model: str) -> None:
    corpus = tmp_path / "corpus"
    file = write_jsonl(corpus / "a.jsonl", records(3))
    out = corpus / "out"
    for paths in ([corpus], [corpus], [file, *(out / "ordered").glob("*")]):
        report = ordered(paths, out, model)
        assert (report.files, report.ordered) == (1, 3)
        assert_each_once(out, ["d0", "d1", "d2"])
    (answer,) = (out / "ordered").iterdir()
    for nothing_else in (answer, out):
        with pytest.raises(DataError, match="all files that are given lie in the folder of the answers"):
            ordered([nothing_else], out, model)


def test_answers_to_files_that_are_gone_or_renamed_are_dropped(tmp_path: Path, out: Path, model: str) -> None:
    write_jsonl(tmp_path / "in" / "a.jsonl", records(3))
    write_jsonl(tmp_path / "in" / "b.jsonl", [*records(2, start=10), {"id": "bad"}])
    ordered([tmp_path / "in"], out, model)
    (out / "ordered" / "notes.txt").write_text("not ours to drop")
    (tmp_path / "in" / "b.jsonl").unlink()
    assert ordered([tmp_path / "in"], out, model).resumed == 1
    assert_each_once(out, ["d0", "d1", "d2"])
    (tmp_path / "in").rename(tmp_path / "other")
    assert ordered([tmp_path / "other"], out, model).ordered == 3
    assert_each_once(out, ["d0", "d1", "d2"])
    assert [len(list((out / name).iterdir())) for name in ("ordered", "errors", "manifest")] == [2, 0, 1]


def test_a_file_and_a_link_to_it_are_one_file(tmp_path: Path, out: Path, model: str) -> None:
    file = write_jsonl(tmp_path / "in" / "b.jsonl", records(3))
    ordered([tmp_path / "in"], out, model)
    (tmp_path / "in" / "c.jsonl").symlink_to(file)
    assert find_files([tmp_path / "in"]) == [file]
    (tmp_path / "in" / "a.jsonl").symlink_to(file)  # now this name comes first
    assert ordered([tmp_path / "in"], out, model).files == 1
    assert_each_once(out, ["d0", "d1", "d2"])


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bytes])
def test_the_first_bytes_and_not_the_name_say_whether_a_file_is_packed(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    given = write_jsonl(tmp_path / "plain", records(200)).read_bytes()
    (tmp_path / name).write_bytes(pack(given))
    parts = list(cut([tmp_path / name], 3))
    rows = [row for part in parts for some in read_part(part, 64) for row in some.rows]
    assert [row.id for row in rows] == [f"d{number}" for number in range(200)]
    assert len(parts) == (67 if pack is bytes else 1)


@pytest.mark.parametrize("name", ["a.parquet", "a.parquet.gz"])
@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_packed_tables_are_told_by_their_first_bytes_too(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    given = write_parquet(tmp_path / "plain", records(25)).read_bytes()
    (tmp_path / name).write_bytes(pack(given))
    rows = [row for part in cut([tmp_path / name], 3) for some in read_part(part, 64) for row in some.rows]
    assert [(row.number, row.id) for row in rows] == [(number + 1, f"d{number}") for number in range(25)]


def test_a_column_that_is_there_twice_is_kept_twice(tmp_path: Path, out: Path, model: str) -> None:
    names = ["sentences", "id", "id", "page", "page"]
    columns = [pa.array([value]) for value in (["One.", "Two."], "x", "y", 1, 2)]
    parquet.write_table(pa.table(columns, names=names), tmp_path / "a.parquet")
    assert ordered([tmp_path / "a.parquet"], out, model).ordered == 1
    (row,) = rows_in(out / "ordered")
    assert (row["id"], row["input_id"], row["input_input_id"]) == ("a-1", "x", "y")
    assert (row["page"], row["input_page"]) == (1, 2)
    parquet.write_table(pa.table([columns[0]] * 2, names=["sentences"] * 2), tmp_path / "b.parquet")
    (fault,) = ordered([tmp_path / "b.parquet"], out, model).broken
    assert fault == "b.parquet: it has more than one column 'sentences'. Rename all but one."


def test_a_file_that_is_broken_in_another_way_is_tried_again(tmp_path: Path, out: Path, model: str) -> None:
    file = tmp_path / "a.parquet"
    for content in (b"x", b"another" * 9):
        file.write_bytes(content)
        assert ordered([file], out, model).resumed == 0
    assert ordered([file], out, model).resumed == 1


def test_a_run_of_another_version_is_refused_and_left_alone(tmp_path: Path, out: Path, model: str) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", records(2))
    ordered([file], out, model)
    run = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps(run | {"format": 1}))
    with pytest.raises(ConfigError, match="begun by another version of unshuffle"):
        ordered([file], out, model)
    assert_each_once(out, ["d0", "d1"])


def test_names_of_parts_of_very_many_files_do_not_collide() -> None:
    assert len({stem_of(Path(f"/data/{number}/part-0.jsonl")) for number in range(150_000)}) == 150_000
