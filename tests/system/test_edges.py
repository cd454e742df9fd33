"""Inputs and options that are easy to get wrong, and what users are told about them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import unshuffle
from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_model
from unshuffle.errors import ConfigError, DataError, Doubt, MissingExtra
from unshuffle.system.assemble import agreeing
from unshuffle.system.orderer import Orderer, trusted_parser
from unshuffle.text.language import NOT_ENGLISH

GERMAN = [
    "Der Hund lief am Morgen durch den Garten und suchte seinen Ball.",
    "Danach schlief er auf dem Sofa, weil er sehr müde war.",
]
ENGLISH = ["The dog ran through the garden and looked for its ball.", "Then it slept because it was very tired."]


@pytest.fixture(scope="module")
def orderer(tmp_path_factory: pytest.TempPathFactory) -> Orderer:
    return Orderer(tiny_model("se-grn", tmp_path_factory.mktemp("model"), random_documents(4)))


def test_one_sentence_raises_no_warning(orderer: Orderer) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert orderer.order(["Alone."]).order == (0,)
        assert agreeing((0,), np.zeros((1, 1)), 1.0, 0.1).shape == (1, 1)


def test_text_that_is_not_english_gets_an_answer_and_one_warning(orderer: Orderer) -> None:
    with pytest.warns(UserWarning, match="does not look like English") as told:
        found = list(orderer.order_many([ENGLISH, GERMAN, GERMAN]))
    assert [one.warnings for one in found] == [(), (NOT_ENGLISH,), (NOT_ENGLISH,)]
    assert len(told) == 1 and told[0].filename == __file__
    assert found[1].to_json()["warnings"] == [NOT_ENGLISH]
    with pytest.warns(UserWarning, match="does not look like English") as told:
        assert orderer.order(GERMAN).warnings == (NOT_ENGLISH,)
    assert told[0].filename == __file__ and told[0].category is Doubt
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert orderer.order(ENGLISH).warnings == ()


class Frame:
    """As much of a table as counts: it has columns, and iterating it gives their names."""

    columns = ("id", "sentences")

    def __iter__(self):  # noqa: ANN204
        return iter(self.columns)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (Frame(), "it is a table. Give one of its columns"),
        (np.array([["a", "b"], ["c", "d"]]), "an array of 2 dimensions. Give one"),
        (np.array("a"), "an array of 0 dimensions"),
        ({"sentences": ENGLISH}, "of type dict. Give text or a list"),
        (b"One. Two.", "of type bytes"),
        (bytearray(b"One."), "of type bytearray"),
        (3, "of type int"),
        (None, "of type NoneType"),
        (["One.", 3], "sentence 1 is not text"),
    ],
)
def test_what_is_no_document_is_refused_in_one_line(orderer: Orderer, given: object, error: str) -> None:
    for call in (orderer.order, orderer.coherence):
        with pytest.raises(DataError, match=error) as raised:
            call(given)  # type: ignore[operator]
        assert "\n" not in str(raised.value)


def test_a_column_of_a_table_and_an_array_of_one_dimension_are_documents(orderer: Orderer) -> None:
    assert sorted(orderer.order(np.array(ENGLISH)).order) == [0, 1]


@pytest.mark.parametrize("judge", [lambda one, other: 0.5, object(), "http://localhost:8080/v1", unshuffle.ChatJudge])
def test_what_cannot_be_asked_is_no_judge(orderer: Orderer, judge: object) -> None:
    for call in (lambda: orderer.order(ENGLISH, judge=judge), lambda: unshuffle.PairRanker(judge=judge)):  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match=r"PairRanker\(compare=\.\.\.\)"):
            call()


def test_an_unknown_option_is_named_with_the_function_and_what_was_meant(orderer: Orderer) -> None:
    with pytest.raises(TypeError, match=r"^order: there is no option 'bean'\. Did you mean 'beam'\?$"):
        orderer.order(ENGLISH, bean=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^order_many: there is no option 'x'\. There are: beam, n_best"):
        orderer.order_many([ENGLISH], x=3)  # type: ignore[call-arg]


def test_the_package_lists_what_it_offers() -> None:
    assert {name for name in dir(unshuffle) if not name.startswith("__")} == set(unshuffle.__all__) - {"__version__"}
    assert "__version__" in dir(unshuffle)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ([ENGLISH, GERMAN], r"^document: it is a list of documents\. Give a list of strings, or call `order_many`\.$"),
        (["One.", 3], r"^document: sentence 1 is not text"),
        (set(ENGLISH), r"^document: it is a set, whose sentences have no numbers\. Give a list\.$"),
        (frozenset(ENGLISH), "it is a set"),
    ],
)
def test_one_document_is_not_several_and_has_numbered_sentences(orderer: Orderer, given: object, error: str) -> None:
    for call in (orderer.order, orderer.graph):
        with pytest.raises(DataError, match=error):
            call(given)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("documents", "error"), [(None, "of type NoneType"), (3, "of type int"), ({"a": ENGLISH}, "such as its values")]
)
def test_what_is_no_stream_of_documents_is_refused_at_once(orderer: Orderer, documents: object, error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        orderer.order_many(documents)  # type: ignore[arg-type]


def test_a_batch_size_that_is_no_number_is_refused(orderer: Orderer) -> None:
    with pytest.raises(ConfigError, match=r"^order_many: batch_size is '8'"):
        orderer.order_many([ENGLISH], batch_size="8")  # type: ignore[arg-type]


def test_sentences_given_for_documents_raise_one_warning(orderer: Orderer) -> None:
    with pytest.warns(UserWarning, match="each of the 2 texts was taken as a document.* call `order`") as told:
        assert len(list(orderer.order_many(ENGLISH))) == 2
    assert len(told) == 1 and told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for documents in ([" ".join(ENGLISH), ENGLISH[0]], [[ENGLISH[0]], [ENGLISH[1]]], ENGLISH[:1]):
            list(orderer.order_many(documents))


@pytest.mark.parametrize(
    ("sentences", "warning"),
    [
        ([f"The dog looked for ball {number} in the garden." for number in range(61)], "The text has 61 sentences"),
        ([*ENGLISH, " "], "Sentence 2, counted from 0, is blank"),
        ([ENGLISH[0], ENGLISH[1] + "\0"], "Sentence 1, counted from 0, has a NUL character"),
    ],
)
def test_sentences_whose_order_means_little_get_an_answer_and_a_warning(
    orderer: Orderer, sentences: list[str], warning: str
) -> None:
    with pytest.warns(UserWarning, match=warning):
        (told,) = orderer.order(sentences, n_best=1).warnings
    assert told.startswith(warning)


def test_a_parser_without_spacy_names_the_extra(orderer: Orderer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unshuffle.system.orderer.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"'spacy': every parser but 'rules' and 'none' needs the 'parse' extra"):
        trusted_parser(orderer.model, "spacy")
    assert trusted_parser(orderer.model, "rules") is not None
