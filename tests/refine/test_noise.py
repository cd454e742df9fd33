"""Link weights that the iterative classifier is trained on."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unshuffle.refine.classifier import corrupt, degraded


def drawn(
    noise: float, mask: float, pairs: int = 20_000, seed: int = 0
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    truth = (torch.rand(pairs, generator=torch.Generator().manual_seed(9)) < 0.5).float()
    corrupted = corrupt(
        truth, known=0.99, noise_share=noise, mask_share=mask, generator=torch.Generator().manual_seed(seed)
    )
    return truth, corrupted.weights, corrupted.changed


@pytest.mark.parametrize(("noise", "mask"), [(0.0, 0.0), (0.2, 0.3), (0.25, 0.0), (0.0, 0.4), (1.0, 0.0)])
def test_shares_are_as_asked(noise: float, mask: float) -> None:
    truth, weights, changed = drawn(noise, mask)
    hidden = weights == 0.5
    wrong = changed & ~hidden
    assert float(hidden.float().mean()) == pytest.approx(mask, abs=0.02)
    assert float(wrong.float().mean()) == pytest.approx(noise, abs=0.02)
    told = weights[~changed]
    torch.testing.assert_close(told, torch.where(truth[~changed] > 0.5, 0.99, 0.01))
    assert ((weights[wrong] > 0.5) != (truth[wrong] > 0.5)).all()


@given(st.integers(0, 10_000))
def test_noise_is_drawn_from_its_seed_alone(seed: int) -> None:
    _, one, _ = drawn(0.2, 0.3, 50, seed)
    torch.manual_seed(seed + 1)
    _, other, _ = drawn(0.2, 0.3, 50, seed)
    assert torch.equal(one, other)


def test_turning_the_truth_turns_the_weights() -> None:
    truth = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0] * 20)
    one, other = (
        corrupt(given, known=0.99, noise_share=0.3, mask_share=0.2, generator=torch.Generator().manual_seed(1)).weights
        for given in (truth, 1 - truth)
    )
    torch.testing.assert_close(one, 1 - other)


def test_a_degraded_weight_is_right_as_often_as_it_says() -> None:
    documents, pairs = 400, 500
    truth = (torch.rand(documents * pairs, generator=torch.Generator().manual_seed(1)) < 0.5).float()
    document = torch.arange(documents).repeat_interleave(pairs)
    weights = degraded(truth, document, documents, torch.Generator().manual_seed(2))
    assert torch.equal(weights, degraded(truth, document, documents, torch.Generator().manual_seed(2)))
    for low in (0.5, 0.6, 0.7, 0.8, 0.9):
        said = ((weights - 0.5).abs() + 0.5 > low) & ((weights - 0.5).abs() + 0.5 <= low + 0.1) & (weights != 0.5)
        right = (weights[said] > 0.5) == (truth[said] > 0.5)
        assert float(right.float().mean()) == pytest.approx(low + 0.05, abs=0.02)
    by_document = weights.view(documents, pairs)
    assert all(len(((row - 0.5).abs() + 0.5).unique()) <= 3 for row in by_document)  # one reliability each, and 0.5
    asked = (by_document != 0.5).float().mean(1)
    assert 0.4 < float((asked == 1).float().mean()) < 0.6 and float(asked.min()) < 0.05
