"""Sentence encoders that read words: CNN, LSTM, deep BiLSTM, BiLSTM with topics."""

import json
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.encoders.made_up import TOPICS, WORDS, close, collated, corpus, shuffled, untouched
from unshuffle.encoders.contracts import Encoded, sentence_encoders
from unshuffle.encoders.sentence.bilstm_layers import BiLSTMLayersConfig
from unshuffle.encoders.sentence.bilstm_topics import BiLSTMTopicsConfig
from unshuffle.encoders.sentence.cnn import CNNConfig
from unshuffle.encoders.sentence.lstm import LSTMConfig
from unshuffle.errors import ConfigError

CONFIGS = [
    CNNConfig(filters=5, word_width=6),
    CNNConfig(windows=(2, 3, 4), filters=5, activation="relu", word_width=6),
    LSTMConfig(hidden=5, word_width=6),
    LSTMConfig(hidden=5, word_width=6, vector="hidden", backwards=True),
    BiLSTMLayersConfig(width=8, word_width=6, heads=2),
    BiLSTMLayersConfig(width=8, word_width=6, pooling="last"),
    BiLSTMTopicsConfig(hidden=8, topics=TOPICS, word_width=6),
]
every_encoder = pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{sentence_encoders.kind(config)}")


def built(config: Any) -> Any:
    torch.manual_seed(0)
    encoder = sentence_encoders.build(config, words=WORDS)
    assert isinstance(encoder, nn.Module)
    return encoder.eval()


def sentences_of(encoder: Any) -> list[Tensor]:
    """The words of each sentence as the encoder embeds them."""
    return [encoder.embedding.table.weight[torch.from_numpy(words)] for item in corpus() for words in item.words]


@every_encoder
def test_shapes_are_as_declared(config: Any) -> None:
    encoder, batch = built(config), collated(corpus())
    encoded: Encoded = encoder(batch)
    assert encoded.sentences.shape == (batch.graph.sentences, encoder.width)
    assert encoded.entities.shape == (batch.graph.entities, encoder.entity_width)
    assert encoded.pairs is None and encoder.pair_width == 0 and not encoder.order_sensitive


@every_encoder
def test_batching_changes_no_result(config: Any) -> None:
    encoder, items = built(config), corpus()
    apart = [encoder(collated([item])) for item in items]
    together = encoder(collated(items))
    close(together.sentences, torch.cat([encoded.sentences for encoded in apart]))
    close(together.entities, torch.cat([encoded.entities for encoded in apart]))


@every_encoder
def test_sentences_keep_their_vector_wherever_they_stand(config: Any) -> None:
    encoder, items = built(config), corpus()
    moved, before = shuffled(items)
    close(encoder(collated(moved)).sentences, encoder(collated(items)).sentences[before])


@every_encoder
def test_gradients_reach_every_parameter(config: Any) -> None:
    encoder = built(config)
    encoded = encoder(collated(corpus()))
    (encoded.sentences.square().sum() + encoded.entities.square().sum()).backward()
    assert untouched(encoder) == []


@every_encoder
def test_a_config_survives_json(config: Any) -> None:
    assert sentence_encoders.read(json.loads(json.dumps(sentence_encoders.write(config)))) == config


def test_the_cnn_is_a_convolution_with_zeros_around_the_sentence() -> None:
    encoder = built(CNNConfig(windows=(2, 3, 4), filters=5, activation="relu", word_width=6))
    expected = []
    for words in sentences_of(encoder):
        parts = []
        for size, filters in zip((2, 3, 4), encoder.filters, strict=True):
            around = nn.functional.pad(words.T, ((size - 1) // 2, size // 2))
            kernel = filters.weight.view(5, size, 6).transpose(1, 2)
            parts.append(nn.functional.conv1d(around, kernel, filters.bias).relu().amax(1))
        expected.append(torch.cat(parts))
    close(encoder(collated(corpus())).sentences, torch.stack(expected))


@pytest.mark.parametrize("backwards", [False, True])
def test_the_lstm_stops_where_torch_stops(backwards: bool) -> None:
    both = built(LSTMConfig(hidden=5, word_width=6, backwards=backwards))
    last = built(LSTMConfig(hidden=5, word_width=6, backwards=backwards, vector="hidden"))
    expected = []
    for words in sentences_of(both):
        _, (hidden, cell) = both.lstm(words.flip(0) if backwards else words)
        expected.append(torch.cat([cell[0], hidden[0]]))
    close(both(collated(corpus())).sentences, torch.stack(expected))
    close(last(collated(corpus())).sentences, torch.stack(expected)[:, 5:])


def test_fixed_words_are_not_trained() -> None:
    encoder = built(LSTMConfig(hidden=5, word_width=6, train_words=False))
    assert not encoder.embedding.table.weight.requires_grad


def deep(encoder: Any) -> nn.LSTM:
    """Torch's LSTM of two layers with the encoder's weights."""
    lstm = nn.LSTM(6, 4, num_layers=2, bidirectional=True)
    for depth, layer in enumerate(encoder.layers):
        for name, value in layer.named_parameters():
            getattr(lstm, name.replace("_l0", f"_l{depth}")).data.copy_(value)
    return lstm


def test_layers_are_those_of_torch() -> None:
    encoder = built(BiLSTMLayersConfig(width=8, word_width=6, pooling="last"))
    lstm = deep(encoder)
    expected = [torch.cat([*lstm(words)[1][0][2:]]) for words in sentences_of(encoder)]
    close(encoder(collated(corpus())).sentences, torch.stack(expected))


def test_word_attention_weighs_words_by_a_learned_query() -> None:
    encoder = built(BiLSTMLayersConfig(width=8, word_width=6, heads=2))
    lstm, attention = deep(encoder), encoder.attention
    expected = []
    for words in sentences_of(encoder):
        states = lstm(words)[0]
        key, value = attention.key_value(states).chunk(2, 1)
        heads = []
        for head in range(2):
            part = slice(4 * head, 4 * head + 4)
            share = torch.softmax(key[:, part] @ attention.query[head] / 2, 0)
            heads.append(share @ value[:, part])
        expected.append(attention.output(torch.cat(heads)))
    close(encoder(collated(corpus())).sentences, torch.stack(expected))


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ConfigError, match="heads"):
        built(BiLSTMLayersConfig(width=8, heads=3))


def test_topics_stand_beside_the_words() -> None:
    encoder, batch = built(CONFIGS[-1]), collated(corpus())
    encoded = encoder(batch)
    close(encoded.sentences[:, :8], encoder.bilstm(batch).sentences)
    assert torch.equal(encoded.sentences[:, 8:], batch.topics)


def test_a_topic_model_of_another_size_is_refused() -> None:
    with pytest.raises(ConfigError, match="7 topics"):
        built(BiLSTMTopicsConfig(hidden=8, topics=7))(collated(corpus()))
