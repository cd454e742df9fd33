"""A layer shared by several steps, against the layer itself."""

import pytest
import torch
from torch import Tensor, nn

from unshuffle.layers.gru import Gathered, SharedLinear, SplitGRU


def gradients(loss: Tensor, *of: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss, of, retain_graph=True)


@pytest.mark.parametrize("bias", [True, False])
def test_several_uses_give_the_gradient_of_the_layer(bias: bool) -> None:
    torch.manual_seed(1)
    layer = nn.Linear(4, 4, bias=bias).double()
    rows = torch.randn(5, 4, dtype=torch.double, requires_grad=True)
    of = [rows, *layer.parameters()]
    shared = SharedLinear(layer)
    found = shared(shared(rows).tanh()[:3]).sum() + shared(rows).square().sum()
    plain = layer(layer(rows).tanh()[:3]).sum() + layer(rows).square().sum()
    torch.testing.assert_close(found, plain)
    for _ in range(2):  # a second pass back begins anew
        torch.testing.assert_close(gradients(found, *of), gradients(plain, *of))


def test_without_gradients_it_is_the_layer() -> None:
    layer = nn.Linear(3, 2)
    rows = torch.randn(4, 3)
    with torch.no_grad():
        assert torch.equal(SharedLinear(layer)(rows), layer(rows))
    assert not SharedLinear(layer.requires_grad_(False))(rows).requires_grad


def test_a_layer_that_is_not_used_gets_no_gradient() -> None:
    gru = SplitGRU({"words": 3, "linked": 2}, 4)
    gru.unrolled()(torch.randn(5, 4), words=torch.randn(5, 3)).sum().backward()
    assert gru.parts[0].weight.grad is not None and gru.hidden.weight.grad is not None
    assert gru.parts[1].weight.grad is None


def test_the_steps_of_a_pass_are_torchs_cell_step_by_step() -> None:
    torch.manual_seed(2)
    gru = SplitGRU({"words": 3, "linked": 2}, 4).double()
    cell = nn.GRUCell(5, 4).double()
    with torch.no_grad():
        cell.weight_ih.copy_(torch.cat([part.weight for part in gru.parts], 1))
        cell.bias_ih.copy_(gru.parts[0].bias)
        cell.weight_hh.copy_(gru.hidden.weight)
        cell.bias_hh.zero_()[8:] = gru.candidate_bias
    inputs = torch.randn(3, 6, 5, dtype=torch.double)
    steps, state, expected = gru.unrolled(), None, torch.zeros(6, 4, dtype=torch.double)
    for now in inputs:
        state = steps(state, words=now[:, :3], linked=now[:, 3:])
        expected = cell(now, expected)
    torch.testing.assert_close(state, expected)
    weight = torch.randn(6, 4, dtype=torch.double)
    (found,) = gradients((state * weight).sum(), gru.hidden.weight)
    (wanted,) = gradients((expected * weight).sum(), cell.weight_hh)
    torch.testing.assert_close(found, wanted)
    (found,) = gradients((state * weight).sum(), gru.candidate_bias)
    (wanted,) = gradients((expected * weight).sum(), cell.bias_hh)
    torch.testing.assert_close(found, wanted[8:])


def test_gathered_rows_are_the_rows_written_out() -> None:
    torch.manual_seed(3)
    gru = SplitGRU({"words": 3, "linked": 2}, 4)
    words, rows, state = torch.randn(6, 3), torch.randn(2, 2), torch.randn(6, 4)
    index, target = torch.tensor([0, 1, 1, 0, 1, 1]), torch.tensor([5, 0, 0, 2, 2, 3])
    step = gru.unrolled()
    summed = torch.zeros(6, 2).index_add(0, target, rows[index])
    for gathered, plain in ((Gathered(rows, index), rows[index]), (Gathered(rows, index, target, 6), summed)):
        for old in (state, None):
            expected = step(old, words=words, linked=plain)
            torch.testing.assert_close(step(old, words=words, linked=gathered), expected)
            torch.testing.assert_close(step(old, step.project(words=words), linked=gathered), expected)
