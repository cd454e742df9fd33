from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unshuffle.errors import DataError
from unshuffle.text.readers import ReadReport, cells, read_documents, source


def read(text: str, format: str = "csv") -> list[tuple[str, tuple[str, ...]]]:
    return [(document.id, document.sentences) for document in read_documents(io.StringIO(text), format)]


def test_a_row_a_sentence_is_gathered_by_id() -> None:
    assert read('id,sentence,note\na,"One, two.",x\na,"Three\nfour.",\nb,Five.,\n') == [
        ("a", ("One, two.", "Three\nfour.")),
        ("b", ("Five.",)),
    ]


def test_positions_order_the_rows() -> None:
    text = "Position\tID\tSentence\n10\ta\tLast.\n2\ta\tFirst.\n"
    assert read(text, "tsv") == [("a", ("First.", "Last."))]


def test_a_row_a_document_takes_the_other_columns() -> None:
    assert read("id,s1,s2,s3\na,One.,Two.,\nb,Three.\n") == [("a", ("One.", "Two.")), ("b", ("Three.",))]
    assert read("id,title,sentence1,sentence2\na,A title,One.,Two.\n") == [("a", ("One.", "Two."))]


def test_a_column_of_running_text_is_split() -> None:
    expected = [("a", ("One came.", "Two went.")), ("b", ("Three.",))]
    assert read("id,title,text\na,A title,One came. Two went.\nb,B,Three.\n") == expected
    assert read("text\tid\nOne came. Two went.\ta\nThree.\tb\n", "tsv") == expected


def test_tabbed_text_keeps_its_quotation_marks() -> None:
    assert read('id\tsentence\na\t"Go," he said.\na\tShe "went.\n', "tsv") == [("a", ('"Go," he said.', 'She "went.'))]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        ("name,sentence\na,b\n", "line 1: column 'id' is missing"),
        ("One came.,Two went.\nThree.,Four.\n", "line 1: the header names none of 'id', 'text'"),
        ("id\na\n", "line 1: the header names no column but 'id'"),
        ("id,sentence,sentence\na,b,c\n", "line 1: the header names column 'sentence' twice"),
        ("id,,\na,b,c\n", "line 1: the header names column '' twice"),
        ("id;text\na;One, two.\n", "line 1: its columns are divided by semicolons"),
        ('"id";"text"\n"a";"One."\n', "line 1: the row cannot be read .* stands ';' and not ','"),
        ("id,sentence\na,One.,Two.\n", "line 2: the row has 3 cells, the header 2"),
        ("id,sentence\n,One.\n", "line 2: the row has no id"),
        ("id,sentence\na,One.\nb,Two.\na,Three.\n", "line 4: document 'a' ended above"),
        ("id,sentence,position\na,One.,x\n", "line 2: 'position' is not a whole number"),
        ("id,sentence,position\na,One.,1\na,Two.,1\n", "line 2: document 'a' has a position twice"),
        ("id,s1,s2\na,,Two.\n", "line 2: sentence 1 is empty"),
        ("id,s1,s2\na,,\n", "line 2: the document has no sentence"),
        ('id,s1\na,"One" two\n', "line 2: the row cannot be read"),
        ('id,s1\na,"' + "x\n" * 100_000, "line 2: the row cannot be read"),
    ],
)
def test_what_is_wrong_is_named(text: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason) as caught:
        read(text)
    assert "\n" not in str(caught.value)


def test_a_broken_row_breaks_its_own_document_only() -> None:
    content = b"id,sentence\na,One.\na,\xff\na,Two.\nb,Three.\nb,Four.,x\nc,Five.\n"
    report = ReadReport()
    documents = list(read_documents(io.BytesIO(content), "csv", "skip", report))
    assert [document.id for document in documents] == ["c"]
    assert report.skipped == 2
    assert report.messages[0].startswith("<stream> line 3: byte 3")


def skipping(content: bytes) -> tuple[list[tuple[str, tuple[str, ...]]], int]:
    report = ReadReport()
    documents = read_documents(io.BytesIO(content), "csv", "skip", report)
    return [(document.id, document.sentences) for document in documents], report.skipped


