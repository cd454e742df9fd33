"""The pair classifier's head and the normalisation of its two scores."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unshuffle.refine.classifier import PairHead, normalised


def test_the_head_is_two_layers_on_the_concatenation() -> None:
    torch.manual_seed(0)
    head = PairHead(width=4, hidden=6, dropout=0.1).eval()
    states, pairs = torch.randn(5, 4), torch.tensor([[0, 1, 0], [2, 3, 4]])
    logits = head(states, pairs)
    matrix = torch.cat([head.from_one.weight, head.from_other.weight], 1)
    for column, (one, other) in enumerate(pairs.T.tolist()):
        for row, (first, second) in enumerate([(one, other), (other, one)]):
            hidden = torch.relu(matrix @ torch.cat([states[first], states[second]]))
            expected = head.rest[5].weight @ torch.relu(head.rest[2].weight @ hidden)
            torch.testing.assert_close(logits[row, column], expected[0])


def test_its_parameters_are_as_many_as_the_references() -> None:
    head = PairHead(width=512, hidden=512, dropout=0.1)
    assert sum(parameter.numel() for parameter in head.parameters()) == 786_944
    assert not any("bias" in name for name, _ in head.named_parameters())


@given(st.floats(-100, 100), st.floats(-100, 100))
def test_both_scores_count_and_the_two_directions_add_up_to_one(forward: float, backward: float) -> None:
    one = normalised(torch.tensor([[forward], [backward]]))
    other = normalised(torch.tensor([[backward], [forward]]))
    torch.testing.assert_close(one + other, torch.ones(1))
    if forward == backward:
        assert float(one) == 0.5


@given(st.floats(-15, 15), st.floats(-15, 15))
def test_it_is_the_share_of_the_forward_score(forward: float, backward: float) -> None:
    scores = torch.tensor([[forward], [backward]], dtype=torch.double)
    p, q = scores.sigmoid()
    torch.testing.assert_close(normalised(scores), p / (p + q))


@pytest.mark.parametrize("logit", [-200.0, -50.0, 0.0, 50.0])
def test_a_classifier_that_always_says_the_same_decides_nothing(logit: float) -> None:
    """The reference's iterative classifier would have been always right here (reference-facts 3.6)."""
    assert normalised(torch.full((2, 7), logit)).tolist() == [0.5] * 7
