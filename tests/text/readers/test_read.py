from __future__ import annotations

import gzip
import io
import lzma
from pathlib import Path
from typing import get_args

import pytest

from unshuffle.errors import ConfigError, DataError
from unshuffle.text.readers import FORMATS, ReadReport, read_documents
from unshuffle.text.readers.formats import SUFFIXES, Format

CONTENTS = {
    "jsonl": '["One a.", "Two b."]\n["Three c."]\n',
    "csv": "id,first,second\nx,One a.,Two b.\ny,Three c.,\n",
    "tsv": "id\tsentence\nx\tOne a.\nx\tTwo b.\ny\tThree c.\n",
    "lines": "One a.\nTwo b.\n\nThree c.\n",
    "txt": "One a.\nTwo b.\n---\nThree c.\n",
    "lower": "One a. <eos> Two b.\nThree c.\n",
}
EXPECTED = [("One a.", "Two b."), ("Three c.",)]


@pytest.mark.parametrize("suffix", CONTENTS)
@pytest.mark.parametrize("packing", ["", ".gz", ".xz"])
def test_every_format_is_read_plain_and_packed(tmp_path: Path, suffix: str, packing: str) -> None:
    file = tmp_path / f"data.{suffix}{packing}"
    pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[packing]
    file.write_bytes(pack(CONTENTS[suffix].encode()))
    assert [document.sentences for document in read_documents(file)] == EXPECTED
    with file.open("rb") as stream:
        named = "text" if suffix == "txt" else suffix
        assert [document.sentences for document in read_documents(stream, named)] == EXPECTED


@pytest.mark.parametrize("packing", [gzip.compress, lzma.compress])
def test_a_cut_off_packed_file_keeps_what_came_before(tmp_path: Path, packing: type) -> None:
    file = tmp_path / "data.jsonl.gz"
    lines = "".join(f'["Sentence {number} {number * 7919 % 1000}."]\n' for number in range(20_000))
    whole = packing(lines.encode())
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"data\.jsonl\.gz: the packed file is truncated or damaged"):
        list(read_documents(file))
    report = ReadReport()
    assert 0 < len(list(read_documents(file, on_error="skip", report=report))) < 20_000
    assert report.skipped == 1


def test_a_file_that_only_claims_to_be_packed_is_read_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "data.jsonl.gz"
    file.write_text('["One."]')
    assert len(list(read_documents(file))) == 1


def test_wrong_requests_fail_at_once_and_say_what_to_do(tmp_path: Path) -> None:
    unknown = tmp_path / "data.bin"
    unknown.write_text("x")
    with pytest.raises(ConfigError, match="does not tell the format"):
        read_documents(unknown)
    with pytest.raises(ConfigError, match="Did you mean 'jsonl'"):
        read_documents(unknown, "jsonll")
    with pytest.raises(ConfigError, match="'stop' or 'skip'"):
        read_documents(unknown, "jsonl", on_error="ignore")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="there is no such file"):
        read_documents(tmp_path / "missing.jsonl", on_error="skip")
    with pytest.raises(DataError, match="this is a folder"):
        read_documents(tmp_path)
    with pytest.raises(ConfigError, match="does not tell the format"):
        read_documents(io.BytesIO(b""))


@pytest.mark.parametrize("format", sorted(set(FORMATS) - {"parquet", "csv", "tsv"}))
def test_an_empty_file_has_no_document(format: str) -> None:
    assert list(read_documents(io.BytesIO(b""), format)) == []


def test_a_text_stream_of_any_length_is_read() -> None:
    lines = "\n".join(f'["ä{number}€ {"x" * (number % 50)}"]' for number in range(2000))
    assert len(list(read_documents(io.StringIO(lines), "jsonl"))) == 2000


def test_every_format_that_has_a_name_has_a_reader() -> None:
    assert set(FORMATS) == set(get_args(Format)) >= set(SUFFIXES.values())
