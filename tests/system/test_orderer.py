"""Sentences in any order in, an order out, whatever the sentences are."""

import json
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest

from tests.fixtures.documents import NOUNS, random_documents, stories
from tests.fixtures.systems import tiny_model
from unshuffle.errors import ConfigError, DataError
from unshuffle.rank.constraints import Constraints
from unshuffle.system.calibration import Calibration
from unshuffle.system.folder import Model
from unshuffle.system.options import OrderOptions
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle.text.parsing.mentions import DEFAULT_PARSER, load_parser
from unshuffle.text.readers import read_documents

DOCUMENTS = random_documents(20, sentences=(1, 7), seed=21)
LONG = [f"The {NOUNS[number % 40]} {number} stands where it stood." for number in range(500)]
ODD = {
    "one sentence": ["The box was locked."],
    "identical sentences": ["The box.", "The box.", "The key.", "The box."],
    "all identical": ["Same."] * 6,
    "a sentence of 10,000 words": ["box " * 10_000, "The key.", "The box."],
    "emoji": ["🎉🎉", "👩‍👩‍👧‍👦 box", "🇩🇪", "a 🎉 key"],
    "right to left": ["הקופסה נעולה.", "المفتاح في الصندوق", "\u202ebox\u202c", "The box."],
    "zero width": ["\u200b", "\u200b\u200d", "box\u200bkey", "\ufeff", "The\u00adbox"],
    "blank": ["", " ", "\t", "box"],
    "control characters": ["\x00", "a\x00b", "\x1b[31m", "line\nbreak\r\n"],
    "lone surrogates and rare planes": ["\U0010ffff", "\ufffe", "𝔟𝔬𝔵", "ﬁ"],
    "500 sentences": LONG,
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return tiny_model("irse-grn", tmp_path_factory.mktemp("model"), [*DOCUMENTS, *stories()])


@pytest.fixture(scope="module")
def orderer(model: Model) -> Orderer:
    return Orderer(model)


@pytest.mark.parametrize("kind", ODD)
def test_odd_input_is_answered_with_an_order(orderer: Orderer, kind: str) -> None:
    found = orderer.order(ODD[kind], beam=4, n_best=2)
    assert sorted(found.order) == list(range(len(ODD[kind])))
    assert 0 <= found.probability <= 1 and 0 <= found.confidence <= 1
    assert len(found.pairs) == len(ODD[kind]) * (len(ODD[kind]) - 1) // 2


@pytest.mark.parametrize("kind", [kind for kind in ODD if kind != "500 sentences"])
@pytest.mark.skipif(not (DEFAULT_PARSER / "config.cfg").is_file(), reason="needs the shipped parser")
def test_odd_input_passes_through_the_shipped_parser(model: Model, kind: str) -> None:
    found = Orderer(model, parser=load_parser("default")).order(ODD[kind], beam=2, n_best=1)
    assert sorted(found.order) == list(range(len(ODD[kind])))


@pytest.mark.skipif(not (DEFAULT_PARSER / "config.cfg").is_file(), reason="needs the shipped parser")
def test_500_sentences_pass_through_the_shipped_parser(model: Model) -> None:
    orderer = Orderer(model, parser=load_parser("default"))
    assert sorted(orderer.order(LONG, beam=1, n_best=1).order) == list(range(500))
    assert orderer.graph(LONG[:60]).links


def test_one_sentence_is_certain(orderer: Orderer) -> None:
    found = orderer.order(["Only this."])
    assert (found.order, found.probability, found.confidence, found.pairs) == ((0,), 1.0, 1.0, ())


def test_identical_sentences_are_told_and_interchangeable(orderer: Orderer) -> None:
    texts = ODD["identical sentences"]
    found = orderer.order(texts)
    assert found.ties == ((0, 1), (1, 3))
    for permutation in ([2, 0, 1, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
        given = [texts[place] for place in permutation]
        assert [given[place] for place in orderer.order(given).order] == [texts[place] for place in found.order]


def test_many_documents_are_ordered_as_each_alone_and_come_in_turn(orderer: Orderer) -> None:
    together = list(orderer.order_many(iter(DOCUMENTS), batch_size=7))
    assert [found.id for found in together] == [document.id for document in DOCUMENTS]
    for document, found in zip(DOCUMENTS, together, strict=True):
        alone = orderer.order(document)
        assert found.order == alone.order
        assert found.probability == pytest.approx(alone.probability, rel=1e-2)
        assert len(found.rounds) == len(alone.rounds)


def test_a_stream_is_not_read_to_its_end_first(orderer: Orderer) -> None:
    def endless() -> object:
        while True:
            yield DOCUMENTS[0]

    stream = orderer.order_many(endless())  # type: ignore[arg-type]
    assert next(stream).order == next(stream).order


def test_probabilities_hang_together(orderer: Orderer) -> None:
    for document in DOCUMENTS:
        found = orderer.order(document, beam=64, n_best=5)
        best = [candidate.probability for candidate in found.n_best]
        assert found.n_best[0].order == found.order and best == sorted(best, reverse=True) and sum(best) <= 1 + 1e-5
        size = len(document.sentences)
        if size <= 4:  # the beam holds every order
            chances = {order.order: order.probability for order in orderer.order(document, n_best=24).n_best}
            assert sum(chances.values()) == pytest.approx(1, abs=1e-4)
            for pair in found.pairs:
                before = sum(p for order, p in chances.items() if order.index(pair.first) < order.index(pair.second))
                assert pair.probability == pytest.approx(before, abs=1e-4)


def test_rounds_are_the_documents_own(orderer: Orderer) -> None:
    for document in DOCUMENTS:
        found = orderer.order(document)
        links = set(orderer.graph(document).links)
        assert found.rounds
        for step in found.rounds:
            assert {(pair.first, pair.second) for pair in step.weights} == links
            assert {(pair.first, pair.second) for pair in step.weights if pair.probability == 0.5} >= set(
                step.undecided
            )
        open_pairs = [set(step.undecided) for step in found.rounds]
        assert all(after <= before for before, after in pairwise(open_pairs))


def test_an_unsure_order_can_be_left_as_it_was(orderer: Orderer) -> None:
    found = orderer.order(DOCUMENTS[1], keep_if_unsure=1.0)
    assert found.kept and found.order == tuple(range(len(found.order)))
    assert not orderer.order(DOCUMENTS[1], keep_if_unsure=0.0).kept


def test_rules_hold_where_the_model_is_unsure(orderer: Orderer) -> None:
    turned = orderer.order(DOCUMENTS[1], keep_if_unsure=1.0, constraints=Constraints(before=((1, 0),)))
    assert not turned.kept and turned.order.index(1) < turned.order.index(0)
    placed = orderer.order(DOCUMENTS[1], keep_if_unsure=1.0, constraints=Constraints(fixed=((0, 2),)))
    assert not placed.kept and placed.order[0] == 2
    assert orderer.order(DOCUMENTS[1], keep_if_unsure=1.0, constraints=Constraints(before=((0, 1),))).kept


def test_what_is_not_read_is_told_once(orderer: Orderer, caplog: pytest.LogCaptureFixture) -> None:
    fresh = Orderer(orderer.model, parser=orderer.parser)
    long = "word " * (orderer.model.config.tokens.longest + 1)
    for _ in range(2):
        fresh.order(["A start.", long])
    (told,) = [record.getMessage() for record in caplog.records if "is left out" in record.getMessage()]
    assert "512 word pieces" in told


def test_what_is_no_document_is_refused(orderer: Orderer) -> None:
    for empty in ([], Document(()), "  \n"):
        with pytest.raises(DataError, match="no sentence"):
            orderer.order(empty)
    with pytest.raises(DataError, match="is not text"):
        orderer.order(["a", 3])  # type: ignore[list-item]
    with pytest.raises(DataError, match="of type dict"):
        orderer.order({"sentences": ["a"]})


def test_the_graph_is_what_the_network_reads(orderer: Orderer) -> None:
    document = stories()[0]
    graph = orderer.graph(document)
    assert graph.entities == ("box", "key") and graph.sentences == 4
    assert set(graph.links) == {(0, 1), (0, 3), (1, 2), (1, 3), (2, 3)}
    assert {role for _, _, role in graph.mentions} <= {"subject", "object", "other"}


def test_results_are_plain_json(orderer: Orderer) -> None:
    import json

    found = orderer.order(DOCUMENTS[2]).to_json()
    assert json.loads(json.dumps(found, allow_nan=False))["order"] == list(found["order"])
    assert all(len(row) == 3 for row in found["pairs"])


def test_shuffling_the_input_does_not_change_the_text(orderer: Orderer) -> None:
    draw = np.random.default_rng(0)
    for document in DOCUMENTS:
        expected = [document.sentences[place] for place in orderer.order(document).order]
        given = document.permuted(draw.permutation(len(document.sentences)).tolist())
        assert [given.sentences[place] for place in orderer.order(given).order] == expected


def test_a_device_that_is_not_there_is_one_line() -> None:
    with pytest.raises(ConfigError, match="device 'cuda:99'"):
        Orderer.from_pretrained(device="cuda:99")


def test_a_parser_that_is_not_the_one_of_the_training_is_told(model: Model, caplog: pytest.LogCaptureFixture) -> None:
    assert Orderer(model).parser.fingerprint == "none"
    assert not caplog.records
    other = replace(model, parser={"name": "none", "fingerprint": "of long ago"})
    assert Orderer(other).parser.fingerprint == "none"
    (record,) = caplog.records
    assert "another version of the parser 'none'" in record.getMessage()


def test_text_is_split_and_results_carry_their_sentences(orderer: Orderer) -> None:
    found = orderer.order("The box was locked. The key lay there. He opened the box.")
    assert sorted(found.sentences) == ["He opened the box.", "The box was locked.", "The key lay there."]
    assert found.sentences == tuple(found.given[place] for place in found.order)


def test_bad_documents_can_be_skipped_and_the_others_keep_their_place(orderer: Orderer) -> None:
    given = [DOCUMENTS[0], [], DOCUMENTS[1], Document((), id="letter"), DOCUMENTS[2]]
    with pytest.raises(DataError, match="document 1: it has no sentence"):
        list(orderer.order_many(given))
    with pytest.warns(UserWarning, match="2 of 5 documents were skipped") as told:
        found = list(orderer.order_many(given, on_error="skip"))
    assert [(one.index, one.id) for one in found] == [(0, DOCUMENTS[0].id), (2, DOCUMENTS[1].id), (4, DOCUMENTS[2].id)]
    assert told[0].filename == __file__


def test_what_is_wrong_with_a_call_is_said_before_anything_is_read(orderer: Orderer) -> None:
    for wrong in ({"beam": 0}, {"batch_size": 0}, {"on_error": "ignore"}, {"keep_if_unsure": 2}):
        with pytest.raises(ConfigError):
            orderer.order_many(DOCUMENTS, **wrong)  # type: ignore[arg-type]


def test_options_are_one_object_or_keywords(orderer: Orderer) -> None:
    options = OrderOptions(beam=16, n_best=2)
    assert orderer.order(DOCUMENTS[1], options) == orderer.order(DOCUMENTS[1], beam=16, n_best=2)
    assert len(orderer.order(DOCUMENTS[1], options, n_best=1).n_best) == 1
    assert len(orderer.order(DOCUMENTS[1], beam=2).n_best) == 2


def test_auto_takes_the_threshold_of_the_model(model: Model) -> None:
    plain = {"format": 1, "intercept": 0.9, "agreement": 0.0, "choice": 0.0, "length": 0.0}  # always 0.71
    for stored, kept in ((None, False), (0.75, True), (0.7, False)):
        calibrated = Orderer(replace(model, calibration={**plain, "keep_below": stored}))
        assert calibrated.order(DOCUMENTS[1], keep_if_unsure="auto").kept is kept
    lower = Orderer(replace(model, calibration={**plain, "intercept": 0.5}))  # always 0.62
    assert lower.order(DOCUMENTS[1], keep_if_unsure="auto").kept and not lower.order(DOCUMENTS[1]).kept


def test_equal_sentences_keep_their_input_order(orderer: Orderer) -> None:
    sentences = ["The box opens.", "A key turns.", "The box opens.", "The rope holds.", "A key turns."]
    for shift in range(5):
        given = sentences[shift:] + sentences[:shift]
        order = orderer.order(given).order
        for text in set(given):
            numbers = [number for number in order if given[number] == text]
            assert numbers == sorted(numbers)


@pytest.mark.parametrize("calibrated", [False, True])
def test_an_order_has_the_same_confidence_whatever_beam_found_it(model: Model, calibrated: bool) -> None:
    orderer = Orderer(model, calibrated=False)
    if calibrated:
        orderer.calibration = Calibration(intercept=0.1, agreement=0.8, choice=0.3, length=-0.2, distance=0.5)
    compared = 0
    for document in random_documents(20, sentences=(4, 9), seed=77):
        usual = orderer.order(document, n_best=1)
        for beam in (1, 2, 5, 16, 64):
            found = orderer.order(document, beam=beam, n_best=1)
            if found.order == usual.order:
                assert found.confidence == pytest.approx(usual.confidence, abs=1e-6)
                one, other = ([pair.probability for pair in each.pairs] for each in (found, usual))
                assert one == pytest.approx(other, abs=1e-5)
                compared += 1
    assert compared >= 20


def test_the_shipped_model_is_as_sure_of_an_order_at_every_beam() -> None:
    orderer, swings = Orderer.from_pretrained(threads=1), []
    for document in islice(read_documents("everyday:test"), 12):
        usual, greedy, wide = (orderer.order(document, beam=beam, n_best=1) for beam in (8, 1, 64))
        swings += [abs(one.confidence - usual.confidence) for one in (greedy, wide) if one.order == usual.order]
    assert len(swings) >= 12 and max(swings) < 1e-6


def test_200_sentences_have_log_probabilities(orderer: Orderer) -> None:
    found = orderer.order(LONG[:200], n_best=2)
    assert all(-2_000 < one.log_probability < -1 for one in found.n_best)
    assert json.loads(json.dumps(found.to_json()))["log_probability"] == found.log_probability
    assert -5_000 < orderer.coherence(LONG[:200]).log_probability < -1


def test_pairs_that_constraints_decide_are_certain(orderer: Orderer) -> None:
    sentences = ["Then she ate it.", "Mia picked an apple.", "She washed the apple."]
    fixed = orderer.order(sentences, constraints=Constraints(fixed=[(0, 0), (1, 1), (2, 2)]))
    assert fixed.confidence == 1.0 and all(pair.probability == 1.0 for pair in fixed.pairs)
    first = orderer.order(sentences, constraints=Constraints(fixed=[(0, 0)]))
    assert [pair.probability for pair in first.pairs[:2]] == [1.0, 1.0] and 0 < first.pairs[2].probability < 1
    assert (
        orderer.order(["x y", "a b", "x y"], constraints=Constraints()).order
        == orderer.order(["x y", "a b", "x y"]).order
    )
