"""Any text that can be written can be ordered, and how it is written changes nothing that it should not."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.faults.targets import orderer
from unshuffle.errors import UnshuffleError

# All of Unicode but halves of characters, and with more of what programs stumble over.
LETTERS = st.one_of(
    st.characters(exclude_categories=["Cs"]),
    st.sampled_from("\u200b\u200d\u202e\u0301\u2028\x85\x00\x1c\ufeff\u00ad\U0001f468İıßﬁǅ𝔘ﷺ"),
)
TEXTS = st.text(LETTERS, min_size=1, max_size=25)
COUNT = 60


@settings(max_examples=COUNT)
@given(st.lists(TEXTS, min_size=1, max_size=6))
def check_orders(sentences: list[str]) -> None:
    try:
        found = orderer().order(sentences)
    except UnshuffleError as error:
        assert "\n" not in str(error)
        return
    assert sorted(found.order) == list(range(len(sentences)))
    assert len(found.pairs) == len(sentences) * (len(sentences) - 1) // 2
    for one, other in found.ties:
        assert sentences[one] == sentences[other]
    again = orderer().order(sentences)
    assert again == found


@settings(max_examples=COUNT)
@given(st.lists(TEXTS, min_size=2, max_size=5, unique=True))
def check_batches(sentences: list[str]) -> None:
    """A document's answer does not depend on its neighbours in the batch."""
    alone = orderer().order(sentences)
    others = [[text[::-1] for text in sentences], sentences, sentences[:1]]
    together = list(orderer().order_many(others))[1]
    # Words that the model does not know all look the same to it, and then any order is as good as any other.
    assert together.probability == pytest.approx(alone.probability, rel=1e-3)


@pytest.mark.parametrize("check", [check_orders, check_batches], ids=["orders", "batches"])
def test_text_of_all_scripts(check: Callable[[], None], record_property: Callable[[str, object], None]) -> None:
    check()
    record_property("inputs", COUNT)


@pytest.mark.parametrize(
    "sentences",
    [
        ["x" * 100_000, "y"],
        ["a " * 20_000, "b"],
        ["\ud800", "b"],
        ["", " ", "\n"],
        ["\0", "\0\0"],
        ["same"] * 40,
        ["e\u0301", "é"],
    ],
)
def test_odd_sentences_are_ordered_or_refused_in_one_line(sentences: list[str]) -> None:
    try:
        found = orderer().order(sentences)
    except UnshuffleError as error:
        assert "\n" not in str(error)
    else:
        assert sorted(found.order) == list(range(len(sentences)))
