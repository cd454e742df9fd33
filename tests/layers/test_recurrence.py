"""The LSTM over sentences laid end to end, against torch's own on packed sequences."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

from unshuffle.layers.recurrence import Packing, bilstm_last_states, bilstm_states, lstm_states

INPUT, HIDDEN = 3, 4
lengths_of_sentences = st.lists(st.integers(1, 7), min_size=1, max_size=6)


def lstm(*, bidirectional: bool) -> nn.LSTM:
    torch.manual_seed(1)
    return nn.LSTM(INPUT, HIDDEN, bidirectional=bidirectional).double()


def gradients(module: nn.Module, loss: Tensor, *inputs: Tensor) -> list[Tensor]:
    return list(torch.autograd.grad(loss, [*inputs, *module.parameters()], retain_graph=True))


def check(module: nn.Module, ours: Tensor, theirs: Tensor, *inputs: Tensor) -> None:
    """Values alike, and gradients of a function that weighs every number differently."""
    torch.testing.assert_close(ours, theirs)
    weight = torch.randn(ours.shape, dtype=ours.dtype, generator=torch.Generator().manual_seed(2))
    for mine, expected in zip(
        gradients(module, (ours.tanh() * weight).sum(), *inputs),
        gradients(module, (theirs.tanh() * weight).sum(), *inputs),
        strict=True,
    ):
        torch.testing.assert_close(mine, expected)


@settings(max_examples=25)
@given(lengths_of_sentences)
def test_both_ways_is_torch_on_packed_sequences(lengths: list[int]) -> None:
    module = lstm(bidirectional=True)
    words = torch.randn(sum(lengths), INPUT, dtype=torch.double, requires_grad=True)
    packing = Packing.of(torch.tensor(lengths))
    hidden = bilstm_states(module, words, packing)  # (words, 2, hidden) by place
    states = torch.stack(
        [
            torch.empty_like(hidden[:, 0]).index_copy(0, packing.forward, hidden[:, 0]),
            torch.empty_like(hidden[:, 1]).index_copy(0, packing.backward, hidden[:, 1]),
        ],
        1,
    )
    packed, (last, _) = module(pack_sequence(torch.split(words, lengths), enforce_sorted=False))
    padded, _ = pad_packed_sequence(packed, batch_first=True)
    expected = torch.cat([row[:length] for row, length in zip(padded, lengths, strict=True)])
    check(module, states.flatten(1), expected, words)
    check(module, hidden[packing.last].flatten(1), last.transpose(0, 1).flatten(1), words)
    check(module, bilstm_last_states(module, words, packing), last.transpose(0, 1).flatten(1), words)


@settings(max_examples=25)
@given(lengths_of_sentences)
def test_one_way_starts_from_the_given_state(lengths: list[int]) -> None:
    module = lstm(bidirectional=False)
    words = torch.randn(sum(lengths), INPUT, dtype=torch.double, requires_grad=True)
    initial = torch.randn(len(lengths), HIDDEN, dtype=torch.double, requires_grad=True)
    packing = Packing.of(torch.tensor(lengths))
    hidden = lstm_states(module, words[packing.forward], initial[packing.order], packing)
    states = torch.empty_like(hidden).index_copy(0, packing.forward, hidden)
    start = initial[None], torch.zeros_like(initial)[None]
    packed, _ = module(pack_sequence(torch.split(words, lengths), enforce_sorted=False), start)
    padded, _ = pad_packed_sequence(packed, batch_first=True)
    expected = torch.cat([row[:length] for row, length in zip(padded, lengths, strict=True)])
    check(module, states, expected, words, initial)


@pytest.mark.parametrize("lengths", [[1], [1, 1, 1], [5], [3, 1, 4, 1, 5]])
def test_every_word_has_one_place(lengths: list[int]) -> None:
    packing = Packing.of(torch.tensor(lengths))
    everything = list(range(sum(lengths)))
    assert sorted(packing.forward.tolist()) == sorted(packing.backward.tolist()) == everything
    assert sum(packing.sizes) == len(everything) and len(packing.sizes) == max(lengths)
    ends = (torch.tensor(lengths).cumsum(0) - 1).tolist()
    assert packing.forward[packing.last].tolist() == ends


def test_one_state_after_another_does_not_leak_into_the_next_sentence() -> None:
    module = lstm(bidirectional=True)
    words = torch.randn(6, INPUT, dtype=torch.double)
    packing = Packing.of(torch.tensor([2, 4]))
    before = bilstm_states(module, words, packing)[packing.last[0]]
    words[2:] = 9.0
    assert torch.equal(before, bilstm_states(module, words, packing)[packing.last[0]])


@settings(max_examples=25)
@given(lengths_of_sentences)
def test_equal_words_may_be_given_once(lengths: list[int]) -> None:
    module = lstm(bidirectional=True)
    distinct = torch.randn(3, INPUT, dtype=torch.double, requires_grad=True)
    rows = torch.arange(sum(lengths)) % 3
    packing = Packing.of(torch.tensor(lengths))
    check(
        module,
        bilstm_last_states(module, distinct, packing, rows),
        bilstm_last_states(module, distinct[rows], packing),
        distinct,
    )
