from itertools import combinations

import numpy as np

from tests.fixtures.tiny import tiny_model
from unshuffle.graph.build import GraphConfig, build_graph
from unshuffle.result import PairProbability
from unshuffle.system.orderer import Orderer
from unshuffle.system.reasons import reasons
from unshuffle.text.document import Document, Mention, Role

DOCUMENT = Document(
    ("a", "b", "c", "d"),
    tuple(
        Mention(word, sentence, Role.OTHER)
        for word, places in {"key": (0, 1), "door": (1, 3), "lock": (1, 3)}.items()
        for sentence in places
    ),
)
GRAPH = build_graph(DOCUMENT, GraphConfig())
ORDER = (2, 0, 1, 3)


def pairs(certain: float, **others: float) -> list[PairProbability]:
    """All pairs as ORDER has them with one probability, but for those named like `p01`."""
    place = np.argsort(ORDER)
    return [
        PairProbability(i, j, chance if place[i] < place[j] else 1 - chance)
        for i, j in combinations(range(4), 2)
        for chance in [others.get(f"p{i}{j}", certain)]
    ]


def test_a_reason_names_the_pair_as_the_order_has_it() -> None:
    for reason in reasons(ORDER, pairs(0.9), GRAPH):
        assert ORDER.index(reason.first) < ORDER.index(reason.second)
        assert round(reason.probability, 6) == 0.9


def test_among_equals_what_shares_most_comes_first() -> None:
    found = reasons(ORDER, pairs(0.9), GRAPH)
    assert [(reason.first, reason.second, reason.shared) for reason in found[:3]] == [
        (1, 3, ("door", "lock")),
        (0, 1, ("key",)),
        (2, 0, ()),
    ]


def test_the_surest_pair_comes_first() -> None:
    found = reasons(ORDER, pairs(0.6, p02=0.99), GRAPH)
    assert (found[0].first, found[0].second) == (2, 0)


def test_pairs_that_speak_against_the_order_are_no_reasons() -> None:
    assert reasons(ORDER, pairs(0.4), GRAPH) == ()


def test_reasons_are_few_and_a_single_sentence_has_none() -> None:
    assert len(reasons(ORDER, pairs(0.9), GRAPH)) == 5
    alone = build_graph(Document(("a",), ()), GraphConfig())
    assert reasons((0,), [], alone) == ()


def test_an_ordering_says_why_and_a_kept_one_does_not() -> None:
    orderer = Orderer(tiny_model())
    sentences = ["One apple.", "Two apples fell.", "Three more."]
    assert orderer.order(sentences).why
    kept = orderer.order(sentences, keep_if_unsure=1.0)
    assert kept.kept and kept.why == () and kept.order == (0, 1, 2)
