from __future__ import annotations

import gzip
import itertools
from pathlib import Path

import pytest

from unshuffle.errors import DataError
from unshuffle.graph.build import EntityRule, entities_of
from unshuffle.text.document import Mention, Role
from unshuffle.text.readers import ReadReport, read_documents

TEXT = "a dog sees a cat . <eos> the cat runs .\nno noun here\n"


def write(folder: Path, entities: str | None, text: str = TEXT) -> Path:
    (folder / "some.lower").write_text(text)
    if entities is not None:
        (folder / "some.eg").write_text(entities)
    return folder / "some.lower"


def test_entities_beside_the_text_become_mentions(tmp_path: Path) -> None:
    documents = list(read_documents(write(tmp_path, "dog:0-3 cat:0-2|1-3\n\n")))
    assert documents[0].sentences == ("a dog sees a cat .", "the cat runs .")
    assert documents[0].mentions == (
        Mention("cat", 0, Role.OBJECT),
        Mention("cat", 1, Role.SUBJECT),
        Mention("dog", 0, Role.SUBJECT),
    )
    assert documents[1].mentions == ()


def test_the_order_of_the_list_does_not_matter(tmp_path: Path) -> None:
    one = list(read_documents(write(tmp_path, "dog:0-3 cat:0-2|1-3\n\n")))
    other = list(read_documents(write(tmp_path, "cat:1-3|0-2 dog:0-3\n\n")))
    assert one == other


def test_without_entities_the_mentions_are_unknown(tmp_path: Path) -> None:
    assert all(document.mentions is None for document in read_documents(write(tmp_path, None)))


def test_packed_files_find_each_other(tmp_path: Path) -> None:
    (tmp_path / "some.lower.gz").write_bytes(gzip.compress(TEXT.encode()))
    (tmp_path / "some.eg.gz").write_bytes(gzip.compress(b"a:b:1-2\n\n"))
    documents = list(read_documents(tmp_path / "some.lower.gz"))
    assert documents[0].mentions == (Mention("a:b", 1, Role.OBJECT),)


@pytest.mark.parametrize(
    ("entities", "reason"),
    [
        ("dog:0-3\n", r"some\.eg: it has fewer lines than some\.lower"),
        ("dog:0-3\n\n\n", r"some\.lower: it has fewer lines than some\.eg"),
        ("dog:0-4\n\n", r"some\.eg line 1: 'dog:0-4' is not like"),
        ("dog\n\n", r"some\.eg line 1: 'dog' is not like"),
        (":0-1\n\n", r"some\.eg line 1: ':0-1' is not like"),
        ("dog:2-1\n\n", r"some\.eg line 1: 'dog:2-1' names sentence 2 of 2"),
    ],
)
def test_entities_that_do_not_fit_the_text_are_refused(tmp_path: Path, entities: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        list(read_documents(write(tmp_path, entities)))


def test_a_broken_line_can_be_skipped(tmp_path: Path) -> None:
    report = ReadReport()
    file = write(tmp_path, "dog:9-1\n\n\n", TEXT + "\n")
    assert len(list(read_documents(file, None, "skip", report))) == 1
    assert report.skipped == 2


def test_an_empty_sentence_between_two_marks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"some\.lower line 1: sentence 2 is empty"):
        list(read_documents(write(tmp_path, None, "a dog . <eos> <eos> a cat . <eos>\n")))


@pytest.mark.parametrize(
    ("split", "documents", "entities", "mentions", "pairs", "unlinked"),
    [
        ("train", 2427, 5.73, 14.16, 8.33, 35),
        ("val", 408, 6.26, 15.50, 9.19, 1),
        ("test", 377, 5.84, 14.42, 8.25, 5),
    ],
)
def test_the_nips_files_have_the_published_counts(
    data_folder: Path, split: str, documents: int, entities: float, mentions: float, pairs: float, unlinked: int
) -> None:
    file = data_folder / "nips" / "raw" / f"{split}.lower"
    if not file.is_file():
        pytest.skip(f"needs the public NIPS files: {file.name} is not in the data folder")
    found = [entities_of(document, EntityRule()) for document in read_documents(file)]
    linked = [
        {
            pair
            for entity in document
            for pair in itertools.combinations([mention.sentence for mention in entity.mentions], 2)
        }
        for document in found
    ]
    assert len(found) == documents
    assert round(sum(map(len, found)) / documents, 2) == entities
    assert round(sum(len(entity.mentions) for document in found for entity in document) / documents, 2) == mentions
    assert round(sum(map(len, linked)) / documents, 2) == pairs
    assert sum(not pairs_of for pairs_of in linked) == unlinked
