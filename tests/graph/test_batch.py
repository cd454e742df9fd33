"""Documents laid end to end."""

from dataclasses import fields, replace

import numpy as np
import torch

from tests.encoders.made_up import corpus
from unshuffle.graph.batch import Batch, collate, select
from unshuffle.layers.segments import pad_documents, sentence_mask


def test_each_documents_part_is_the_document_itself() -> None:
    items = corpus()
    batch = collate(items)
    graph = batch.graph
    first_entity = (graph.entity_counts.cumsum(0) - graph.entity_counts).tolist()
    assert batch.weights is not None and batch.topics is not None
    for number, item in enumerate(items):
        start = int(graph.first_sentence[number])
        own = graph.document_of_sentence == number
        assert int(own.sum()) == item.graph.sentences
        of_pair = own[graph.pairs[0]]
        np.testing.assert_array_equal(graph.pairs[:, of_pair] - start, item.graph.pairs)
        np.testing.assert_array_equal(batch.weights[of_pair], item.graph.weights)
        of_mention = own[graph.mentions[1]]
        expected = item.graph.mentions + np.array([[first_entity[number]], [start]])
        np.testing.assert_array_equal(graph.mentions[:, of_mention], expected)
        np.testing.assert_array_equal(graph.roles[of_mention], item.graph.roles)
        related = graph.document_of_entity[graph.relations[0]] == number
        np.testing.assert_array_equal(graph.relations[:, related] - first_entity[number], item.graph.relations)
        np.testing.assert_array_equal(batch.topics[own], item.topics)


def test_words_can_be_read_back_and_equal_sentences_are_stored_once() -> None:
    items = corpus()
    tokens = collate(items).tokens
    texts = torch.split(tokens.ids, tokens.lengths.tolist())
    words = [words for item in items for words in item.words]
    assert len(texts) == len({text.tobytes() for text in words}) < len(words)
    for which, expected in zip(tokens.distinct.tolist(), words, strict=True):
        np.testing.assert_array_equal(texts[which], expected)


def test_spans_point_at_the_words_they_name() -> None:
    items = corpus(pieces=True)
    batch = collate(items)
    mention, word = batch.spans
    at = 0
    for item in items:
        for own, place in item.spans.T:
            sentence = item.graph.mentions[1][own]
            assert batch.tokens.ids[word[at]] == item.words[sentence][place]
            assert batch.graph.roles[mention[at]] == item.graph.roles[own]
            at += 1
    assert at == len(word)


def test_weights_are_given_only_where_every_document_has_them() -> None:
    first, *rest = corpus()
    without = replace(first, graph=replace(first.graph, weights=None))
    assert collate([first, *rest]).weights is not None
    assert collate([without, *rest]).weights is None


def test_a_batch_has_no_place_for_the_true_order() -> None:
    assert {field.name for field in fields(Batch)} == {"tokens", "graph", "entity_words", "spans", "topics", "weights"}


def test_padding_puts_zeros_behind_the_last_sentence() -> None:
    graph = collate(corpus()).graph
    rows = torch.randn(graph.sentences, 3)
    table = pad_documents(rows, graph)
    assert torch.equal(table[sentence_mask(graph)], rows)
    assert not table[~sentence_mask(graph)].any()


def test_selected_documents_are_those_documents_collated() -> None:
    items = corpus()
    whole = collate(items)
    keep = torch.tensor([True, False, True, True])
    part = select(whole.graph, keep)
    expected = collate([item for item, kept in zip(items, keep.tolist(), strict=True) if kept])
    for field in fields(part.graph):
        assert torch.equal(getattr(part.graph, field.name), getattr(expected.graph, field.name)), field.name
    assert whole.weights is not None and expected.weights is not None
    assert torch.equal(whole.weights[part.pairs], expected.weights)
    assert torch.equal(whole.entity_words[part.entities], expected.entity_words)
    assert torch.equal(
        whole.tokens.lengths[whole.tokens.distinct[part.sentences]], expected.tokens.lengths[expected.tokens.distinct]
    )
