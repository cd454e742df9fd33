"""The decoder with future and history keys against its equations, step by step."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.decode.paragraphs import ENCODED, WIDTH, Paragraph, batch, decoder, graph_of, paragraphs, random_orders
from unshuffle.decode.contracts import Gold, decoders
from unshuffle.decode.future_history import FutureHistoryConfig
from unshuffle.decode.pairs.vectors import PairVectors, future_loss, history_loss
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import ordered_pairs


def pair_vector(model: Any, part: Paragraph, module: int, one: int, other: int) -> Tensor:
    """phi(one, other) and its probabilities, straight from the two layers."""
    if model.networks is None:
        vector, head = part.pairs[one, other], model.encoded_pairs.head
    else:
        networks = model.networks
        first = [layer.weight.chunk(3)[module] for layer in (networks.from_one, networks.from_other)]
        joined = torch.cat([part.encoded[one], part.encoded[other]])
        hidden = (torch.cat(first, 1) @ joined).relu()
        vector, head = (networks.second[module].weight @ hidden).relu(), networks.heads[module]
    return torch.cat([vector, head(vector).softmax(0)])


def step_logits(model: Any, part: Paragraph, hidden: Tensor, chosen: list[int]) -> Tensor:
    """The score of each sentence that is left, candidate by candidate."""
    size = len(part)
    left = [sentence for sentence in range(size) if sentence not in chosen]
    logits = torch.full((size,), -torch.inf, dtype=torch.float64)
    width = model.pair_key.in_features // 4
    for candidate in left:

        def history(module: int, back: int, candidate: int = candidate) -> Tensor:
            if len(chosen) < back:
                return torch.zeros(width, dtype=torch.float64)
            pair = (candidate, chosen[-back]) if model.networks is not None else (chosen[-back], candidate)
            return pair_vector(model, part, module, *pair)

        others = [other for other in left if other != candidate]
        divisor = size if model.config.divide == "sentences" else max(len(others), 1)
        nothing = torch.zeros(width, dtype=torch.float64)
        later = sum((pair_vector(model, part, 0, candidate, other) for other in others), nothing) / divisor
        earlier = sum((pair_vector(model, part, 0, other, candidate) for other in others), nothing) / divisor
        key = model.pair_key(torch.cat([history(1, 1), history(2, 2), later, earlier]))
        if model.config.keys != "pair":
            sentence_key = model.key(torch.cat([part.encoded[candidate], part.sentences[candidate]]))
            key = key + sentence_key if model.merge is None else model.merge(torch.cat([key, sentence_key]))
        logits[candidate] = model.score(torch.tanh(model.query(hidden) + key))
    return logits


def slow_transitions(model: Any, part: Paragraph, order: list[int]) -> Tensor:
    cell = torch.nn.LSTMCell(ENCODED, WIDTH).double()
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(cell, name).data = getattr(model.lstm, f"{name}_l0").data
    hidden, memory = part.document, torch.zeros(WIDTH, dtype=torch.float64)
    read = torch.zeros(ENCODED, dtype=torch.float64)
    chosen: list[int] = []
    found = []
    for sentence in order:
        hidden, memory = cell(read, (hidden, memory))
        found.append(step_logits(model, part, hidden, chosen).log_softmax(0)[sentence])
        read = part.encoded[sentence]
        chosen.append(sentence)
    return torch.stack(found)


@pytest.mark.parametrize("name", ["fh-pair", "fh-concatenate", "fh-encoded"])
def test_all_steps_at_once_give_what_the_equations_give_one_by_one(name: str) -> None:
    model = decoder(name)
    parts = paragraphs([4, 1, 5, 2])
    orders = random_orders([4, 1, 5, 2])
    slow = torch.cat([slow_transitions(model, part, order) for part, order in zip(parts, orders, strict=True)])
    torch.testing.assert_close(model.transitions(*batch(parts), Gold.of(orders)), slow)


@pytest.mark.parametrize("name", ["fh-concatenate", "fh-encoded"])
def test_pairs_in_portions_give_the_same_tables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, given = decoder(name), batch(paragraphs([4, 1, 5, 2]))
    whole = model.memory(*given).tables
    monkeypatch.setattr("unshuffle.decode.future_history.PAIRS_AT_ONCE", 3)
    portions = model.memory(*given).tables
    for field in ("future", "last", "before_last"):
        torch.testing.assert_close(getattr(portions, field), getattr(whole, field))


def asked(pairs: Tensor) -> PairVectors:
    logits = torch.zeros(pairs.shape[1], 2, requires_grad=True)
    return PairVectors(pairs, torch.zeros(0), logits)


def test_the_future_is_asked_about_all_pairs() -> None:
    sizes, orders = [4, 1, 3], random_orders([4, 1, 3])
    graph = graph_of(sizes)
    gold = Gold.of(orders)
    said = asked(ordered_pairs(graph))
    loss = future_loss(said, graph, gold, "document")
    per_document = [math.log(2) * size * (size - 1) / size for size in sizes]
    assert float(loss.detach()) == pytest.approx(sum(per_document) / 3)
    assert float(future_loss(said, graph, gold, "choice").detach()) == pytest.approx(math.log(2) * 2 / 3)
    (pull,) = torch.autograd.grad(loss, said.logits)
    later = gold.position[said.pairs[0]] > gold.position[said.pairs[1]]
    assert ((pull[:, 1] < 0) == later).all()  # class 1: the first comes after the other


@pytest.mark.parametrize("distance", [1, 2])
def test_history_asks_about_the_right_one_and_one_wrong_one_a_row(distance: int) -> None:
    graph = graph_of([6])
    gold = Gold.of(random_orders([6]))
    pairs = ordered_pairs(graph)
    apart = gold.position[pairs[0]] - gold.position[pairs[1]]
    drawn = torch.zeros(pairs.shape[1])
    torch.manual_seed(0)
    for _ in range(300):
        said = asked(pairs)
        loss = history_loss(said, distance, graph, gold, "document")
        assert float(loss.detach()) == pytest.approx(math.log(2) * (2 * 6 - 3) / 6)
        (pull,) = torch.autograd.grad(loss, said.logits)
        assert ((pull[:, 1] < 0) == (apart == distance)).all()
        wrong = pull[:, 1] > 0
        assert torch.bincount(pairs[0][wrong], minlength=6).max() == 1
        assert (apart[wrong] > 0).all()
        drawn += wrong
    last = pairs[0] == int((gold.position == 5).nonzero())
    could = last & (apart > 0) & (apart != distance)  # four others, each drawn about one time in four
    assert (drawn[could] / 300).tolist() == pytest.approx([0.25] * 4, abs=0.1)


def test_pair_vectors_need_a_pair_encoder() -> None:
    with pytest.raises(ConfigError, match=r"decoder\.pairs: 'encoded' needs"):
        decoders.build(FutureHistoryConfig(pairs="encoded"), width=WIDTH, encoded_width=ENCODED)


def test_every_weight_learns() -> None:
    for name in ("fh-pair", "fh-concatenate", "fh-encoded"):
        model = decoder(name)
        parts = paragraphs([4, 3])
        model.loss(*batch(parts), Gold.of(random_orders([4, 3]))).backward()
        idle = [name for name, weight in model.named_parameters() if weight.grad is None]
        assert idle == []
