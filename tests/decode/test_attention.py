"""PointerAttention without a tanh for each pair, against the plain one."""

import pytest
import torch

from unshuffle.decode import pointer as pointers
from unshuffle.decode.pointer import Pointer, PointerAttention, PointerConfig


def pointer_and_keys(scale: float) -> tuple[Pointer, torch.Tensor]:
    torch.manual_seed(3)
    pointer = Pointer(PointerConfig(), width=12, encoded_width=12)
    return pointer, scale * torch.randn(4, 7, 12)


@pytest.mark.parametrize("scale", [0.0, 0.1, 1.0, 5.0, 100.0])
@pytest.mark.parametrize("stretch", [1, 200, 1 << 17])
def test_it_is_the_plain_attention(scale: float, stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pointers, "CACHED", stretch)
    pointer, keys = pointer_and_keys(scale)
    hidden, document = scale * torch.randn(9, 12), torch.tensor([0, 0, 0, 1, 2, 2, 3, 3, 3])
    with torch.no_grad():
        torch.testing.assert_close(
            PointerAttention(pointer, keys)(hidden, document),
            pointer.attend(hidden, keys[document]),
            atol=1e-5,
            rtol=1e-5,
        )


def test_numbers_too_large_for_exponentials_go_through_tanh() -> None:
    pointer, keys = pointer_and_keys(1.0)
    keys[0, 0] = 300.0
    attention = PointerAttention(pointer, keys)
    assert attention.exponentials is None
    assert attention(torch.randn(2, 12), torch.tensor([0, 1])).isfinite().all()
    wide = PointerAttention(pointer, keys[1:])
    assert wide.exponentials is not None
    assert wide(1e4 * torch.randn(2, 12), torch.tensor([0, 1])).isfinite().all()
