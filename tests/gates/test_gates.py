"""Gates that every system passes, those of today and those of tomorrow: no order leaks in, none is made up.

Documents go through preparer and network directly, below anything that could bring the input into a fixed order.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import shared_model
from unshuffle.encoders.contracts import Encoded
from unshuffle.evaluation.predict import figures, predict
from unshuffle.graph.batch import collate
from unshuffle.graph.prepare import Item
from unshuffle.metrics.orders import tau
from unshuffle.metrics.pairs import pairwise_accuracy
from unshuffle.refine.iterative import Refined
from unshuffle.search.contracts import Search
from unshuffle.system.folder import Model
from unshuffle.system.orderer import Orderer
from unshuffle.system.rows import system_names
from unshuffle.text.document import Document
from unshuffle.training.classifiers import with_weights

DOCUMENTS = random_documents(14, sentences=(2, 7), seed=31)
NEAR = 1e-4
"""Orders whose log-probabilities differ by less are equal but for rounding."""
every_system = pytest.mark.parametrize("name", system_names())

Found = tuple[tuple[int, ...], float]


@torch.inference_mode()
def found(model: Model, documents: Sequence[Document]) -> list[Found]:
    """Best order of each document and its score, straight from the network."""
    batch = collate([model.preparer.item(document) for document in documents])
    network = model.network
    results = network.search(network.read(batch), batch, Search(beam=8, keep=8))
    return [(result.orders[0], result.log_probabilities[0]) for result in results]


@torch.inference_mode()
def weights(model: Model, documents: Sequence[Document]) -> list[dict[tuple[str, str], float]]:
    """Link weights by the texts of a pair, given for both directions."""
    items = [model.preparer.item(document) for document in documents]
    refined: Refined | None = model.network.read(collate(items)).refined
    if refined is None:
        return []
    parts = torch.split(refined.weights, [item.graph.pairs.shape[1] for item in items])
    return [by_text(document, item, part) for document, item, part in zip(documents, items, parts, strict=True)]


def by_text(document: Document, item: Item, values: Tensor) -> dict[tuple[str, str], float]:
    result = {}
    for (one, other), value in zip(item.graph.pairs.T.tolist(), values.tolist(), strict=True):
        first, second = document.sentences[one], document.sentences[other]
        result[first, second], result[second, first] = value, 1 - value
    return result


def shuffled(documents: Sequence[Document], seed: int) -> list[tuple[Document, list[int]]]:
    draw = np.random.default_rng(seed)
    permutations = [draw.permutation(len(document.sentences)).tolist() for document in documents]
    return [(document.permuted(order), order) for document, order in zip(documents, permutations, strict=True)]


def assert_same_texts(one: Sequence[list[str]], other: Sequence[list[str]], near: Sequence[bool]) -> None:
    """Every order alike; only where two orders are equally good but for rounding may one stand for the other."""
    different = [number for number, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    assert all(near[number] for number in different)
    assert len(different) <= 1


@every_system
def test_shuffling_the_input_shuffles_the_order_alike(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    model = shared_model(name)
    straight = found(model, DOCUMENTS)
    texts = [[doc.sentences[place] for place in order] for doc, (order, _) in zip(DOCUMENTS, straight, strict=True)]
    for seed in (1, 2):
        moved = [document for document, _ in shuffled(DOCUMENTS, seed)]
        again = found(model, moved)
        others = [[doc.sentences[place] for place in order] for doc, (order, _) in zip(moved, again, strict=True)]
        if model.network.order_sensitive:
            share = sum(one != other for one, other in zip(texts, others, strict=True)) / len(texts)
            record_property(f"{name}: share of orders that another input order changes", share)
            continue
        scores = [(before[1], after[1]) for before, after in zip(straight, again, strict=True)]
        np.testing.assert_allclose(*zip(*scores, strict=True), rtol=1e-3, atol=1e-3)
        assert_same_texts(texts, others, [abs(before - after) < NEAR for before, after in scores])
        for before, after in zip(weights(model, DOCUMENTS), weights(model, moved), strict=True):
            assert after == pytest.approx(before, abs=1e-3)


@every_system
def test_the_order_in_which_mentions_are_listed_is_irrelevant(name: str) -> None:
    model = shared_model(name)
    draw = np.random.default_rng(1)
    listed = []
    for document in DOCUMENTS:
        mentions = document.mentions or ()
        listed.append(replace(document, mentions=tuple(mentions[place] for place in draw.permutation(len(mentions)))))
    assert any(one.mentions != other.mentions for one, other in zip(DOCUMENTS, listed, strict=True))
    assert found(model, DOCUMENTS) == found(model, listed)
    assert weights(model, DOCUMENTS) == weights(model, listed)


@every_system
def test_another_true_order_of_the_same_input_changes_nothing(name: str) -> None:
    """Two corpora of the same texts under different true orders, shuffled into the same input."""
    model = shared_model(name)
    relabelled = shuffled(DOCUMENTS, 5)
    one, other = [], []
    draw = np.random.default_rng(6)
    for document, (renamed, order) in zip(DOCUMENTS, relabelled, strict=True):
        permutation = draw.permutation(len(order)).tolist()  # of the first true order
        back = np.argsort(order)
        one.append(document.permuted(permutation))
        other.append(renamed.permuted([int(back[place]) for place in permutation]))
    assert [document.sentences for document in one] == [document.sentences for document in other]
    assert found(model, one) == found(model, other)
    assert weights(model, one) == weights(model, other)


@every_system
def test_predictions_and_trained_on_weights_do_not_depend_on_the_true_order(name: str) -> None:
    """Relabelling the truth shuffles other inputs, but the text that comes out is the same."""
    model = shared_model(name)
    if model.network.order_sensitive:
        pytest.skip("the input order, and with it the shuffle, is allowed to matter to this system")
    relabelled = [document for document, _ in shuffled(DOCUMENTS, 7)]
    orderer = Orderer(model)
    texts = []
    for documents in (DOCUMENTS, relabelled):
        predictions = predict(orderer, documents, shuffles=1, beam=8)
        texts.append(
            [[doc.sentences[place] for place in made.order] for doc, made in zip(documents, predictions, strict=True)]
        )
    scores = zip(found(model, DOCUMENTS), found(model, relabelled), strict=True)
    assert_same_texts(*texts, [abs(before[1] - after[1]) < NEAR for before, after in scores])
    refiner = model.network.refiner
    if refiner is not None and refiner.config.encoder == "own":
        fitted = []
        for documents in (DOCUMENTS, relabelled):
            items = with_weights(refiner, [model.preparer.item(document) for document in documents], seed=1)
            parts = [torch.from_numpy(np.asarray(item.graph.weights)) for item in items]
            rows = zip(documents, items, parts, strict=True)
            fitted.append([by_text(document, item, part) for document, item, part in rows])
        for before, after in zip(*fitted, strict=True):
            assert after == pytest.approx(before, abs=1e-3)


def noisy(model: Model, seed: int = 0) -> Model:
    """Every learned score becomes noise that knows nothing of the text: vectors, and all layers behind them."""
    model = replace(model, network=copy.deepcopy(model.network))
    network = model.network
    draw = torch.Generator().manual_seed(seed)

    def like(value: Tensor) -> Tensor:
        return torch.randn(value.shape, generator=draw, dtype=value.dtype)

    def vectors(module: nn.Module, given: object, encoded: Encoded) -> Encoded:
        return replace(
            encoded,
            sentences=like(encoded.sentences),
            entities=like(encoded.entities),
            pairs=None if encoded.pairs is None else like(encoded.pairs),
        )

    def layer(module: nn.Module, given: object, value: Tensor) -> Tensor:
        return like(value)

    encoders = [network.sentence_encoder]
    for classifier in (network.refiner.initial, network.refiner.iterative) if network.refiner is not None else ():
        if classifier is not None:
            encoders += [classifier.sentence_encoder] if classifier.sentence_encoder is not None else []
            _hook(classifier.head, layer)
    for encoder in encoders:
        encoder.register_forward_hook(vectors)
    _hook(network.decoder, layer)
    return model


def _hook(part: nn.Module, layer: Callable[..., Tensor]) -> None:
    for module in part.modules():
        if isinstance(module, (nn.Linear, nn.Bilinear)):
            module.register_forward_hook(layer)


@every_system
def test_noise_in_place_of_scores_finds_nothing(name: str, record_property: Callable[[str, object], None]) -> None:
    """Whoever scores above chance without having learnt anything has seen the answer."""
    documents = random_documents(200, sentences=6, seed=41)
    model = noisy(shared_model(name))
    measured = figures(predict(Orderer(model), documents, shuffles=1, beam=2)).mean
    record_property(f"{name}: tau of noise", measured.tau)
    assert abs(measured.tau) < 10  # four standard errors of random orders
    assert abs(measured.acc_micro - 100 / 6) < 5
    if model.network.refiner is not None:
        given = shuffled(documents[:150], 8)
        batch = collate([model.preparer.item(document) for document, _ in given])
        with torch.inference_mode():
            refined = model.network.read(batch).refined
        assert refined is not None
        places = torch.tensor([place for _, order in given for place in order])  # the true place of each sentence
        first, second = places[batch.graph.pairs]
        assert len(first) > 1000
        for predicted in (refined.rounds[0].weights, refined.predicted):
            assert abs(pairwise_accuracy(predicted.numpy(), (first < second).numpy()) - 0.5) < 0.06


@every_system
def test_a_system_without_opinion_does_not_give_the_input_order_back(name: str) -> None:
    """Documents are given in their true order, all scores are equal: ties must not fall by place."""
    documents = random_documents(120, sentences=6, seed=43)
    model = shared_model(name)
    if model.network.order_sensitive:
        documents, orders = zip(*shuffled(documents, 4), strict=True)
        truths = [np.argsort(order).tolist() for order in orders]
    else:
        truths = [list(range(6))] * len(documents)
    model = replace(model, network=copy.deepcopy(model.network))
    _hook(model.network.decoder, lambda module, given, value: torch.zeros_like(value))
    taus = [tau(order, truth) for (order, _), truth in zip(found(model, documents), truths, strict=True)]
    assert abs(float(np.mean(taus))) < 0.13
