"""Workers that are killed, documents that kill, disks that are full: nothing is lost and nothing is there twice."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bulk.corpus import assert_answers, assert_each_once, records, rows_in, write_jsonl
from unshuffle.bulk import crew
from unshuffle.bulk.journal import DEATHS, Journal, forgive
from unshuffle.bulk.manifest import Layout
from unshuffle.bulk.order_files import order_files
from unshuffle.bulk.parts import cut
from unshuffle.bulk.work import PartWorker
from unshuffle.errors import ConfigError, DataError
from unshuffle.integrations.rows import Outcome, RowOrderer, RowSettings

POISON = "This sentence ends the process."
WORK = crew.work


class Deadly(RowOrderer):
    """Ends its process whenever it is given the poison, as a lack of memory would."""

    def outcomes(self, rows: Any) -> list[Outcome]:
        if any(POISON in row for row in rows):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().outcomes(rows)


def deadly_work(pipe: Any, settings: RowSettings, folder: str) -> None:
    """A worker's life with a deadly orderer."""
    from unshuffle.bulk import work

    work.RowOrderer = Deadly  # type: ignore[misc]
    crew.work(pipe, settings, folder)


class Slow(RowOrderer):
    """Is at its rows for longer than any test waits."""

    def outcomes(self, rows: Any) -> list[Outcome]:
        time.sleep(600)
        return []


def slow_work(pipe: Any, settings: RowSettings, folder: str) -> None:
    """A worker's life with a slow orderer."""
    from unshuffle.bulk import work

    work.RowOrderer = Slow  # type: ignore[misc]
    WORK(pipe, settings, folder)


def test_a_document_that_kills_its_process_ends_among_the_errors_and_takes_nobody_along(
    tmp_path: Path, out: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = records(20)
    rows[6]["sentences"] = ["Some.", POISON]
    file = write_jsonl(tmp_path / "a.jsonl", rows)
    monkeypatch.setattr(crew, "work", deadly_work)
    report = order_files([file], out, "local", model, workers=2, rows_per_part=10)
    assert (report.ordered, report.bad, report.deaths) == (19, 1, 1 + DEATHS)
    assert_each_once(out, [row["id"] for row in rows])
    (error,) = rows_in(out / "errors")
    assert error["id"] == "d6" and "the process ended each time" in error["error"]
    assert not list((out / "working").iterdir())


def test_workers_killed_again_and_again_lose_no_row(
    tmp_path: Path, out: Path, model: str, record_property: Callable[[str, object], None]
) -> None:
    rows = records(240, sentences=(4, 8))
    file = write_jsonl(tmp_path / "a.jsonl", rows)
    killed: list[int] = []
    stop = threading.Event()

    def kill() -> None:
        while not stop.wait(0.005):  # often enough to catch even a quick part
            at_work = [path for path in (out / "working").glob("*.json")]
            victims = [process for process in crew.multiprocessing.active_children() if process.pid]
            if at_work and victims and len(killed) < 4:
                killed.append(victims[0].pid or 0)
                os.kill(killed[-1], signal.SIGKILL)
                stop.wait(0.5)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        report = order_files([file], out, "local", model, workers=2, rows_per_part=40)
    finally:
        stop.set()
        killer.join()
    assert killed and report.deaths <= len(killed)  # one that is killed while it waits is not missed
    record_property("kills", len(killed))
    assert (report.ordered, report.bad) == (240, 0)
    assert_each_once(out, [row["id"] for row in rows])
    assert_answers(rows_in(out / "ordered"), {row["id"]: row for row in rows})


def test_a_run_that_is_killed_goes_on_without_doing_finished_parts_again(tmp_path: Path, out: Path, model: str) -> None:
    rows = records(120, sentences=(4, 8))
    file = write_jsonl(tmp_path / "a.jsonl", rows)

    def stop_half_way(done: object) -> None:
        if len(list((out / "manifest").glob("*.json"))) >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        order_files([file], out, "local", model, workers=1, rows_per_part=20, report=stop_half_way)
    before = {path.name: path.stat().st_mtime_ns for path in (out / "ordered").glob("*.parquet")}
    (out / "ordered" / ".left-behind").write_bytes(b"half")
    assert 3 <= len(before) < 6
    report = order_files([file], out, "local", model, workers=1, rows_per_part=20)
    assert report.resumed >= 3 and report.ordered == 120
    assert_each_once(out, [row["id"] for row in rows])
    kept = {path.name: path.stat().st_mtime_ns for path in (out / "ordered").iterdir()}
    assert ".left-behind" not in kept and sum(kept[name] == time for name, time in before.items()) >= 3


def test_a_full_disk_ends_the_run_with_one_line_and_keeps_what_is_finished(
    tmp_path: Path, out: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = records(30)
    (part, *_) = parts = list(cut([write_jsonl(tmp_path / "a.jsonl", rows)], 10))
    worker = PartWorker(RowSettings(model=model), str(out))
    assert worker(part).ordered == 10
    before = {path: path.read_bytes() for path in out.rglob("*.*")}

    def full(handle: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match="No space left on device") as error:
        worker(parts[1])
    assert "\n" not in str(error.value)
    after = {path: path.read_bytes() for path in out.rglob("*.*") if "working" not in path.parts}
    assert after == before
    monkeypatch.undo()
    assert [worker(part).ordered for part in parts[1:]] == [10, 10]
    assert_each_once(out, [row["id"] for row in rows])


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, model: str) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", records(2))
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="could not be written") as error:
        order_files([file], tmp_path / "file" / "out", "local", model, workers=1)
    assert "\n" not in str(error.value)


