"""An LSTM over concatenated sentences: no padding, and one large product for the weight gradient.

On a CPU, torch's own LSTM spends most of its training time adding up the gradient of the recurrent weights step by
step. Here the loop over words only carries states, in both directions at once; everything that does not depend on the
carried state is one operation over all words, and the work within a step is small enough to stay in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor, nn

from unshuffle.machine import single


@dataclass(frozen=True, slots=True)
class Packing:
    """The layout of torch's packed sequences: all first words, then all second words, and so on."""

    forward: Tensor  # (words,) the word of the flat text at each position
    backward: Tensor  # (words,) the same when reading from the end
    order: Tensor  # (sentences,) sentences by decreasing length, the rows of each step
    last: Tensor  # (sentences,) position of each sentence's last word
    previous: Tensor  # (words - sentences,) for all positions after the first step, the position read just before
    sizes: list[int]  # number of sentences still being read at each step

    @classmethod
    def of(cls, lengths: Tensor, starts: Tensor | None = None) -> Packing:
        """Longest sentences first, so that those still being read are always the first rows.

        `starts`: where each sentence starts in the flat text, unless they are simply concatenated.
        """
        longest = int(lengths.max())
        order = torch.argsort(lengths, descending=True, stable=True)
        start = (lengths.cumsum(0) - lengths if starts is None else starts)[order]
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


class _PackedLSTM(torch.autograd.Function):
    """Hidden states of one LSTM per direction; gates are stacked as input, forget, candidate, output.

    `projected` is overwritten with activations: nothing else may use it, and no gradient may need its value. Returns
    the states at all positions and those of the last words, by decreasing length. All four gates go through one
    sigmoid, and every tanh is 2 sigmoid(2x) - 1: torch's own costs twice as much.
    """

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, recurrent: Tensor, previous: Tensor, ends: Tensor, sizes: list[int]
    ) -> tuple[Tensor, Tensor]:
        gates = projected.detach()  # (directions, words, 4 width)
        directions, words, gates_width = gates.shape
        width = gates_width // 4
        cells = gates.new_empty(directions, words, width)
        cell_tanhs = gates.new_empty(directions, words, width)  # cells after their tanh
        hidden = gates.new_empty(directions, words, width)
        # All steps are split at once: several slices per step would cost as much as the work on short steps.
        input_gate, forget_gate, candidate, output_gate = (
            torch.split(gate, sizes, 1) for gate in torch.split(gates, width, 2)
        )
        all_gates, cell, cell_tanh, state = (
            torch.split(table, sizes, 1) for table in (gates, cells, cell_tanhs, hidden)
        )
        step_gates = [torch.split(table, sizes) for table in gates.unbind(0)]
        old_state, old_cell = [_continuing(table, sizes) for table in hidden.unbind(0)], _continuing(cells, sizes)
        transposed = recurrent.transpose(1, 2).unbind(0)
        minus_one = gates.new_tensor(-1.0)  # a number would be converted to a tensor in every step
        for step in range(len(sizes)):
            if step:
                for steps, old, weight in zip(step_gates, old_state, transposed, strict=True):
                    steps[step].addmm_(old[step - 1], weight)
            torch.add(candidate[step], candidate[step], out=candidate[step])
            all_gates[step].sigmoid_()
            torch.add(minus_one, candidate[step], alpha=2, out=candidate[step])
            torch.mul(input_gate[step], candidate[step], out=cell[step])
            if step:
                cell[step].addcmul_(forget_gate[step], old_cell[step - 1])
            torch.add(cell[step], cell[step], out=cell_tanh[step]).sigmoid_()
            torch.add(minus_one, cell_tanh[step], alpha=2, out=cell_tanh[step])
            torch.mul(output_gate[step], cell_tanh[step], out=state[step])
        ctx.save_for_backward(gates, cells, cell_tanhs, hidden, recurrent, previous)
        ctx.sizes = sizes
        ctx.set_materialize_grads(False)
        return hidden, hidden.index_select(1, ends)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        grad_hidden, grad_last = grads
        gates, cells, cell_tanhs, hidden, recurrent, previous = ctx.saved_tensors
        sizes = ctx.sizes
        directions, _, width = hidden.shape
        grad_gates = torch.empty_like(gates)
        # Rows are sorted by decreasing length, so a sentence joins with the gradient of its last word when reached.
        shape = directions, sizes[0], width
        carry_hidden = hidden.new_zeros(shape) if grad_last is None else grad_last.clone()
        carry_cell = hidden.new_zeros(shape)
        input_gate, forget_gate, candidate, output_gate = (
            torch.split(gate, sizes, 1) for gate in torch.split(gates, width, 2)
        )
        grad_input, grad_forget, grad_candidate, grad_output = (
            torch.split(gate, sizes, 1) for gate in torch.split(grad_gates, width, 2)
        )
        cell_tanh = torch.split(cell_tanhs, sizes, 1)
        grad_steps = [torch.split(table, sizes) for table in grad_gates.unbind(0)]
        first_two, grad_first_two = (torch.split(gate[:, :, : 2 * width], sizes, 1) for gate in (gates, grad_gates))
        old_cell = _continuing(cells, sizes)
        from_outside = None if grad_hidden is None else torch.split(grad_hidden, sizes, 1)
        weights, carried = recurrent.unbind(0), carry_hidden.unbind(0)
        for step in range(len(sizes) - 1, -1, -1):
            upstream, cell = carry_hidden[:, : sizes[step]], carry_cell[:, : sizes[step]]
            if from_outside is not None:
                upstream += from_outside[step]
            torch.mul(upstream, cell_tanh[step], out=grad_output[step])
            through = upstream * output_gate[step]
            cell += _through_tanh(through, cell_tanh[step])
            torch.mul(cell, candidate[step], out=grad_input[step])
            torch.mul(cell, input_gate[step], out=grad_candidate[step])
            if step:
                torch.mul(cell, old_cell[step - 1], out=grad_forget[step])
            else:
                grad_forget[step].zero_()
            _through_sigmoid(grad_first_two[step], first_two[step])
            _through_tanh(grad_candidate[step], candidate[step])
            _through_sigmoid(grad_output[step], output_gate[step])
            if not step:
                break
            cell *= forget_gate[step]
            for steps, weight, carry in zip(grad_steps, weights, carried, strict=True):
                torch.mm(steps[step], weight, out=carry[: sizes[step]])
        later = grad_gates[:, sizes[0] :].transpose(1, 2)
        return grad_gates, torch.bmm(later, hidden.index_select(1, previous)), None, None, None


