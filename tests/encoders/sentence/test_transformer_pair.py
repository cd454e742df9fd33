"""The transformer that reads sentences in pairs."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tests.encoders.made_up import CLOSE, OPEN, close, collated, item
from tests.encoders.sentence.transformers_at_hand import CONFIGS, ITEMS, built, entities_by_hand, states_of, texts
from unshuffle.encoders.pretrained.pair_text import shared_fairly
from unshuffle.encoders.sentence.transformer_pair import TransformerPairConfig
from unshuffle.graph.batch import ordered_pairs


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


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", ["pair mean", "pair alone"])
def test_where_no_entity_is_asked_for_only_the_first_piece_goes_through_the_last_layer(
    name: str, training: bool, bert: str
) -> None:
    encoder, batch = built(CONFIGS[name], bert).double().train(training), collated([*ITEMS, *ITEMS])
    for module in encoder.modules():
        for rate in ("dropped", "attention_dropout"):
            if hasattr(module, rate):
                setattr(module, rate, 0)
    bare = replace(batch, spans=batch.spans[:, :0])
    assert batch.spans.shape[1]
    gradients = []
    for given in (batch, bare):
        encoder.zero_grad()
        encoded = encoder(given)
        (encoded.pairs.square().sum() + encoded.sentences.square().sum()).backward()
        gradients.append([encoded.pairs, *(p.grad.clone() for p in encoder.parameters() if p.grad is not None)])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


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
