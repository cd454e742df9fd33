"""Dropout by bytes: the share that is lost, the mean that stays, the gradient, and the seed."""

from __future__ import annotations

import pytest
import torch

from unshuffle.layers.dropout import Dropout


@pytest.mark.parametrize("share", [0.1, 0.5, 0.75])
def test_loses_its_share_and_keeps_the_mean(share: float) -> None:
    torch.manual_seed(0)
    dropped = Dropout(share)(torch.ones(301, 333))
    lost = dropped == 0
    assert float(lost.float().mean()) == pytest.approx(share, abs=0.01)
    assert float(dropped.mean()) == pytest.approx(1, abs=0.02)
    assert dropped[~lost].unique().numel() == 1
    assert lost.float().mean(0).std() < 0.05  # no column of the bytes is special, the top one of a word included


def test_the_gradient_passes_where_values_do() -> None:
    values = torch.ones(40, 10, requires_grad=True)
    dropped = Dropout(0.5)(values)
    dropped.sum().backward()
    assert torch.equal(values.grad, dropped.detach())


def test_draws_from_the_seed_and_rests_outside_training() -> None:
    dropout, values = Dropout(0.5), torch.randn(9, 7)
    torch.manual_seed(3)
    first = dropout(values)
    assert not torch.equal(first, dropout(values))
    torch.manual_seed(3)
    assert torch.equal(first, dropout(values))
    assert dropout.eval()(values) is values
    assert Dropout(0.0)(values) is values
    assert Dropout(0.5)(torch.empty(0, 4)).shape == (0, 4)


def test_refuses_to_drop_everything() -> None:
    with pytest.raises(ValueError, match="leaves nothing"):
        Dropout(1.0)
