"""From documents to graphs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.documents import random_document, stories
from unshuffle.graph.build import EntityRule, EntityVocabulary, GraphConfig, build_graph
from unshuffle.graph.relations import Related
from unshuffle.text.document import Document, Mention, Role


def words_by_sentence(document: Document) -> list[set[str]]:
    found: list[set[str]] = [set() for _ in document.sentences]
    for mention in document.mentions or ():
        found[mention.sentence].add(mention.word)
    return found


@given(st.integers(1, 7), st.integers(0, 1000))
def test_sentences_are_linked_when_they_share_an_entity(size: int, seed: int) -> None:
    document = random_document(np.random.default_rng(seed), size)
    graph = build_graph(document, GraphConfig())
    words = words_by_sentence(document)
    expected = [(i, j) for i in range(size) for j in range(i + 1, size) if words[i] & words[j]]
    assert [tuple(pair) for pair in graph.pairs.T.tolist()] == expected
    assert all(sum(word in own for own in words) >= 2 for word in graph.words)


def test_an_entity_needs_two_sentences_unless_told_otherwise() -> None:
    document = stories()[0]
    assert build_graph(document, GraphConfig()).words == ("box", "key")
    every = build_graph(document, GraphConfig(entities=EntityRule(minimum_sentences=1)))
    assert every.words == ("box", "jar", "key", "kitchen", "stairs")
    chosen = build_graph(document, GraphConfig(), vocabulary=EntityVocabulary(frozenset({"key"})))
    assert chosen.words == ("key",)


def test_the_highest_role_of_a_word_in_a_sentence_counts() -> None:
    mentions = (
        Mention("cat", 0, Role.OTHER),
        Mention("cat", 1, Role.OBJECT),
        Mention("cat", 0, Role.SUBJECT),
        Mention("cat", 1, Role.OTHER),
    )
    graph = build_graph(Document(("a", "b"), mentions), GraphConfig())
    assert graph.mentions.tolist() == [[0, 0], [0, 1]]
    assert graph.roles.tolist() == [Role.SUBJECT, Role.OBJECT]


@given(st.integers(0, 1000), st.randoms(use_true_random=False))
def test_the_order_in_which_mentions_are_listed_changes_nothing(seed: int, random: object) -> None:
    document = random_document(np.random.default_rng(seed), 6)
    assert document.mentions is not None
    listed = list(document.mentions)
    random.shuffle(listed)  # type: ignore[attr-defined]
    one, other = (
        build_graph(document, GraphConfig()),
        build_graph(replace(document, mentions=tuple(listed)), GraphConfig()),
    )
    assert one.words == other.words
    for name in ("mentions", "roles", "pairs"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_all_pairs_can_be_linked_and_long_documents_are_spared() -> None:
    document = replace(stories()[0], mentions=())
    assert build_graph(document, GraphConfig()).pairs.shape == (2, 0)
    assert build_graph(document, GraphConfig(links="all")).pairs.shape == (2, 6)
    assert build_graph(document, GraphConfig(links="all", all_up_to=3)).pairs.shape == (2, 0)


@given(st.integers(2, 6), st.integers(0, 1000))
def test_permuting_turns_weights_with_their_pairs(size: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    graph = build_graph(random_document(draw, size), GraphConfig(links="all"))
    graph = replace(graph, weights=draw.random(graph.pairs.shape[1]).astype(np.float32))
    permutation = draw.permutation(size)
    moved = graph.permuted(permutation)
    assert (moved.pairs[0] < moved.pairs[1]).all()
    assert graph.weights is not None and moved.weights is not None
    before = {(int(i), int(j)): float(w) for i, j, w in zip(*graph.pairs, graph.weights, strict=True)}
    for one, other, weight in zip(*moved.pairs, moved.weights, strict=True):
        i, j = int(permutation[one]), int(permutation[other])
        assert weight == pytest.approx(before[i, j] if i < j else 1 - before[j, i])
    back = moved.permuted(np.argsort(permutation))
    np.testing.assert_array_equal(back.pairs, graph.pairs)
    np.testing.assert_array_equal(back.mentions, graph.mentions)
    np.testing.assert_allclose(back.weights, graph.weights, atol=1e-6)


def test_relations_are_asked_of_the_entities_in_the_order_of_their_numbers() -> None:
    asked = []

    def relatedness(words: object) -> Related:
        asked.append(words)
        return Related(np.array([[0], [1]]), np.array([0.9], np.float32))

    graph = build_graph(stories()[0], GraphConfig(), relatedness=relatedness)
    assert asked == [("box", "key")]
    assert graph.relations.tolist() == [[0], [1]]
