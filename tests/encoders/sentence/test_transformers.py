"""Sentence encoders on pretrained transformers: what all of them must do, and those that read sentences alone."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.encoders.made_up import CLOSE, close, collated, item, pairs_before, shuffled, untouched
from tests.encoders.sentence.transformers_at_hand import CONFIGS, ITEMS, built, entities_by_hand, states_of, texts
from unshuffle.encoders.contracts import Encoded, sentence_encoders
from unshuffle.graph.batch import ordered_pairs

every_encoder = pytest.mark.parametrize("name", CONFIGS)


@every_encoder
def test_shapes_are_as_declared(name: str, bert: str) -> None:
    encoder, batch = built(CONFIGS[name], bert), collated(ITEMS)
    encoded: Encoded = encoder(batch)
    assert encoded.sentences.shape == (batch.graph.sentences, encoder.width)
    assert encoded.entities.shape == (batch.graph.entities, encoder.entity_width)
    assert encoder.order_sensitive == name.startswith("joined")
    assert (encoded.pairs is not None) == name.startswith("pair") == bool(encoder.pair_width)
    if encoded.pairs is not None:
        assert encoded.pairs.shape == (ordered_pairs(batch.graph).shape[1], encoder.pair_width)


@every_encoder
def test_batching_changes_no_result(name: str, bert: str) -> None:
    encoder = built(CONFIGS[name], bert)
    apart, together = [encoder(collated([item])) for item in ITEMS], encoder(collated(ITEMS))
    close(together.sentences, torch.cat([encoded.sentences for encoded in apart]))
    close(together.entities, torch.cat([encoded.entities for encoded in apart]))
    if together.pairs is not None:
        close(together.pairs, torch.cat([encoded.pairs for encoded in apart]))


@every_encoder
def test_only_what_says_so_notices_the_order_of_sentences(name: str, bert: str) -> None:
    encoder, batch = built(CONFIGS[name], bert), collated(ITEMS)
    moved_items, before = shuffled(ITEMS)
    moved_batch = collated(moved_items)
    encoded, moved = encoder(batch), encoder(moved_batch)
    if encoder.order_sensitive:
        assert not torch.allclose(moved.sentences, encoded.sentences[before])
        return
    close(moved.sentences, encoded.sentences[before])
    close(moved.entities, encoded.entities)
    if encoded.pairs is not None:
        close(moved.pairs, encoded.pairs[pairs_before(before, batch.graph, moved_batch.graph)])


@every_encoder
def test_gradients_reach_every_parameter(name: str, bert: str) -> None:
    encoder = built(CONFIGS[name], bert)
    encoded = encoder(collated(ITEMS))
    loss = encoded.sentences.pow(3).sum() + encoded.entities.pow(3).sum()
    if encoded.pairs is not None:
        loss = loss + encoded.pairs.pow(3).sum()
    loss.backward()
    assert untouched(encoder) == []


@every_encoder
def test_a_config_survives_json(name: str) -> None:
    written = json.loads(json.dumps(sentence_encoders.write(CONFIGS[name])))
    assert sentence_encoders.read(written) == CONFIGS[name]


def test_sentences_are_the_mean_of_pieces_without_the_first(bert: str) -> None:
    encoder, batch = built(CONFIGS["mean"], bert), collated(ITEMS)
    states = [states_of(encoder, ids) for ids in texts(ITEMS)]
    start = batch.tokens.lengths.cumsum(0) - batch.tokens.lengths
    encoded = encoder(batch)
    close(encoded.sentences, torch.stack([rows[1:].mean(0) for rows in states]))

    def pieces_of(sentence: int, word: int) -> list[Tensor]:
        return [states[sentence][word - int(start[batch.tokens.distinct[sentence]])]]

    close(encoded.entities, entities_by_hand(batch, pieces_of))
    first = built(CONFIGS["first"], bert)(batch)
    close(first.sentences, torch.stack([rows[0] for rows in states]))


def test_a_sentence_too_long_is_cut_before_its_last_mark(bert: str) -> None:
    """The tiny BERT has 32 positions; of a mention in what is cut off nothing is found."""
    long = item([40], entities=1, seed=3, pieces=True)
    assert long.graph.mentions.shape[1] == 1
    encoder = built(CONFIGS["mean"], bert)
    states = states_of(encoder, [*long.words[0].tolist()[:31], CLOSE])
    for place, expected in [(35, torch.zeros(8)), (4, states[4]), (30, states[30]), (41, states[31])]:
        encoded = encoder(collated([replace(long, spans=np.array([[0], [place]]))]))
        close(encoded.sentences[0], states[1:].mean(0))
        close(encoded.entities[0], expected)
