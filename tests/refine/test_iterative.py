"""Algorithm 1, all documents at once, against the slow loop of one document at a time."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_model
from tests.oracles import refinement as oracle
from unshuffle.graph.batch import Batch, collate
from unshuffle.graph.prepare import Item
from unshuffle.refine.classifier import PairClassifier, normalised
from unshuffle.refine.iterative import Refined, Refiner
from unshuffle.system.folder import Model
from unshuffle.training.classifiers import LIMITS, pair_accuracy, shuffled_batches, tune

DOCUMENTS = random_documents(12, sentences=(1, 7), seed=3)


def model_of(folder: Path, *changes: str, seed: int = 1) -> Model:
    """Heads just strong enough that some pairs settle at once, some later, some never."""
    model = tiny_model("irse-grn", folder, DOCUMENTS, seed=seed, changes=changes)
    refiner = refiner_of(model)
    batch = collate([model.preparer.item(document) for document in DOCUMENTS])
    half = torch.full((batch.graph.pairs.shape[1],), 0.5)
    if refiner.config.encoder == "own":
        for classifier, share in ((refiner.initial, 0.2), (refiner.iterative, 0.15)):
            if classifier is not None:
                _settle_a_share(classifier, batch, half, share)
    return model


@torch.no_grad()
def _settle_a_share(classifier: PairClassifier, batch: Batch, weights: torch.Tensor, share: float) -> None:
    last = classifier.head.rest[5].weight
    last *= 1e-3
    for _ in range(60):
        predicted = normalised(classifier(classifier.encode(batch, None), batch.graph, weights))
        if float(((predicted < 0.2) | (predicted > 0.8)).float().mean()) >= share:
            return
        last *= 1.25


def refiner_of(model: Model) -> Refiner:
    assert model.network.refiner is not None
    return model.network.refiner


def by_pair(item: Item, values: torch.Tensor) -> dict[tuple[int, int], float]:
    return {
        (one, other): value for (one, other), value in zip(item.graph.pairs.T.tolist(), values.tolist(), strict=True)
    }


@torch.inference_mode()
def refined(refiner: Refiner, items: list[Item]) -> tuple[Refined, list[torch.Tensor]]:
    """The batch's result, and for each document which pairs are its own."""
    batch = collate(items)
    document = batch.graph.document_of_sentence[batch.graph.pairs[0]]
    return refiner(batch), [document == number for number in range(len(items))]


@torch.inference_mode()
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_batch_is_the_algorithm_document_by_document(tmp_path: Path, seed: int) -> None:
    model = model_of(tmp_path, seed=seed)
    refiner, items = refiner_of(model), [model.preparer.item(document) for document in DOCUMENTS]
    found, own = refined(refiner, items)
    kinds = set()
    for number, item in enumerate(items):
        expected = oracle.refine(refiner, collate([item]))
        rounds = [trace for trace in found.rounds if bool(trace.active[number])]
        assert len(rounds) == len(expected.weights)
        for trace, weights, undecided in zip(rounds, expected.weights, expected.undecided, strict=True):
            assert by_pair(item, trace.weights[own[number]]) == pytest.approx(weights, abs=1e-4)
            left = by_pair(item, trace.undecided[own[number]])
            assert {pair for pair, unsure in left.items() if unsure} == undecided
        assert by_pair(item, found.weights[own[number]]) == pytest.approx(expected.weights[-1], abs=1e-4)
        kinds.add((len(rounds) > 2, bool(expected.undecided[-1])))
    assert len(kinds) > 1  # the documents are not all of one kind, or this would show little


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_undecided_only_become_fewer_and_then_it_ends(tmp_path: Path, seed: int) -> None:
    model = model_of(tmp_path, seed=seed)
    items = [model.preparer.item(document) for document in DOCUMENTS]
    found, own = refined(refiner_of(model), items)
    for before, after in zip(found.rounds, found.rounds[1:], strict=False):
        assert not (after.undecided & ~before.undecided).any()
        settled = ~before.undecided
        assert torch.equal(after.weights[settled], before.weights[settled])
    for number, mask in enumerate(own):
        rounds = sum(bool(trace.active[number]) for trace in found.rounds) - 1
        assert rounds <= int(found.rounds[0].undecided[mask].sum()) + 1


def test_undecided_pairs_weigh_half_and_settled_ones_lie_outside_the_band(tmp_path: Path) -> None:
    model = model_of(tmp_path)
    found, _ = refined(refiner_of(model), [model.preparer.item(document) for document in DOCUMENTS])
    for trace in found.rounds:
        assert (trace.weights[trace.undecided] == 0.5).all()
        sure = trace.weights[~trace.undecided]
        assert ((sure < 0.2) | (sure > 0.8)).all()
    assert found.rounds[0].undecided.any() and not found.rounds[0].undecided.all()


def test_both_ends_belong_to_the_band(tmp_path: Path) -> None:
    refiner = refiner_of(model_of(tmp_path))
    probabilities = torch.tensor([0.1999, 0.2, 0.5, 0.8, 0.8001])
    assert refiner._unsure(probabilities).tolist() == [False, True, True, True, False]