def test_a_part_done_twice_at_once_is_there_once(tmp_path: Path, out: Path, model: str) -> None:
    rows = records(10)
    (part,) = cut([write_jsonl(tmp_path / "a.jsonl", rows)], 10)
    worker = PartWorker(RowSettings(model=model), str(out))
    first, second = worker(part), worker(part)
    assert first.ordered == second.ordered == 10
    assert_each_once(out, [row["id"] for row in rows])


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", "\0", '{"at": 3}', '{"at": [1], "suspects": [], "deaths": {"1": 9}}']
    + [
        f'{{"of": [0, 0], "at": {at}, "suspects": {suspects}, "deaths": {{}}}}'
        for at, suspects in (('["x"]', "[]"), ("[]", "3"))
    ],
)
def test_a_damaged_journal_is_as_good_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "j.json").write_text(content)
    forgive(tmp_path)
    journal = Journal.open(tmp_path / "j.json")
    assert not journal.guilty(1) and list(journal.groups([1, 2])) == [(1, 2)]


def test_a_journal_blames_only_who_was_alone(tmp_path: Path) -> None:
    file = tmp_path / "j.json"
    Journal.open(file).begin([1, 2, 3])
    journal = Journal.open(file)
    assert list(journal.groups([1, 2, 3, 4])) == [(4,), (1,), (2,), (3,)]
    for deaths in range(DEATHS):
        assert not journal.guilty(2) and json.loads(file.read_text())["deaths"].get("2", 0) == max(0, deaths - 1)
        journal.begin([2])
        journal = Journal.open(file)
    assert journal.guilty(2) and list(journal.groups([1, 2, 3, 4])) == [(4,), (1,), (3,)]
    assert Layout(tmp_path).journal("x").parent.name == "working" and time.time() > 0


def test_a_run_that_is_stopped_blames_no_document(tmp_path: Path) -> None:
    """However often, and however: what was in work is tried alone, and only deaths within a run are counted."""
    file = tmp_path / "j.json"
    for _ in range(3 * DEATHS):
        forgive(tmp_path)
        journal = Journal.open(file)
        assert not journal.guilty(1) and not journal.deaths
        journal.begin([1])
    for _ in range(DEATHS):
        journal = Journal.open(file)
        journal.begin([1])
    forgive(tmp_path)
    assert Journal.open(file).guilty(1) and list(Journal.open(file).groups([1, 2])) == [(2,)]


def test_a_document_alone_in_its_part_outlives_stopped_runs(
    tmp_path: Path, out: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", records(1))
    monkeypatch.setattr(crew, "work", slow_work)

    def stop_at_work(*_: object) -> None:
        while not list((out / "working").glob("*.json")):
            time.sleep(0.01)
        raise KeyboardInterrupt

    for _ in range(DEATHS + 1):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(crew, "wait", stop_at_work)
            order_files([file], out, "local", model, workers=1)
        assert list((out / "working").glob("*.json"))
    monkeypatch.setattr(crew, "work", WORK)
    report = order_files([file], out, "local", model, workers=1)
    assert (report.ordered, report.bad, report.deaths) == (1, 0, 0)


def test_rows_of_a_changed_file_are_not_blamed_for_those_that_stood_there(
    tmp_path: Path, out: Path, model: str
) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", records(3))
    settings = RowSettings(model=model)
    (part,) = cut([file], 10)
    journal = Journal(Layout(out).journal(part.name), (part.size, part.changed), {2}, {2: DEATHS})
    journal.file.parent.mkdir(parents=True)
    journal.begin([])
    assert PartWorker(settings, str(out))(part).bad == 1
    journal.begin([])
    os.utime(file, ns=(1, 1))
    (part,) = cut([file], 10)
    assert PartWorker(settings, str(out))(part).bad == 0


@pytest.mark.parametrize("error", [OSError(5, "Input/output error\nmore"), KeyError(), ValueError("Odd.")])
def test_what_no_row_is_guilty_of_is_one_line_that_names_the_file(
    tmp_path: Path, out: Path, model: str, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    (part,) = cut([write_jsonl(tmp_path / "a.jsonl", records(1))], 10)

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Journal, "close", fail)
    with pytest.raises(DataError, match=rf"a\.jsonl: it could not be ordered \({type(error).__name__}") as found:
        PartWorker(RowSettings(model=model), str(out))(part)
    assert "\n" not in str(found.value)
