"""Documents in the forms in which users have them."""

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from unshuffle.errors import ConfigError, DataError
from unshuffle.text.document import Document, document_of, numbered

TEXT = "Mia picked an apple. She washed it."
SENTENCES = ("Mia picked an apple.", "She washed it.")


class Column(list[object]):
    """Like a column of a table: it has no truth value, and more than a list has."""

    def __bool__(self) -> bool:
        raise ValueError("the truth value of a column is ambiguous")


def test_text_lists_arrays_and_generators_are_documents() -> None:
    forms = [TEXT, list(SENTENCES), SENTENCES, np.array(SENTENCES, dtype=object), Column(SENTENCES), iter(SENTENCES)]
    assert all(document_of(form).sentences == SENTENCES for form in forms)  # type: ignore[arg-type]
    document = Document(SENTENCES, id="apple")
    assert document_of(document) is document


def test_a_column_of_documents_is_numbered() -> None:
    def stream() -> Iterator[str]:
        yield TEXT
        yield "Then she ate it."

    for documents in (Column([TEXT, list(SENTENCES)]), np.array([TEXT, "One."], dtype=object), stream()):
        assert [number for number, _ in numbered(documents)] == [0, 1]  # type: ignore[arg-type]


BAD = [TEXT, [], Document((), id="letter"), None, float("nan"), TEXT]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([], "document 1: it has no sentence"),
        (Document((), id="a: b"), r"document 1 \(id 'a: b'\): it has no sentence"),
        (None, "document 1: it is of type NoneType"),
        (float("nan"), "document 1: it is of type float"),
        (["a", 3], "document 1: sentence 1 is not text"),
        ({"sentences": ["a"]}, "document 1: it is of type dict"),
    ],
)
def test_a_bad_document_is_named_by_its_place_and_id(bad: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(numbered([TEXT, bad]))  # type: ignore[list-item]


def test_bad_documents_are_skipped_and_counted_once() -> None:
    with pytest.warns(UserWarning, match="4 of 6 documents were skipped; the first is document 1: it has no") as told:
        found = list(numbered(BAD, "skip"))  # type: ignore[arg-type]
    assert [number for number, _ in found] == [0, 5] and len(told) == 1


def test_nothing_is_said_where_nothing_is_skipped() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(numbered([TEXT], "skip"))) == 1


class Table:
    columns = ("sentences",)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)


def test_what_is_no_stream_of_documents_is_refused_before_any_is_read() -> None:
    with pytest.raises(ConfigError, match="one document"):
        numbered(TEXT)
    with pytest.raises(ConfigError, match="one of its columns"):
        numbered(Table())
    with pytest.raises(ConfigError, match="'raise' or 'skip'"):
        numbered([TEXT], "ignore")  # type: ignore[arg-type]