def test_a_document_settles_alike_in_whatever_company(tmp_path: Path) -> None:
    model = model_of(tmp_path)
    items = [model.preparer.item(document) for document in DOCUMENTS]
    together, own = refined(refiner_of(model), items)
    for number, item in enumerate(items):
        alone, _ = refined(refiner_of(model), [item])
        torch.testing.assert_close(together.weights[own[number]], alone.weights, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(together.predicted[own[number]], alone.predicted, rtol=1e-4, atol=1e-5)


def test_turning_a_pair_turns_its_weight(tmp_path: Path) -> None:
    model = model_of(tmp_path)
    for item in [model.preparer.item(document) for document in DOCUMENTS]:
        size = item.graph.sentences
        permutation = np.random.default_rng(size).permutation(size).tolist()
        straight, _ = refined(refiner_of(model), [item])
        turned, _ = refined(refiner_of(model), [item.permuted(permutation)])
        before = by_pair(item, straight.weights)
        for (one, other), weight in by_pair(item.permuted(permutation), turned.weights).items():
            i, j = permutation[one], permutation[other]
            assert weight == pytest.approx(before[i, j] if i < j else 1 - before[j, i], abs=1e-4)


def test_rounds_can_be_limited_and_the_first_classifier_left_out(tmp_path: Path) -> None:
    limited = model_of(tmp_path, "refiner.rounds=1")
    items = [limited.preparer.item(document) for document in DOCUMENTS]
    assert len(refined(refiner_of(limited), items)[0].rounds) == 2
    none = refiner_of(model_of(tmp_path, "refiner.rounds=0"))
    assert none.iterative is None and len(refined(none, items)[0].rounds) == 1
    late = refiner_of(model_of(tmp_path, "refiner.initial=false"))
    found, _ = refined(late, items)
    assert late.initial is None and found.rounds[0].undecided.all() and not found.rounds[-1].undecided.all()


def test_the_released_programs_ways_are_options(tmp_path: Path) -> None:
    snapped = model_of(tmp_path, 'refiner.settled="snap"')
    items = [snapped.preparer.item(document) for document in DOCUMENTS]
    found, _ = refined(refiner_of(snapped), items)
    assert set(found.weights.tolist()) == {torch.tensor(weight).item() for weight in (0.99, 1 - 0.99, 0.5)}
    raw, _ = refined(refiner_of(model_of(tmp_path, 'refiner.leftover="raw"')), items)
    left = raw.rounds[-1].undecided
    assert left.any() and torch.equal(raw.weights[left], raw.predicted[left]) and (raw.weights[left] != 0.5).any()


def test_no_pair_at_all_is_no_trouble(tmp_path: Path) -> None:
    model = model_of(tmp_path)
    item = model.preparer.item(replace(DOCUMENTS[0], mentions=()))
    found, _ = refined(refiner_of(model), [item, item])
    assert found.weights.shape == (0,) and len(found.rounds) == 1


def test_a_shared_encoder_is_read_from_the_ordering_model(tmp_path: Path) -> None:
    model = model_of(tmp_path, 'refiner.encoder="shared"')
    refiner = refiner_of(model)
    assert refiner.initial is not None and refiner.initial.sentence_encoder is None
    batch = collate([model.preparer.item(document) for document in DOCUMENTS])
    with torch.inference_mode():
        encoded = model.network.sentence_encoder(batch)
        read = model.network.read(batch)
        assert read.refined is not None
        torch.testing.assert_close(read.refined.weights, refiner(batch, encoded).weights)
        with pytest.raises(ValueError, match="vectors"):
            refiner(batch)


def test_temperature_and_rounds_are_chosen_on_validation_and_kept_with_the_weights(tmp_path: Path) -> None:
    model = model_of(tmp_path, "refiner.tuned=true")
    refiner = refiner_of(model)
    items = [model.preparer.item(document) for document in DOCUMENTS]
    with torch.inference_mode():
        tune(refiner, items, 3)
    temperature, rounds = refiner.chosen.tolist()
    assert temperature == pytest.approx(3.0)  # opinions of an untrained network, made strong: the softest is best
    batches = shuffled_batches(items, 3)
    found = {}
    for limit in LIMITS:
        refiner.tune(temperature, limit)
        with torch.inference_mode():
            found[limit] = pair_accuracy(batches, refiner, lambda batch: refiner(batch).predicted)
    best = max(found.values())
    assert (None if rounds < 0 else int(rounds)) == next(limit for limit in LIMITS if found[limit] == best)
    assert "refiner.chosen" in model.network.state_dict()


def test_a_temperature_softens_what_thresholds_look_at(tmp_path: Path) -> None:
    refiner = refiner_of(model_of(tmp_path, "refiner.tuned=true"))
    sure = torch.tensor([0.9, 0.3, 0.5])
    torch.testing.assert_close(refiner.tempered(sure), sure)
    refiner.tune(2.0, 0)
    torch.testing.assert_close(refiner.tempered(sure), (torch.logit(sure) / 2).sigmoid())
    assert refiner.rounds == 0