def _continuing(table: Tensor, sizes: list[int]) -> tuple[Tensor, ...]:
    """For each step but the last, the rows of the sentences that continue in the next step."""
    cuts = [cut for now, later in pairwise(sizes) for cut in (later, now - later)]
    return torch.split(table, [*cuts, sizes[-1]], -2)[:-1:2]


def _through_sigmoid(grad: Tensor, value: Tensor) -> None:
    """The gradient before a sigmoid whose output was `value`, in place."""
    torch.ops.aten.sigmoid_backward.grad_input(grad, value, grad_input=grad)


def _through_tanh(grad: Tensor, value: Tensor) -> Tensor:
    """The same for a tanh."""
    found: Tensor = torch.ops.aten.tanh_backward.grad_input(grad, value, grad_input=grad)
    return found


@dataclass(frozen=True, slots=True)
class _Weights:
    """One direction of an LSTM's only layer."""

    word: Tensor  # (4 hidden, width)
    recurrent: Tensor  # (4 hidden, hidden)
    bias: Tensor  # (4 hidden,) the sum of torch's two

    @classmethod
    def of(cls, lstm: nn.LSTM, direction: str = "") -> _Weights:
        word, recurrent, one, other = (
            cast(Tensor, getattr(lstm, f"{name}_l0{direction}"))
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        return cls(word, recurrent, one + other)


def bilstm_states(lstm: nn.LSTM, words: Tensor, packing: Packing) -> Tensor:
    """(words, width) -> (words, 2, hidden): states of a one-layer bidirectional LSTM, in packed order."""
    hidden, _ = _bidirectional(lstm, words, packing)
    return hidden.transpose(0, 1)


def bilstm_last_states(lstm: nn.LSTM, words: Tensor, packing: Packing, rows: Tensor | None = None) -> Tensor:
    """(words, width) -> (sentences, 2 hidden): the last states of both directions.

    `rows`: (words,) the row of each word in `words`, which then holds each distinct word once.
    """
    _, last = _bidirectional(lstm, words, packing, rows)
    return torch.empty_like(last).index_copy(1, packing.order, last).transpose(0, 1).flatten(1)


def lstm_states(lstm: nn.LSTM, inputs: Tensor, initial: Tensor, packing: Packing) -> Tensor:
    """(words, width) in packed order -> (words, hidden): states of an LSTM that starts from `initial`."""
    weights = _Weights.of(lstm)
    projected = torch.addmm(weights.bias, inputs, weights.word.t())
    first = packing.sizes[0]
    # The initial state acts once, so it joins the first step's input; the initial cell is zero.
    started = torch.cat([projected[:first] + initial @ weights.recurrent.t(), projected[first:]])
    hidden, _ = _packed_lstm(started[None], weights.recurrent[None], packing)
    return hidden[0]


def _bidirectional(lstm: nn.LSTM, words: Tensor, packing: Packing, rows: Tensor | None = None) -> tuple[Tensor, Tensor]:
    forward, backward = _Weights.of(lstm), _Weights.of(lstm, "_reverse")
    positions = torch.cat([packing.forward, packing.backward])
    weights = torch.stack([forward.word.t(), backward.word.t()])  # laid out for the backward pass, where it costs more
    bias = torch.stack([forward.bias, backward.bias])[:, None]
    if rows is None:
        # The narrow word vectors are reordered, not the wide gates computed from them.
        inputs = words.index_select(0, positions).view(2, len(packing.forward), -1)
        projected = torch.baddbmm(bias, inputs, weights)
    else:
        each = torch.baddbmm(bias, words.expand(2, *words.shape), weights).flatten(0, 1)
        chosen = rows[positions].view(2, -1)
        chosen[1] += len(words)
        projected = each.index_select(0, chosen.flatten()).view(2, len(packing.forward), -1)
    return _packed_lstm(projected, torch.stack([forward.recurrent, backward.recurrent]), packing)


def _packed_lstm(projected: Tensor, recurrent: Tensor, packing: Packing) -> tuple[Tensor, Tensor]:
    ends = packing.last[packing.order]
    projected, recurrent = single(projected, recurrent)
    found: tuple[Tensor, Tensor] = _PackedLSTM.apply(projected, recurrent, packing.previous, ends, packing.sizes)  # type: ignore[no-untyped-call]
    return found