@pytest.mark.parametrize(
    "broken",
    [
        b'"Line one \xff broken.\nHowever, it was so. More came.\nThen, at last, the end."',
        b'"He said "no" to me.\nHowever, it was so. And more came."',
        b'"He said "no to me."',
        b'"No," he said.',
        b'"One ""two"" \xff\n""three"",\n"',
    ],
)
def test_a_broken_cell_of_several_lines_is_one_bad_row(broken: bytes) -> None:
    content = b'id,text\na,"First one. Second one."\nb,' + broken + b'\nc,"Good. Fine."\n'
    assert skipping(content) == ([("a", ("First one.", "Second one.")), ("c", ("Good.", "Fine."))], 1)


def test_a_line_too_long_to_read_ends_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LONGEST_LINE", 40)
    content = b'id,text\na,"One.\n' + b"x" * 90 + b'"\nb,"' + b"y" * 90 + b'\nTwo, three."\nc,Good.\n'
    assert skipping(content) == ([("c", ("Good.",))], 2)


def test_a_cell_may_be_as_long_as_a_document() -> None:
    before = csv.field_size_limit()
    ((_, sentences),) = read('id,text\nx,"' + "Hello there\nyou. " * 9000 + '"\n')
    assert len(sentences) == 9000 and csv.field_size_limit() == before


def test_a_cell_longer_than_any_document_is_one_bad_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "LARGEST_DOCUMENT", 50)
    content = b'id,text\na,"' + b"One went, two came.\n" * 9 + b'"\nb,Good.\n'
    assert skipping(content) == ([("b", ("Good.",))], 1)


def test_a_bad_first_row_of_a_document_breaks_that_document() -> None:
    start = b"id,sentence\nA,a1.\nA,a2.\n"
    assert skipping(start + b"B,b1 \xff.\nB,b2.\nB,b3.\nC,c1.\n") == ([("A", ("a1.", "a2.")), ("C", ("c1.",))], 1)
    assert skipping(start + b'B,"b1" b.\nB,b2.\nC,c1.\n') == ([("A", ("a1.", "a2.")), ("C", ("c1.",))], 1)


@pytest.mark.parametrize("row", [b"\xff,b1.", b",b1.", b"B,b,b1."])
def test_a_row_of_nobody_breaks_the_documents_on_both_sides(row: bytes) -> None:
    content = b"id,sentence\nA,a1.\n" + row + b"\nB,b2.\nC,c1.\n"
    assert skipping(content) == ([("C", ("c1.",))], 2)
    assert skipping(b"id,sentence\n" + row + b"\nB,b2.\nC,c1.\n") == ([("C", ("c1.",))], 1)


def test_documents_without_an_id_column_are_numbered() -> None:
    assert read("title,text\nA,One came. Two went.\nB,Three.\n") == [
        ("stream-1", ("One came.", "Two went.")),
        ("stream-2", ("Three.",)),
    ]
    assert read("sentence1,sentence2\nOne.,Two.\n") == [("stream-1", ("One.", "Two."))]


PIECES = st.sampled_from(["a", "b c", '"', '""', '"""', ",", "\n", ",\n", '",', ',"', " ", "\r\n"])


@given(st.lists(PIECES, max_size=12).map("".join))
def test_rows_are_those_of_the_csv_module(text: str) -> None:
    expected: list[list[str]] | None
    try:
        found = csv.reader(io.StringIO(text, newline=""), strict=True)
        expected = [[" ".join(cell.split()) for cell in row] for row in found]
    except csv.Error:
        expected = None
    rows = list(cells.read_rows(source.Source("<stream>", stream=io.StringIO(text, newline="")), ",", quoted=True))
    if expected is None:
        assert any(row.error for row in rows)
    else:
        assert not any(row.error for row in rows)
        assert [[" ".join(cell.split()) for cell in row.cells] for row in rows] == [row for row in expected if any(row)]


@given(st.text(max_size=200), st.sampled_from(["csv", "tsv"]))
def test_any_text_gives_documents_or_one_line_errors(text: str, format: str) -> None:
    for start in ("", "id,sentence\n", "id\tone\ttwo\n"):
        try:
            read(start + text, format)
        except DataError as error:
            assert "\n" not in str(error)
