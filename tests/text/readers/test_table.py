from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unshuffle.errors import DataError
from unshuffle.text.readers import ReadReport, read_documents


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
        ("name,sentence\na,b\n", "line 1: the header must name"),
        ("id\na\n", "line 1: the header must name"),
        ("id,sentence,sentence\na,b,c\n", "line 1: the header must name"),
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


@given(st.text(max_size=200), st.sampled_from(["csv", "tsv"]))
def test_any_text_gives_documents_or_one_line_errors(text: str, format: str) -> None:
    for start in ("", "id,sentence\n", "id\tone\ttwo\n"):
        try:
            read(start + text, format)
        except DataError as error:
            assert "\n" not in str(error)
