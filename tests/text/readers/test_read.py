from __future__ import annotations

import gzip
import io
import lzma
import sys
import tempfile
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


def test_a_stream_of_text_is_read_from_where_it_stands_and_in_its_encoding(tmp_path: Path) -> None:
    file = tmp_path / "data.lines"
    for encoding in ("utf-8", "latin-1", "utf-16"):
        file.write_text("# a heading\nCafé one.\nTwo.\n", encoding=encoding)
        with file.open(encoding=encoding) as stream:
            stream.readline()
            assert [document.sentences for document in read_documents(stream)] == [("Café one.", "Two.")]
    with file.open(encoding="utf-8") as stream, pytest.raises(DataError, match="it is not utf-8"):
        list(read_documents(stream))


def test_a_stream_of_text_need_not_be_one_of_the_standard_library() -> None:
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as stream:
        stream.write("Café one.\nTwo.\n")
        stream.seek(0)
        assert [document.sentences for document in read_documents(stream, "lines")] == [("Café one.", "Two.")]


def test_packed_text_comes_in_by_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"One a.\nTwo b.\n"))))
    assert [document.sentences for document in read_documents(sys.stdin, "lines")] == [("One a.", "Two b.")]


@pytest.mark.parametrize("format", ["lines", "text", "jsonl", "json", "csv", "lower"])
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF file, not text. Export it as plain text"),
        (b"PK\x03\x04\x14\x00\x06\x00", "a Word document or another packed archive, not text"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "an old Word or other Office file"),
        (b"{\\rtf1\\ansi One.}", "an RTF document"),
        (b"\x89PNG\r\n\x1a\n\x00", "a picture"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "a picture"),
        ("One came.\nTwo went.\n".encode("utf-16"), "UTF-16 text. Save the file as UTF-8"),
        ("One came.\nTwo went.\n".encode("utf-16-le"), "UTF-16 text"),
        ("One came.\nTwo went.\n".encode("utf-16-be"), "UTF-16 text"),
    ],
)
def test_a_file_that_is_no_text_is_named(content: bytes, kind: str, format: str) -> None:
    with pytest.raises(DataError, match=f"<stream>: it is {kind}"):
        list(read_documents(io.BytesIO(content), format, on_error="skip"))
