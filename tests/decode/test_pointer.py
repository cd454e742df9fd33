"""The pointer against its equations."""

import torch

from tests.decode.paragraphs import ENCODED, WIDTH, batch, decoder, graph_of, paragraphs, random_orders
from unshuffle.decode.contracts import Gold
from unshuffle.search.contracts import Search


def test_all_steps_at_once_give_what_the_equations_give_one_by_one() -> None:
    model = decoder("pointer")
    sizes = [4, 1, 5]
    parts, orders = paragraphs(sizes), random_orders(sizes)
    cell = torch.nn.LSTMCell(ENCODED, WIDTH).double()
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(cell, name).data = getattr(model.lstm, f"{name}_l0").data
    slow = []
    for part, order in zip(parts, orders, strict=True):
        hidden, memory = part.document, torch.zeros(WIDTH, dtype=torch.float64)
        read = torch.zeros(ENCODED, dtype=torch.float64)
        keys = model.key(torch.cat([part.encoded, part.sentences], 1))
        for step, sentence in enumerate(order):
            hidden, memory = cell(read, (hidden, memory))
            logits = model.score(torch.tanh(model.query(hidden) + keys)).squeeze(1)
            logits[order[:step]] = -torch.inf
            slow.append(logits.log_softmax(0)[sentence])
            read = part.encoded[sentence]
    torch.testing.assert_close(model.transitions(*batch(parts), Gold.of(orders)), torch.stack(slow))


def test_the_loss_is_the_negative_log_likelihood_a_document() -> None:
    model = decoder("pointer")
    states, graph = batch(paragraphs([4, 2]))
    gold = Gold.of(random_orders([4, 2]))
    torch.testing.assert_close(model.loss(states, graph, gold), -model.transitions(states, graph, gold).sum() / 2)


def test_single_precision_finds_the_same_orders_for_every_shuffle() -> None:
    model = decoder("pointer").float()
    part = paragraphs([8])[0]
    graph = graph_of([8])
    shuffles = random_orders([8] * 5, seed=1)

    def found(order: list[int]) -> list[tuple[int, ...]]:
        moved, _ = batch([part.permuted(order)])
        single = type(moved)(
            type(moved.encoded)(moved.encoded.sentences.float(), moved.encoded.entities),
            moved.sentences.float(),
            moved.documents.float(),
        )
        (some,) = model.search(single, graph, Search(beam=32))
        return [tuple(order[sentence] for sentence in best) for best in some.orders]

    assert all(found(shuffle) == found(list(range(8))) for shuffle in shuffles)
