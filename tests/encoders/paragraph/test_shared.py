"""A layer shared by several steps, against the layer itself."""

import pytest
import torch
from torch import Tensor, nn

from unshuffle.layers.gru import SharedGRU, SplitGRU
from unshuffle.layers.shared_linear import Shared


def gradients(loss: Tensor, *of: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss, of, retain_graph=True)


@pytest.mark.parametrize("bias", [True, False])
def test_several_uses_give_the_gradient_of_the_layer(bias: bool) -> None:
    torch.manual_seed(1)
    layer = nn.Linear(4, 4, bias=bias).double()
    rows = torch.randn(5, 4, dtype=torch.double, requires_grad=True)
    of = [rows, *layer.parameters()]
    shared = Shared(layer)
    found = shared(shared(rows).tanh()[:3]).sum() + shared(rows).square().sum()
    plain = layer(layer(rows).tanh()[:3]).sum() + layer(rows).square().sum()
    torch.testing.assert_close(found, plain)
    for _ in range(2):  # a second pass back begins anew
        torch.testing.assert_close(gradients(found, *of), gradients(plain, *of))


def test_without_gradients_it_is_the_layer() -> None:
    layer = nn.Linear(3, 2)
    rows = torch.randn(4, 3)
    with torch.no_grad():
        assert torch.equal(Shared(layer)(rows), layer(rows))
    assert not Shared(layer.requires_grad_(False))(rows).requires_grad


def test_a_layer_that_is_not_used_gets_no_gradient() -> None:
    gru = SplitGRU([3, 2], 4)
    steps = SharedGRU(gru)
    steps(steps.project(0, torch.randn(5, 3)), torch.randn(5, 4)).sum().backward()
    assert gru.parts[0].weight.grad is not None and gru.hidden.weight.grad is not None
    assert gru.parts[1].weight.grad is None


def test_the_steps_of_a_pass_are_torchs_cell_step_by_step() -> None:
    torch.manual_seed(2)
    gru = SplitGRU([3, 2], 4).double()
    cell = nn.GRUCell(5, 4).double()
    with torch.no_grad():
        cell.weight_ih.copy_(torch.cat([part.weight for part in gru.parts], 1))
        cell.bias_ih.copy_(gru.parts[0].bias)
        cell.weight_hh.copy_(gru.hidden.weight)
        cell.bias_hh.zero_()[8:] = gru.candidate_bias
    inputs = torch.randn(3, 6, 5, dtype=torch.double)
    steps, state, expected = SharedGRU(gru), None, torch.zeros(6, 4, dtype=torch.double)
    for now in inputs:
        state = steps(steps.project(0, now[:, :3]) + steps.project(1, now[:, 3:]), state)
        expected = cell(now, expected)
    torch.testing.assert_close(state, expected)
    weight = torch.randn(6, 4, dtype=torch.double)
    (found,) = gradients((state * weight).sum(), gru.hidden.weight)
    (wanted,) = gradients((expected * weight).sum(), cell.weight_hh)
    torch.testing.assert_close(found, wanted)
    (found,) = gradients((state * weight).sum(), gru.candidate_bias)
    (wanted,) = gradients((expected * weight).sum(), cell.bias_hh)
    torch.testing.assert_close(found, wanted[8:])
