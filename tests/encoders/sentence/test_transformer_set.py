"""The transformer whose sentences hear each other."""

from dataclasses import replace

import pytest
import torch
from transformers import AutoModel

from tests.encoders.made_up import close, collated
from tests.encoders.sentence.transformers_at_hand import CONFIGS, ITEMS, built, texts
from unshuffle.encoders.pretrained import bert as bert_module
from unshuffle.encoders.sentence.transformer_set import TransformerSetConfig
from unshuffle.errors import ConfigError


def test_a_set_whose_sentences_are_far_apart_is_read_sentence_by_sentence(bert: str) -> None:
    batch = collated(ITEMS)
    apart, plain = (
        built(TransformerSetConfig(alone=1, between_bias=-1e9), bert)(batch),
        built(CONFIGS["mean"], bert)(batch),
    )
    close(apart.sentences, plain.sentences)
    close(apart.entities, plain.entities)


def test_the_sentences_of_a_set_hear_each_other_piece_by_piece(bert: str) -> None:
    """Without a bias the pieces of a document are one sequence, but for their places, which begin anew."""
    document = ITEMS[:1]
    encoder = built(TransformerSetConfig(alone=0, between_bias=0.0), bert)
    model = AutoModel.from_pretrained(bert).eval()
    sentences = texts(document)
    places = torch.tensor([[place for ids in sentences for place in range(len(ids))]])
    joined = torch.tensor([[word for ids in sentences for word in ids]])
    states = model(input_ids=joined, position_ids=places).last_hidden_state[0]
    rows = torch.split(states, [len(ids) for ids in sentences])
    close(encoder(collated(document)).sentences, torch.stack([each[1:].mean(0) for each in rows]))


def test_long_texts_meet_some_places_at_a_time(bert: str, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, batch = built(CONFIGS["set"], bert), collated(ITEMS)
    at_once = encoder(batch)
    monkeypatch.setattr(bert_module, "MASK_CELLS", 50)
    close(encoder(batch).sentences, at_once.sentences)


@pytest.mark.parametrize("training", [False, True])
def test_equal_sentences_of_a_set_stay_equal(training: bool, bert: str) -> None:
    (document,) = ITEMS[:1]
    twice = replace(document, words=(document.words[1], *document.words[1:]))
    encoder = built(replace(CONFIGS["set"], dropout=0.0, inner_dropout=0.0), bert).train(training)
    encoded = encoder(collated([twice, document]))
    close(encoded.sentences[0], encoded.sentences[1])
    assert not torch.allclose(encoded.sentences[1], encoded.sentences[1 + len(document.words)])


@pytest.mark.parametrize("bias", [-2.5, 0.0, 0.7])
def test_training_reads_a_set_as_inference_does(bias: float, bert: str) -> None:
    config = replace(CONFIGS["set"], between_bias=bias, dropout=0.0, inner_dropout=0.0)
    encoder, batch = built(config, bert), collated(ITEMS)
    read = encoder(batch).sentences
    trained = encoder.train()(batch).sentences
    close(trained, read)
    trained.square().sum().backward()
    assert encoder.apart.grad.abs().min() > 0  # every layer and head learns its bias


def test_a_set_needs_layers_to_meet_in(bert: str, bart: str) -> None:
    with pytest.raises(ConfigError, match="alone: there are only"):
        built(TransformerSetConfig(alone=9), bert)
    with pytest.raises(ConfigError, match="only a BERT"):
        built(CONFIGS["set"], bart)
