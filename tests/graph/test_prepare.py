"""Documents made ready for a network."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.fixtures.documents import stories
from tests.fixtures.systems import tiny_model, tiny_transformer
from unshuffle.encoders.pretrained.checkpoint import pieces_tokenizer
from unshuffle.graph.build import GraphConfig
from unshuffle.graph.prepare import Preparer, windows
from unshuffle.text.document import Document, Mention, Role


def test_a_permuted_item_is_the_item_of_the_permuted_document(tmp_path: Path) -> None:
    preparer = tiny_model("se-grn-relations", tmp_path, stories()).preparer
    for document in stories():
        permutation = [2, 0, 3, 1]
        one, other = preparer.item(document).permuted(permutation), preparer.item(document.permuted(permutation))
        assert [words.tolist() for words in one.words] == [words.tolist() for words in other.words]
        assert one.graph.words == other.graph.words
        assert set(map(tuple, one.graph.pairs.T)) == set(map(tuple, other.graph.pairs.T))
        rows = [set(zip(*item.graph.mentions, item.graph.roles, strict=True)) for item in (one, other)]
        assert rows[0] == rows[1]
        np.testing.assert_array_equal(one.graph.relations, other.graph.relations)


def test_relations_of_a_row_come_from_its_vectors(tmp_path: Path) -> None:
    preparer = tiny_model("se-grn-relations", tmp_path, stories()).preparer
    mentions = tuple(Mention(word, number, Role.OTHER) for word in ("box", "key", "river") for number in (0, 1))
    item = preparer.item(Document(("a box", "a key"), mentions))
    assert item.graph.words == ("box", "key", "river")
    assert item.graph.relations.T.tolist() == [[0, 1]]  # near each other in the made-up vectors
    assert 0.5 <= item.graph.similarity[0] <= 1


def test_spans_are_the_pieces_of_each_mention(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    tokenizer = pieces_tokenizer(str(tiny_transformer(tmp_path)))
    preparer = Preparer(tokenizer=tokenizer, config=GraphConfig(), spans=True)
    mentions = (Mention("box", 0, Role.SUBJECT), Mention("box", 1, Role.OBJECT))
    item = preparer.item(Document(("The box , the Box .", "no boxes but a box"), mentions))
    words = tokenizer.words()
    named = [words[item.words[item.graph.mentions[1][mention]][place]] for mention, place in item.spans.T]
    assert item.spans[0].tolist() == [0, 0, 1] and named == ["box", "box", "box"]


def test_the_first_windows_are_small_and_come_at_once() -> None:
    read = 0

    def documents() -> Iterator[tuple[int, Document]]:
        nonlocal read
        for number in range(1000):
            read += 1
            yield number, Document.from_sentences(["One.", "Two."])

    found = windows(documents())
    assert len(next(found)) == read == 1
    assert [len(window) for window in found] == [8, 64, 256, 256, 256, 159]
