from __future__ import annotations

import io

import pytest

from unshuffle.errors import DataError
from unshuffle.text.readers import ReadReport, read_documents


def read(text: str | bytes, format: str) -> list[tuple[str, ...]]:
    stream = io.StringIO(text) if isinstance(text, str) else io.BytesIO(text)
    return [document.sentences for document in read_documents(stream, format)]


def test_blank_lines_divide_documents_of_lines() -> None:
    assert read("\n\nOne. Still one.\r\nTwo.\n \t\n\nThree", "lines") == [("One. Still one.", "Two."), ("Three",)]


def test_running_text_is_one_document_of_sentences() -> None:
    assert read("A title\n\nDr. Hill\nslept. He\nwoke.\n\n\nThe end.\n", "text") == [
        ("A title", "Dr. Hill slept.", "He woke.", "The end.")
    ]


@pytest.mark.parametrize("border", ["\n---\n", "\n\n-----  \n\n", "\f", "\n\f\n"])
def test_a_form_feed_or_a_rule_begins_another_document(border: str) -> None:
    assert read(f"One. Two.{border}Three.{border}", "text") == [("One.", "Two."), ("Three.",)]
    documents = list(read_documents(io.StringIO(f"One.{border}Two."), "text"))
    assert [document.id for document in documents] == ["stream-1", "stream-2"]


@pytest.mark.parametrize(("format", "border"), [("lines", b"\n\n"), ("text", b"\n---\n")])
def test_a_broken_line_breaks_its_own_document_only(format: str, border: bytes) -> None:
    content = border.join([b"One.", b"Two.\nThr\xffee.", b"Four."])
    with pytest.raises(DataError, match="byte 4 is not UTF-8"):
        read(content, format)
    report = ReadReport()
    documents = list(read_documents(io.BytesIO(content), format, "skip", report))
    assert [document.sentences for document in documents] == [("One.",), ("Four.",)]
    assert report.skipped == 1


def test_text_of_blanks_has_no_document() -> None:
    assert read(" \n\n\f---\n", "lines") == [("---",)]
    assert read(" \n\n\f\n---\n", "text") == []
