from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unshuffle.errors import DataError
from unshuffle.text.readers import ReadReport, read_documents, source

GOOD = '{"id": "a", "sentences": ["One.", "Two."], "title": "ignored"}\n'


def read(text: str | bytes, **options: object) -> list[tuple[str, tuple[str, ...]]]:
    stream = io.StringIO(text) if isinstance(text, str) else io.BytesIO(text)
    return [(item.id, item.sentences) for item in read_documents(stream, "jsonl", **options)]  # type: ignore[arg-type]


def test_objects_and_bare_lists_are_documents() -> None:
    found = read(GOOD + '\n["Three."]\n{"sentences": ["Four."], "id": 7}')
    assert found == [("a", ("One.", "Two.")), ("stream-3", ("Three.",)), ("7", ("Four.",))]


def test_running_text_is_split() -> None:
    assert read('{"id": "a", "text": "One came. Two went."}') == [("a", ("One came.", "Two went."))]
    (paragraphs,) = read('{"text": "One came. Two went.\\n\\nThree."}', unit="paragraph")
    assert paragraphs[1] == ("One came. Two went.", "Three.")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "it is not JSON"),
        ('"text"', "'sentences' is missing"),
        ('{"id": "x"}', "'sentences' is missing"),
        ('{"sentences": "One. Two."}', "not a list"),
        ('{"sentences": []}', "no sentence"),
        ('{"sentences": ["a", 3]}', "sentence 2 is not text but a number"),
        ('{"sentences": ["a", null]}', "sentence 2 is not text but null"),
        ('{"sentences": ["a", "  "]}', "sentence 2 is empty"),
        ('{"sentences": ["\\ud800"]}', "half a character"),
        ('{"sentences": ["a"], "id": ["b"]}', "'id' is not text"),
        ("[" * 200_000, "nested too deep"),
        ('{"sentences": ["a"], "n": ' + "1" * 5000 + "}", "it is not JSON"),
    ],
)
def test_a_broken_line_is_named_or_skipped(line: str, reason: str) -> None:
    text = GOOD + line + "\n" + GOOD
    with pytest.raises(DataError, match=rf"<stream> line 2: .*{reason}") as caught:
        read(text)
    assert "\n" not in str(caught.value)
    report = ReadReport()
    assert len(read(text, on_error="skip", report=report)) == 2
    assert (report.documents, report.skipped) == (2, 1)
    assert reason in report.messages[0]


def test_broken_utf8_is_named_or_skipped() -> None:
    content = GOOD.encode() + b'["\xff"]\n' + GOOD.encode()
    with pytest.raises(DataError, match="line 2: byte 3 is not UTF-8"):
        read(content)
    assert len(read(content, on_error="skip")) == 2


def test_an_endless_line_is_refused_and_the_next_one_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LONGEST_LINE", 200)
    text = json.dumps(["x" * 500]) + "\n" + GOOD
    with pytest.raises(DataError, match="line 1: it is longer"):
        read(text)
    assert len(read(text, on_error="skip")) == 1


def test_a_report_keeps_a_few_messages_only() -> None:
    report = ReadReport()
    assert read("{\n" * 100 + GOOD, on_error="skip", report=report)
    assert report.skipped == 100
    assert len(report.messages) == 5


def test_a_byte_order_mark_is_no_letter() -> None:
    assert len(read(b"\xef\xbb\xbf" + GOOD.encode())) == 1


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    with file.open("w") as out:
        for number in range(5_000):
            out.write(json.dumps({"id": str(number), "sentences": ["word " * 20] * 3}) + "\n")
    tracemalloc.start()
    assert sum(1 for _ in read_documents(file)) == 5_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000 < file.stat().st_size


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1)))
def test_what_json_writes_is_read_back(documents: list[list[str]]) -> None:
    documents = [["." + sentence for sentence in sentences] for sentences in documents]
    text = "".join(json.dumps(sentences, ensure_ascii=False) + "\n" for sentences in documents)
    assert [list(sentences) for _, sentences in read(text.encode())] == documents


@given(st.binary(max_size=200))
def test_any_bytes_give_documents_or_one_line_errors(content: bytes) -> None:
    try:
        read(content)
    except DataError as error:
        assert "\n" not in str(error)
    report = ReadReport()
    try:
        assert len(read(content, on_error="skip", report=report)) == report.documents
    except DataError:
        assert report.documents == 0
