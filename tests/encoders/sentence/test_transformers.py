"""Sentence encoders on pretrained transformers: alone, in pairs, and joined."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModel

from tests.encoders.made_up import CLOSE, OPEN, WORDS, close, collated, corpus, item, pairs_before, shuffled, untouched
from unshuffle.encoders.contracts import Encoded, sentence_encoders
from unshuffle.encoders.sentence import bert as bert_module
from unshuffle.encoders.sentence.bert import Bert
from unshuffle.encoders.sentence.pair_text import shared_fairly
from unshuffle.encoders.sentence.transformer import TransformerConfig
from unshuffle.encoders.sentence.transformer_bilstm import TransformerBiLSTMConfig
from unshuffle.encoders.sentence.transformer_joined import TransformerJoinedConfig
from unshuffle.encoders.sentence.transformer_pair import TransformerPairConfig
from unshuffle.encoders.sentence.transformer_set import TransformerSetConfig
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import Batch, Item
from unshuffle.graph.pairs import ordered_pairs

transformers = pytest.importorskip("transformers")

ITEMS = corpus(pieces=True)
CONFIGS = {
    "mean": TransformerConfig(),
    "first": TransformerConfig(pooling="first"),
    "bilstm": TransformerBiLSTMConfig(width=6),
    "small chunks": TransformerConfig(chunk_tokens=12),
    "pair attention": TransformerPairConfig(longest=12),
    "pair mean": TransformerPairConfig(sentences="mean", chunk_tokens=40),
    "pair alone": TransformerPairConfig(sentences="alone"),
    "set": TransformerSetConfig(alone=1),
    "set from the start": TransformerSetConfig(alone=0, chunk_tokens=40, apart=0.5),
    "joined": TransformerJoinedConfig(),
    "joined in windows": TransformerJoinedConfig(longest=12, alternate=False),
    "joined marks": TransformerJoinedConfig(pooling="first"),
}
every_encoder = pytest.mark.parametrize("name", CONFIGS)


def built(config: Any, source: str) -> Any:
    torch.manual_seed(0)
    options = {**sentence_encoders.write(config), "source": source}
    encoder = sentence_encoders.build(sentence_encoders.read(options), words=WORDS)
    assert isinstance(encoder, nn.Module)
    return encoder.eval()


def states_of(encoder: Any, ids: list[int], segments: list[int] | None = None) -> Tensor:
    """What the transformer says of one sequence, called as its makers do; BERT is the library's own."""
    arguments = {} if segments is None else {"token_type_ids": torch.tensor([segments])}
    model = encoder.pieces.model
    if isinstance(model, Bert):
        model = AutoModel.from_pretrained(encoder.config.source).eval()
    states: Tensor = model(input_ids=torch.tensor([ids]), **arguments).last_hidden_state[0]
    return states


def texts(items: list[Item]) -> list[list[int]]:
    return [words.tolist() for item in items for words in item.words]


def entities_by_hand(batch: Batch, pieces_of: Any) -> Tensor:
    """`pieces_of(sentence, flat word)`: the vectors of a piece of a mention, as many as there are."""
    rows = []
    for entity in range(batch.graph.entities):
        means = []
        for mention, (owner, sentence) in enumerate(batch.graph.mentions.T.tolist()):
            words = [int(word) for number, word in batch.spans.T.tolist() if number == mention]
            found = [vector for word in words for vector in pieces_of(sentence, word)]
            if owner == entity and found:
                means.append(torch.stack(found).mean(0))
        rows.append(torch.stack(means).mean(0) if means else torch.zeros(8))
    return torch.stack(rows)


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


