from __future__ import annotations

import io
import json

import pytest

from unshuffle.errors import DataError
from unshuffle.text.readers import ReadReport, read_documents, records


def read(text: str, **options: object) -> list[tuple[str, tuple[str, ...]]]:
    return [(item.id, item.sentences) for item in read_documents(io.StringIO(text), "json", **options)]  # type: ignore[arg-type]


def test_a_list_holds_documents_of_every_form() -> None:
    value = [{"id": "a", "sentences": ["One.", "Two."]}, ["Three."], {"text": "Four. Five."}]
    expected = [("a", ("One.", "Two.")), ("stream-2", ("Three.",)), ("stream-3", ("Four.", "Five."))]
    assert read(json.dumps(value)) == read(json.dumps(value, indent=2)) == expected


def test_a_list_of_strings_or_an_object_is_one_document() -> None:
    assert read('["One.", "Two."]') == [("stream-1", ("One.", "Two."))]
    assert read('{\n"id": 7,\n"sentences": ["One."]\n}') == [("7", ("One.",))]


def test_json_lines_under_the_wrong_name_are_read() -> None:
    report = ReadReport()
    assert read('["One."]\nnonsense\n["Two."]\n', on_error="skip", report=report) == [
        ("stream-1", ("One.",)),
        ("stream-3", ("Two.",)),
    ]
    assert "line 2: it is not JSON" in report.messages[0]


@pytest.mark.parametrize("text", ["{", '["One."', '[{"sentences": ["One."]},', "nonsense", '"text"', '[{"words": 1}]'])
def test_anything_else_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(DataError) as found:
        read(text)
    assert "<stream>" in str(found.value) and "\n" not in str(found.value)


def test_a_file_too_large_to_read_whole_is_sent_to_json_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LARGEST_FILE", 10)
    with pytest.raises(DataError, match="Write it as JSON lines"):
        read('["One.", "Two."]')


@pytest.mark.parametrize("mark", ["\u2028", "\u0085", "\u2029"])
def test_only_a_line_feed_ends_a_json_line(mark: str) -> None:
    found = read(f'["One{mark}two."]\r\n["Three."]\n')
    assert [sentences[0] for _, sentences in found][1] == "Three." and len(found) == 2
