"""An LSTM over sentences laid end to end: no padding, and one large product for the weight gradient.

Torch's own LSTM on packed sequences adds up the gradient of the recurrent weights step by step; on a processor that
takes most of the training time. Here the loop over words only carries states, in both directions at once, and
everything that does not depend on the carried state is one operation over all words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each word stands when all first words come first, then all second words, and so on."""

    forward: Tensor  # (words,) word of the flat text that is read at each place
    backward: Tensor  # (words,) the same for reading from the end
    order: Tensor  # (sentences,) sentences by falling length, as they stand in each step
    last: Tensor  # (sentences,) place at which a sentence has been read to its end
    previous: Tensor  # (words - sentences,) place read just before, for all places after the first step
    sizes: list[int]  # sentences still being read at each step

    @classmethod
    def of(cls, lengths: Tensor) -> Layout:
        """Longest sentences first, so that those still being read are always the first rows."""
        longest = int(lengths.max())
        order = torch.argsort(lengths, descending=True, stable=True)
        start = (lengths.cumsum(0) - lengths)[order]
        length = lengths[order]
        steps = torch.arange(longest, device=lengths.device)
        reading = steps[:, None] < length[None, :]  # (steps, sentences)
        forward = (start[None, :] + steps[:, None])[reading]
        backward = (start[None, :] + length[None, :] - 1 - steps[:, None])[reading]
        sizes = reading.sum(1)
        first = sizes.cumsum(0) - sizes
        row = torch.arange(len(lengths), device=lengths.device)
        last = torch.empty_like(lengths)
        last[order] = first[length - 1] + row
        previous = (first[:-1, None] + row[None, :])[reading[1:]]
        return cls(forward, backward, order, last, previous, sizes.tolist())


class _SideBySide(torch.autograd.Function):
    """Hidden states of LSTMs that read side by side; gates are stacked input, forget, candidate, output."""

    @staticmethod
    def forward(ctx: Any, projected: Tensor, recurrent: Tensor, previous: Tensor, sizes: list[int]) -> Tensor:
        words, directions, gates_width = projected.shape
        width = gates_width // 4
        gates = projected.clone()  # (words, 2, 4 width), turned into activations in place
        cells = projected.new_empty(words, directions, width)
        hidden = projected.new_empty(words, directions, width)
        transposed = recurrent.transpose(1, 2)
        place = 0
        for step, size in enumerate(sizes):
            here = slice(place, place + size)
            gate = gates[here]
            if step:
                before = slice(place - sizes[step - 1], place - sizes[step - 1] + size)
                for direction in range(directions):
                    gate[:, direction].addmm_(hidden[before, direction], transposed[direction])
            gate[..., : 2 * width].sigmoid_()
            gate[..., 2 * width : 3 * width].tanh_()
            gate[..., 3 * width :].sigmoid_()
            cell = torch.mul(gate[..., :width], gate[..., 2 * width : 3 * width], out=cells[here])
            if step:
                cell.addcmul_(gate[..., width : 2 * width], cells[before])
            torch.mul(gate[..., 3 * width :], cell.tanh(), out=hidden[here])
            place += size
        ctx.save_for_backward(gates, cells, hidden, recurrent, previous)
        ctx.sizes = sizes
        return hidden

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (grad_hidden,) = grads
        gates, cells, hidden, recurrent, previous = ctx.saved_tensors
        sizes = ctx.sizes
        words, directions, width = hidden.shape
        shaped = gates.view(words, directions, 4, width)
        let_in, forget, candidate, let_out = shaped.unbind(2)
        squashed = cells.tanh()
        through = let_out * (1 - squashed * squashed)  # hidden -> cell
        factor = torch.zeros_like(shaped)  # cell (for the third gate: hidden) -> gate before its squashing
        torch.mul(candidate, let_in * (1 - let_in), out=factor[:, :, 0])
        factor[sizes[0] :, :, 1] = cells[previous] * (forget * (1 - forget))[sizes[0] :]
        torch.mul(let_in, 1 - candidate * candidate, out=factor[:, :, 2])
        torch.mul(squashed, let_out * (1 - let_out), out=factor[:, :, 3])
        grad_gates = torch.empty_like(shaped)
        flat = grad_gates.view(words, directions, 4 * width)
        carry_hidden = hidden.new_zeros(sizes[0], directions, width)
        carry_cell = hidden.new_zeros(sizes[0], directions, width)
        place = words
        for step in range(len(sizes) - 1, -1, -1):
            size = sizes[step]
            place -= size
            here = slice(place, place + size)
            upstream = carry_hidden[:size]
            upstream += grad_hidden[here]
            cell = carry_cell[:size]
            cell.addcmul_(upstream, through[here])
            torch.mul(cell[:, :, None], factor[here, :, :3], out=grad_gates[here, :, :3])
            torch.mul(upstream, factor[here, :, 3], out=grad_gates[here, :, 3])
            if step:
                cell.mul_(forget[here])
                for direction in range(directions):
                    torch.mm(flat[here, direction], recurrent[direction], out=upstream[:, direction])
        later = flat[sizes[0] :]
        before = hidden[previous]
        grad_recurrent = torch.stack(
            [later[:, direction].t() @ before[:, direction] for direction in range(directions)]
        )
        return flat, grad_recurrent, None, None


@dataclass(frozen=True, slots=True)
class _Weights:
    """One direction of an LSTM's only layer."""

    word: Tensor  # (4 hidden, width)
    recurrent: Tensor  # (4 hidden, hidden)
    bias: Tensor  # (4 hidden,) both of torch's together

    @classmethod
    def of(cls, lstm: nn.LSTM, direction: str = "") -> _Weights:
        word, recurrent, one, other = (
            cast(Tensor, getattr(lstm, f"{name}_l0{direction}"))
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        return cls(word, recurrent, one + other)


def read_both_ways(lstm: nn.LSTM, words: Tensor, layout: Layout) -> Tensor:
    """(words, width) -> (words, 2, hidden): states of a one-layer bidirectional LSTM, in the layout's places."""
    forward, backward = _Weights.of(lstm), _Weights.of(lstm, "_reverse")
    weight = torch.cat([forward.word, backward.word])
    both = torch.addmm(torch.cat([forward.bias, backward.bias]), words, weight.t()).view(len(words), 2, -1)
    projected = torch.stack([both[layout.forward, 0], both[layout.backward, 1]], 1)  # (words, 2, 4 hidden)
    return _side_by_side(projected, torch.stack([forward.recurrent, backward.recurrent]), layout)


def read_one_way(lstm: nn.LSTM, inputs: Tensor, initial: Tensor, layout: Layout) -> Tensor:
    """(words, width) already in the layout's places -> (words, hidden): states of an LSTM started from `initial`."""
    weights = _Weights.of(lstm)
    projected = torch.addmm(weights.bias, inputs, weights.word.t())
    first = layout.sizes[0]
    # The initial state acts once, so it joins the first step's input; the initial cell is zero.
    started = torch.cat([projected[:first] + initial @ weights.recurrent.t(), projected[first:]])
    return _side_by_side(started[:, None], weights.recurrent[None], layout)[:, 0]


def _side_by_side(projected: Tensor, recurrent: Tensor, layout: Layout) -> Tensor:
    states: Tensor = _SideBySide.apply(projected, recurrent, layout.previous, layout.sizes)  # type: ignore[no-untyped-call]
    return states