@pytest.mark.parametrize("name", [name for name in CONFIGS if name.startswith("pair")])
def test_a_pair_that_stands_in_a_batch_twice_is_read_once(
    name: str, bert: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = built(CONFIGS[name], bert)
    once = encoder(collated(ITEMS))
    read = []
    forward = encoder.pieces.forward
    monkeypatch.setattr(encoder.pieces, "forward", lambda ids, *rest: read.append(len(ids)) or forward(ids, *rest))
    encoder(collated(ITEMS))
    alone = read.copy()
    read.clear()
    twice = encoder(collated([*ITEMS, *ITEMS]))
    assert read == alone
    for field in ("sentences", "entities", "pairs"):
        expected = getattr(once, field)
        close(getattr(twice, field), torch.cat([expected, expected]))


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


def test_a_bilstm_reads_what_a_transformer_that_learns_nothing_says(bert: str) -> None:
    encoder, batch = built(CONFIGS["bilstm"], bert), collated(ITEMS)
    ends = []
    for ids in texts(ITEMS):
        _, (last, _) = encoder.lstm(states_of(encoder, ids))
        ends.append(last.flatten())
    close(encoder(batch).sentences, torch.stack(ends))
    close(encoder(batch).entities, built(CONFIGS["mean"], bert)(batch).entities)
    trained = {name.partition(".")[0] for name, value in encoder.named_parameters() if value.requires_grad}
    assert trained == {"lstm"}


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


def test_a_set_whose_sentences_are_far_apart_is_read_sentence_by_sentence(bert: str) -> None:
    batch = collated(ITEMS)
    apart, plain = built(TransformerSetConfig(alone=1, apart=-1e9), bert)(batch), built(CONFIGS["mean"], bert)(batch)
    close(apart.sentences, plain.sentences)
    close(apart.entities, plain.entities)


def test_the_sentences_of_a_set_hear_each_other_piece_by_piece(bert: str) -> None:
    """Without a bias the pieces of a document are one sequence, but for their places, which begin anew."""
    document = ITEMS[:1]
    encoder = built(TransformerSetConfig(alone=0, apart=0.0), bert)
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


def test_a_set_needs_layers_to_meet_in(bert: str, bart: str) -> None:
    with pytest.raises(ConfigError, match="alone: there are only"):
        built(TransformerSetConfig(alone=9), bert)
    with pytest.raises(ConfigError, match="only a BERT"):
        built(CONFIGS["set"], bart)


def test_pairs_are_read_one_behind_the_other(bert: str) -> None:
    encoder, batch = built(CONFIGS["pair attention"], bert), collated(ITEMS)
    sentences, pairs = texts(ITEMS), ordered_pairs(batch.graph).T.tolist()
    relations: list[Tensor] = []
    halves: list[list[Tensor]] = [[] for _ in sentences]
    seen: list[dict[int, list[Tensor]]] = [{} for _ in sentences]
    for one, other in pairs:
        first, second = (sentences[number][1:-1] for number in (one, other))
        if len(first) + len(second) > 9:  # what is left of 12 by the three marks
            room = max(4, 9 - len(second)), max(4, 9 - len(first))
            first, second = first[: room[0]], second[: room[1]]
        ids = [OPEN, *first, CLOSE, *second, CLOSE]
        cut = len(first) + 2
        states = states_of(encoder, ids, [0] * cut + [1] * (len(ids) - cut))
        relations.append(states[0])
        for number, rows in ((one, states[1:cut]), (other, states[cut:])):
            share = torch.softmax(encoder.gather.piece_score(rows)[:, 0], 0)
            halves[number].append(share @ rows)
            for place, row in enumerate(rows[:-1], 1):
                seen[number].setdefault(place, []).append(row)
    expected = []
    for rows in halves:
        table = torch.stack(rows) if rows else torch.zeros(1, 8)
        expected.append(torch.softmax(encoder.gather.half_score(table)[:, 0], 0) @ table)
    encoded = encoder(batch)
    close(encoded.pairs, torch.stack(relations))
    close(encoded.sentences, torch.stack(expected))
    start = batch.tokens.lengths.cumsum(0) - batch.tokens.lengths

    def pieces_of(sentence: int, word: int) -> list[Tensor]:
        rows = seen[sentence].get(word - int(start[batch.tokens.distinct[sentence]]))
        return [torch.stack(rows).mean(0)] if rows else []

    close(encoded.entities, entities_by_hand(batch, pieces_of))


def test_sentences_may_be_the_mean_of_their_pairs_or_read_alone(bert: str) -> None:
    batch = collated(ITEMS[:1])
    mean, alone = built(CONFIGS["pair mean"], bert), built(CONFIGS["pair alone"], bert)
    encoded = mean(batch)
    close(encoded.sentences, encoded.pairs.view(5, 4, 8).mean(1))
    close(alone(batch).sentences, torch.stack([states_of(alone, ids)[0] for ids in texts(ITEMS[:1])]))


def test_bart_puts_two_separators_between_the_sentences_of_a_pair(bart: str) -> None:
    encoder = built(TransformerPairConfig(sentences="mean"), bart)
    one, other = texts([item([3, 4], pieces=True)])
    encoded = encoder(collated([item([3, 4], pieces=True)]))
    close(encoded.pairs[0], states_of(encoder, [*one, CLOSE, *other[1:]])[0])
    close(encoded.pairs[1], states_of(encoder, [*other, CLOSE, *one[1:]])[0])


def test_room_is_shared_fairly() -> None:
    one, other = torch.tensor([2, 9, 9, 3, 0]), torch.tensor([3, 2, 9, 9, 20])
    kept_one, kept_other = shared_fairly(one, other, 9)
    assert kept_one.tolist() == [2, 7, 4, 3, 0]
    assert kept_other.tolist() == [3, 2, 4, 6, 9]
    assert [kept.tolist() for kept in shared_fairly(other, one, 9)] == [kept_other.tolist(), kept_one.tolist()]


@pytest.mark.parametrize("name", ["joined", "joined in windows", "joined marks"])
def test_joined_sentences_are_one_sequence_with_a_mark_before_each(name: str, bert: str) -> None:
    encoder, batch = built(CONFIGS[name], bert), collated(ITEMS)
    longest = encoder.longest
    assert longest == (12 if name == "joined in windows" else 32)
    vectors, seen = [], []
    for document in ITEMS:
        windows: list[list[tuple[int, list[int]]]] = []
        for place, words in enumerate(document.words):
            kept = words.tolist()[:-1][: longest - 1]
            if not windows or sum(len(ids) for _, ids in windows[-1]) + len(kept) > longest - 1:
                windows.append([])
            windows[-1].append((place % 2, kept))
        for window in windows:
            ids = [word for _, kept in window for word in kept] + [CLOSE]
            segments = [segment for segment, kept in window for _ in kept]
            segments = [*segments, segments[-1]] if longest == 32 else [0] * len(ids)
            states = states_of(encoder, ids, segments)
            first = 0
            for _, kept in window:
                own = states[first : first + len(kept)]
                vectors.append(own[0] if name == "joined marks" or len(kept) == 1 else own[1:].mean(0))
                seen.append(own)
                first += len(kept)
    encoded = encoder(batch)
    close(encoded.sentences, torch.stack(vectors))
    start = batch.tokens.lengths.cumsum(0) - batch.tokens.lengths

    def pieces_of(sentence: int, word: int) -> list[Tensor]:
        return [seen[sentence][word - int(start[batch.tokens.distinct[sentence]])]]

    close(encoded.entities, entities_by_hand(batch, pieces_of))
