"""The slots as one network."""

import copy
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
import torch

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import shared_model, tiny_config, tiny_model
from unshuffle.decode.contracts import Gold
from unshuffle.encoders.paragraph.grn import GRNConfig
from unshuffle.encoders.sentence.bilstm import BiLSTMConfig
from unshuffle.graph.batch import collate
from unshuffle.graph.prepare import Item
from unshuffle.search.contracts import Search
from unshuffle.system.config import SystemConfig
from unshuffle.system.folder import Model
from unshuffle.system.network import Network
from unshuffle.system.rows import load_row, system_names

DOCUMENTS = random_documents(9, sentences=(1, 6), seed=5)
every_system = pytest.mark.parametrize("name", system_names())


def prepared(model: Model) -> list[Item]:
    return [model.preparer.item(document) for document in DOCUMENTS]


def gold_of(items: list[Item]) -> Gold:
    """Some order for each document."""
    draw = torch.Generator().manual_seed(0)
    return Gold.of([torch.randperm(item.graph.sentences, generator=draw).tolist() for item in items])


@every_system
@torch.inference_mode()
def test_a_batch_is_its_documents_one_by_one(name: str) -> None:
    model = shared_model(name)
    network, items = model.network, prepared(model)
    whole = collate(items)
    together = network.read(whole)
    found = network.search(together, whole, Search(beam=4, keep=4))
    document_of_pair = whole.graph.document_of_sentence[whole.graph.pairs[0]]
    for number, item in enumerate(items):
        batch = collate([item])
        alone = network.read(batch)
        own = whole.graph.document_of_sentence == number
        torch.testing.assert_close(together.states.sentences[own], alone.states.sentences, rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(together.states.documents[number], alone.states.documents[0], rtol=1e-3, atol=1e-4)
        if together.refined is not None and alone.refined is not None:
            of_pair = document_of_pair == number
            torch.testing.assert_close(together.refined.weights[of_pair], alone.refined.weights, rtol=1e-3, atol=1e-4)
        (expected,) = network.search(alone, batch, Search(beam=4, keep=4))
        assert found[number].orders[0] == expected.orders[0]
        assert found[number].log_probabilities[0] == pytest.approx(expected.log_probabilities[0], abs=1e-3)


@torch.inference_mode()
@pytest.mark.parametrize("name", ["se-grn", "se-grn-relations", "irse-grn"])
def test_the_loss_is_the_mean_over_documents(name: str, tmp_path: Path) -> None:
    model = tiny_model(name, tmp_path, DOCUMENTS)
    items = prepared(model)
    orders = [
        torch.randperm(item.graph.sentences, generator=torch.Generator().manual_seed(1)).tolist() for item in items
    ]
    apart = [model.network(collate([item]), Gold.of([order])) for item, order in zip(items, orders, strict=True)]
    torch.testing.assert_close(
        model.network(collate(items), Gold.of(orders)), torch.stack(apart).mean(), rtol=1e-4, atol=1e-5
    )


@torch.inference_mode()
def test_following_an_order_is_going_step_by_step(tmp_path: Path) -> None:
    """The pointer written out: zero input, then the vector of what was chosen; state of the document to start from."""
    model = tiny_model("se-grn", tmp_path, DOCUMENTS)
    network, pointer = model.network, model.network.decoder
    for item in prepared(model):
        batch = collate([item])
        read = network.read(batch)
        gold = gold_of([item])
        order = gold.flat_order(batch.graph).tolist()
        vectors, states = read.states.encoded.sentences, read.states.sentences
        hidden, cell = read.states.documents[0], torch.zeros_like(read.states.documents[0])
        given, chosen, expected = torch.zeros(vectors.shape[1]), set(), []
        for sentence in order:
            _, (out, kept) = pointer.lstm(given[None, None], (hidden[None, None], cell[None, None]))
            hidden, cell = out[0, 0], kept[0, 0]
            scores = {
                i: pointer.score(torch.tanh(pointer.query(hidden) + pointer.key(torch.cat([vectors[i], states[i]]))))
                for i in range(len(order))
                if i not in chosen
            }
            total = torch.logsumexp(torch.cat(list(scores.values())), 0)
            expected.append(scores[sentence][0] - total)
            chosen.add(sentence)
            given = vectors[sentence]
        torch.testing.assert_close(network.transitions(read, batch, gold), torch.stack(expected), rtol=1e-4, atol=1e-4)


@torch.inference_mode()
@pytest.mark.parametrize("name", ["se-grn", "irse-grn"])
def test_a_beam_of_all_orders_is_an_exhaustive_search(name: str, tmp_path: Path) -> None:
    model = tiny_model(name, tmp_path, DOCUMENTS)
    network = model.network
    items = [item for item in prepared(model) if item.graph.sentences <= 5]
    batch = collate(items)
    read = network.read(batch)
    wide = network.search(read, batch, Search(beam=120, keep=120))
    bounded = network.search(read, batch, Search(beam=120, keep=1))
    for number, item in enumerate(items):
        own = collate([item])
        alone = network.read(own)
        scores = {
            order: float(network.transitions(alone, own, Gold.of([list(order)])).sum())
            for order in permutations(range(item.graph.sentences))
        }
        found = dict(zip(wide[number].orders, wide[number].log_probabilities, strict=True))
        assert found.keys() == scores.keys()
        assert found == pytest.approx(scores, abs=1e-4)
        assert sum(torch.tensor(list(found.values())).exp()) == pytest.approx(1, abs=1e-4)
        best = max(scores, key=scores.__getitem__)
        assert bounded[number].orders == (best,) and wide[number].orders[0] == best


@torch.inference_mode()
@pytest.mark.parametrize("beam", [2, 5, 16])
def test_the_greedy_bound_drops_no_winner(beam: int, tmp_path: Path) -> None:
    documents = random_documents(30, sentences=(2, 9), seed=8)
    model = tiny_model("se-grn", tmp_path, documents)
    batch = collate([model.preparer.item(document) for document in documents])
    read = model.network.read(batch)
    one = model.network.search(read, batch, Search(beam=beam, keep=1))
    many = model.network.search(read, batch, Search(beam=beam, keep=beam))
    assert [found.orders[0] for found in one] == [found.orders[0] for found in many]


@torch.inference_mode()
def test_weights_that_come_with_the_documents_stand_in_for_the_refiner(tmp_path: Path) -> None:
    model = tiny_model("irse-grn", tmp_path, DOCUMENTS)
    batch = collate(prepared(model))
    own = model.network.read(batch)
    assert own.refined is not None
    given = model.network.read(replace(batch, weights=own.refined.weights))
    assert given.refined is None
    assert torch.equal(given.states.sentences, own.states.sentences)
    other = model.network.read(replace(batch, weights=1 - own.refined.weights))
    assert not torch.equal(other.states.sentences, own.states.sentences)


@every_system
def test_a_step_of_training_reaches_every_part(name: str) -> None:
    model = shared_model(name)
    model = replace(model, network=copy.deepcopy(model.network))
    items = [item for item in prepared(model) if item.graph.sentences > 1]
    model.network.train()
    loss = model.network(collate(items), gold_of(items))
    loss.backward()
    assert torch.isfinite(loss)
    trained = {
        part: any(p.grad is not None and bool(p.grad.any()) for p in getattr(model.network, part).parameters())
        for part in ("sentence_encoder", "paragraph_encoder", "decoder")
        if any(p.requires_grad for p in getattr(model.network, part).parameters())
    }
    assert all(trained.values()), trained
    if model.network.refiner is not None:  # trained in stages of its own
        assert all(parameter.grad is None for parameter in model.network.refiner.parameters())


def parameters(network: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def sized(width: int, *, relations: bool = False, link_message: str = "sum", attention: int = 0) -> SystemConfig:
    row = load_row("se-grn").system.write()
    row["sentence_encoder"]["width"] = width
    row["paragraph_encoder"] |= {"relations": relations, "link_message": link_message}
    row["decoder"]["attention_width"] = attention
    return SystemConfig.read(row)


def test_there_are_as_many_parameters_as_in_the_released_programs() -> None:
    """Reference-facts 2.6."""
    assert parameters(Network(sized(300, attention=300), words=11_505)) == 5_064_951
    assert parameters(Network(sized(500), words=1)) - 100 == 9_600_051
    plain = parameters(Network(sized(512), words=1)) - 100
    assert plain == 10_022_595
    related = parameters(Network(sized(512, relations=True), words=1)) - 100
    assert related - plain == 112_651
    bucketed = parameters(Network(sized(512, link_message="bucketed"), words=1)) - 100
    assert bucketed - plain == 576_650 + 50  # ties are a side of their own


def test_the_rows_of_the_paper_have_the_papers_sizes() -> None:
    for name in ("se-grn", "se-grn-relations", "irse-grn"):
        config = load_row(name).system
        assert config.sentence_encoder == BiLSTMConfig(width=512, word_width=100)
        assert config.paragraph_encoder == GRNConfig(
            steps=3,
            entity_width=150,
            role_width=50,
            relations=name != "se-grn",
            link_message="gated" if name == "irse-grn" else "sum",
        )


def test_networks_say_whether_the_order_of_the_input_matters(tmp_path: Path) -> None:
    assert not tiny_model("irse-grn", tmp_path, DOCUMENTS).network.order_sensitive
    options = tiny_config("se-grn", tmp_path).write()
    options["paragraph_encoder"] = {"kind": "lstm", "width": 8}
    assert Network(SystemConfig.read(options), words=10).order_sensitive
