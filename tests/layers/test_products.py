"""Products and the LSTM of weights laid out for oneDNN, against torch's own."""

import copy

import pytest
import torch
from torch import nn

from unshuffle.layers.padded import FEW, PaddedLSTM
from unshuffle.layers.products import AVAILABLE, SHORT, Linear

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="this torch has no oneDNN")
WIDTH = 300  # large enough to be laid out


def layer() -> Linear:
    torch.manual_seed(1)
    return Linear(WIDTH, WIDTH)


def by_torch(layer: nn.Linear, rows: torch.Tensor) -> torch.Tensor:
    return rows @ layer.weight.t() + layer.bias


@pytest.mark.parametrize("rows", [0, 1, 6, 70])
def test_a_product_is_torchs(rows: int) -> None:
    found, given = layer(), torch.randn(rows, WIDTH)
    with torch.inference_mode():
        torch.testing.assert_close(found(given), by_torch(found, given), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(
            found(given[None].expand(2, -1, -1))[1], by_torch(found, given), rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("optimizer", [torch.optim.Adadelta, torch.optim.Adam])
@pytest.mark.parametrize("fused", [False, True])
def test_what_has_been_learned_is_used(optimizer: type[torch.optim.Optimizer], fused: bool) -> None:
    found, given = layer(), torch.randn(6, WIDTH)
    options = {"fused": True} if fused and optimizer is torch.optim.Adam else {}
    steps = optimizer(found.parameters(), lr=0.5, **options)  # type: ignore[call-arg]
    for _ in range(2):
        with torch.inference_mode():
            torch.testing.assert_close(found(given), by_torch(found, given), rtol=1e-4, atol=1e-5)
        found(given).square().sum().backward()
        steps.step()


def test_loaded_and_moved_weights_are_used() -> None:
    found, other, given = layer(), Linear(WIDTH, WIDTH), torch.randn(6, WIDTH)
    with torch.inference_mode():
        found(given)
        found.load_state_dict(other.state_dict())
        torch.testing.assert_close(found(given), by_torch(other, given), rtol=1e-4, atol=1e-5)
        found.double()
        torch.testing.assert_close(found(given.double()), by_torch(found, given.double()))


def test_a_copy_has_weights_of_its_own() -> None:
    found, given = layer(), torch.randn(6, WIDTH)
    with torch.no_grad():
        found(given)
        twin = copy.deepcopy(found)
        twin.weight.mul_(2)
        torch.testing.assert_close(twin(given), by_torch(twin, given), rtol=1e-4, atol=1e-5)
        assert list(twin.state_dict()) == list(nn.Linear(2, 2).state_dict())


def test_padded_sentences_are_read_as_each_alone() -> None:
    torch.manual_seed(2)
    lstm, lengths = nn.LSTM(5, 8, bidirectional=True), torch.tensor([4, 1, 7, 7, 2])
    words = torch.randn(int(lengths.sum()), 5)
    reader = PaddedLSTM()
    with torch.inference_mode():
        for _ in range(2):
            found = reader.last_states(lstm, words, lengths)
            assert found is not None
            for row, text in zip(found, torch.split(words, lengths.tolist()), strict=True):
                _, (last, _) = lstm(text[:, None])
                torch.testing.assert_close(row, last.flatten(), rtol=1e-4, atol=1e-5)
            lstm.weight_hh_l0.mul_(2)  # the second time with other weights


def test_many_sentences_and_learning_are_left_to_others() -> None:
    lstm = nn.LSTM(5, 8, bidirectional=True)
    one = torch.ones(FEW + 1, dtype=torch.int64)
    with torch.no_grad():
        assert PaddedLSTM().last_states(lstm, torch.randn(FEW + 1, 5), one) is None
    assert PaddedLSTM().last_states(lstm, torch.randn(2, 5), one[:2]) is None


@pytest.mark.skipif(not SHORT, reason="this processor has no bfloat16")
@pytest.mark.parametrize("width", [WIDTH, 8])
def test_under_autocast_products_are_bfloat16_and_their_weights_laid_out_anew(width: int) -> None:
    torch.manual_seed(3)
    found, given = Linear(width, width), torch.randn(6, width)
    short = given.bfloat16() @ found.weight.bfloat16().t()
    with torch.inference_mode():
        exact = found(given)
        with torch.autocast("cpu", torch.bfloat16):
            rounded = found(given)
        again = found(given)
    assert rounded.dtype == torch.float32
    torch.testing.assert_close(rounded, short.float() + found.bias, rtol=0.02, atol=0.02)
    assert not torch.equal(rounded, exact) and torch.equal(again, exact)


@pytest.mark.skipif(not SHORT, reason="this processor has no bfloat16")
def test_under_autocast_padded_sentences_are_read_in_bfloat16() -> None:
    torch.manual_seed(4)
    lstm, lengths, words = nn.LSTM(5, 8, bidirectional=True), torch.tensor([4, 1, 7]), torch.randn(12, 5)
    reader = PaddedLSTM()
    with torch.inference_mode():
        exact = reader.last_states(lstm, words, lengths)
        with torch.autocast("cpu", torch.bfloat16):
            rounded = reader.last_states(lstm, words, lengths)
    assert exact is not None and rounded is not None and rounded.dtype == torch.float32
    torch.testing.assert_close(rounded, exact, rtol=0.05, atol=0.02)
    assert not torch.equal(rounded, exact)
