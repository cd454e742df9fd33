"""`unshuffle order-files`, called inside the process."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.bulk.corpus import assert_each_once, records, write_jsonl
from unshuffle.cli import app
from unshuffle.errors import ConfigError, MissingExtra


def test_the_command_orders_files_and_says_what_came_of_it(tmp_path: Path, out: Path, model: str) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", [*records(4), {"id": "bad"}])
    (tmp_path / "broken.parquet").write_bytes(b"x")
    arguments = ["order-files", str(file), str(tmp_path / "broken.parquet"), "--out", str(out), "--model", model]
    found = CliRunner().invoke(app, [*arguments, "--workers", "1"])
    assert found.exit_code == 1, found.output  # a file is broken, which is said after all the rest is done
    assert "4 ordered, 1 bad, 2 files; 0 of 2 parts were done before." in found.output
    assert "broken.parquet: it is not a sound Parquet file" in found.output
    assert_each_once(out, ["d0", "d1", "d2", "d3", "bad"])
    again = CliRunner().invoke(app, [*arguments, "--workers", "1"])
    assert "2 of 2 parts were done before." in again.output and again.exit_code == 1
    other = CliRunner().invoke(app, [*arguments, "--beam", "2"])
    assert isinstance(other.exception, ConfigError)


def test_without_ray_the_command_says_what_to_install(
    tmp_path: Path, out: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    file = write_jsonl(tmp_path / "a.jsonl", records(1))
    arguments = ["order-files", str(file), "--out", str(out), "--model", model, "--engine", "ray"]
    found = CliRunner().invoke(app, arguments)
    assert isinstance(found.exception, MissingExtra) and "'.[ray]'" in str(found.exception)


def test_bad_rows_alone_are_no_failure(tmp_path: Path, out: Path, model: str) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", [*records(1), {"id": "bad"}])
    found = CliRunner().invoke(app, ["order-files", str(file), "--out", str(out), "--model", model, "--workers", "1"])
    assert found.exit_code == 0 and "1 ordered, 1 bad, 1 files" in found.output
