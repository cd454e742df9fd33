"""The BiLSTM sentence encoder."""

from dataclasses import replace

import numpy as np
import torch

from tests.encoders.made_up import close, collated, corpus, shuffled, untouched
from unshuffle.encoders.sentence.bilstm import BiLSTM, BiLSTMConfig

WORDS = 40


def encoder(**options: float) -> BiLSTM:
    torch.manual_seed(0)
    return BiLSTM(BiLSTMConfig(width=8, word_width=6, **options), words=WORDS)


def test_a_sentence_is_where_the_two_readers_stop() -> None:
    model = encoder().eval()
    batch = collated(corpus())
    words = [torch.from_numpy(words) for item in corpus() for words in item.words]
    for vector, ids in zip(model(batch).sentences, words, strict=True):
        _, (last, _) = model.lstm(model.embedding.table(ids)[:, None])
        close(vector, last.flatten())


def test_batching_and_shuffling_change_no_vector() -> None:
    model, items = encoder().eval(), corpus()
    together = model(collated(items))
    close(together.sentences, torch.cat([model(collated([item])).sentences for item in items]))
    moved, before = shuffled(items)
    close(model(collated(moved)).sentences, together.sentences[before])


def test_entities_share_the_words_vectors() -> None:
    model = encoder().eval()
    batch = collated(corpus())
    assert torch.equal(model(batch).entities, model.embedding.table.weight[batch.entity_words])


def test_equal_sentences_are_read_once_but_dropped_apart() -> None:
    model = encoder(dropout=0.5, word_dropout=0.0).train()
    item = corpus()[0]
    twice = replace(item, words=(item.words[0],) * len(item.words))
    batch = collated([twice])
    assert len(batch.tokens.lengths) == 1
    first, second = model(batch).sentences[:2]
    assert not torch.equal(first, second)
    model.eval()
    first, second = model(batch).sentences[:2]
    assert torch.equal(first, second)


def test_given_vectors_are_where_training_starts_and_are_trained() -> None:
    vectors = torch.from_numpy(np.random.default_rng(0).normal(size=(WORDS, 6)).astype(np.float32))
    model = BiLSTM(BiLSTMConfig(width=8, word_width=6), words=WORDS, vectors=vectors)
    assert torch.equal(model.embedding.table.weight, vectors)
    encoded = model.eval()(collated(corpus()))
    (encoded.sentences.square().sum() + encoded.entities.square().sum()).backward()
    assert untouched(model) == []
