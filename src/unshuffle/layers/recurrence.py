"""An LSTM over sentences laid end to end: no padding, and one large product for the weight gradient.

Torch's own LSTM on packed sequences adds up the gradient of the recurrent weights step by step; on a processor that
takes most of the training time. Here the loop over words only carries states, in both directions at once, everything
that does not depend on the carried state is one operation over all words, and what is computed within a step is small
enough to stay in the processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor, nn

from unshuffle.layers.precision import single


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
    def of(cls, lengths: Tensor, starts: Tensor | None = None) -> Layout:
        """Longest sentences first, so that those still being read are always the first rows.

        `starts`: where each begins in the flat text, if they do not stand end to end.
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


class _SideBySide(torch.autograd.Function):
    """Hidden states of LSTMs that read side by side; gates are stacked input, forget, candidate, output.

    `projected` is turned into activations in place: it must be nobody else's, and no gradient may need its value.
    Gives the states at all places, and those at which the sentences end, by falling length. All four gates go through
    one sigmoid, and every tanh is 2 sigmoid(2x) - 1: torch's own costs twice as much.
    """

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, recurrent: Tensor, previous: Tensor, ends: Tensor, sizes: list[int]
    ) -> tuple[Tensor, Tensor]:
        gates = projected.detach()  # (directions, words, 4 width)
        directions, words, gates_width = gates.shape
        width = gates_width // 4
        cells = gates.new_empty(directions, words, width)
        squashed = gates.new_empty(directions, words, width)  # cells after their tanh
        hidden = gates.new_empty(directions, words, width)
        # All steps are cut at once: single slices, several a step, would cost as much as the work on short steps.
        let_in, forget, candidate, let_out = (torch.split(gate, sizes, 1) for gate in torch.split(gates, width, 2))
        four, cell, bent, state = (torch.split(table, sizes, 1) for table in (gates, cells, squashed, hidden))
        into = [torch.split(table, sizes) for table in gates.unbind(0)]
        old_state, old_cell = [_read_on(table, sizes) for table in hidden.unbind(0)], _read_on(cells, sizes)
        transposed = recurrent.transpose(1, 2).unbind(0)
        less = gates.new_tensor(-1.0)  # a number would be made a tensor in every step
        for step in range(len(sizes)):
            if step:
                for steps, old, weight in zip(into, old_state, transposed, strict=True):
                    steps[step].addmm_(old[step - 1], weight)
            torch.add(candidate[step], candidate[step], out=candidate[step])
            four[step].sigmoid_()
            torch.add(less, candidate[step], alpha=2, out=candidate[step])
            torch.mul(let_in[step], candidate[step], out=cell[step])
            if step:
                cell[step].addcmul_(forget[step], old_cell[step - 1])
            torch.add(cell[step], cell[step], out=bent[step]).sigmoid_()
            torch.add(less, bent[step], alpha=2, out=bent[step])
            torch.mul(let_out[step], bent[step], out=state[step])
        ctx.save_for_backward(gates, cells, squashed, hidden, recurrent, previous)
        ctx.sizes = sizes
        ctx.set_materialize_grads(False)
        return hidden, hidden.index_select(1, ends)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        grad_hidden, grad_last = grads
        gates, cells, squashed, hidden, recurrent, previous = ctx.saved_tensors
        sizes = ctx.sizes
        directions, _, width = hidden.shape
        grad_gates = torch.empty_like(gates)
        # Rows stand by falling length, so a sentence joins with the gradient of its end exactly when it is reached.
        shape = directions, sizes[0], width
        carry_hidden = hidden.new_zeros(shape) if grad_last is None else grad_last.clone()
        carry_cell = hidden.new_zeros(shape)
        let_in, forget, candidate, let_out = (torch.split(gate, sizes, 1) for gate in torch.split(gates, width, 2))
        to_let_in, to_forget, to_candidate, to_let_out = (
            torch.split(gate, sizes, 1) for gate in torch.split(grad_gates, width, 2)
        )
        bent = torch.split(squashed, sizes, 1)
        to_four = [torch.split(table, sizes) for table in grad_gates.unbind(0)]
        first_two, to_first_two = (torch.split(gate[:, :, : 2 * width], sizes, 1) for gate in (gates, grad_gates))
        old_cell = _read_on(cells, sizes)
        from_outside = None if grad_hidden is None else torch.split(grad_hidden, sizes, 1)
        weights, carried = recurrent.unbind(0), carry_hidden.unbind(0)
        for step in range(len(sizes) - 1, -1, -1):
            upstream, cell = carry_hidden[:, : sizes[step]], carry_cell[:, : sizes[step]]
            if from_outside is not None:
                upstream += from_outside[step]
            torch.mul(upstream, bent[step], out=to_let_out[step])
            through = upstream * let_out[step]
            cell += _through_tanh(through, bent[step])
            torch.mul(cell, candidate[step], out=to_let_in[step])
            torch.mul(cell, let_in[step], out=to_candidate[step])
            if step:
                torch.mul(cell, old_cell[step - 1], out=to_forget[step])
            else:
                to_forget[step].zero_()
            _through_sigmoid(to_first_two[step], first_two[step])
            _through_tanh(to_candidate[step], candidate[step])
            _through_sigmoid(to_let_out[step], let_out[step])
            if not step:
                break
            cell *= forget[step]
            for steps, weight, carry in zip(to_four, weights, carried, strict=True):
                torch.mm(steps[step], weight, out=carry[: sizes[step]])
        later = grad_gates[:, sizes[0] :].transpose(1, 2)
        return grad_gates, torch.bmm(later, hidden.index_select(1, previous)), None, None, None


def _read_on(table: Tensor, sizes: list[int]) -> tuple[Tensor, ...]:
    """For each step but the last, the rows of those sentences that the next step reads on."""
    cuts = [cut for now, later in pairwise(sizes) for cut in (later, now - later)]
    return torch.split(table, [*cuts, sizes[-1]], -2)[:-1:2]


def _through_sigmoid(grad: Tensor, value: Tensor) -> None:
    """The gradient of what went into a sigmoid that gave `value`, in place."""
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
    hidden, _ = _both_ways(lstm, words, layout)
    return hidden.transpose(0, 1)


def read_to_the_ends(lstm: nn.LSTM, words: Tensor, layout: Layout, rows: Tensor | None = None) -> Tensor:
    """(words, width) -> (sentences, 2 hidden): where both directions stop.

    `rows`: (words,) where each word stands in `words`, which then holds equal ones once.
    """
    _, last = _both_ways(lstm, words, layout, rows)
    return torch.empty_like(last).index_copy(1, layout.order, last).transpose(0, 1).flatten(1)


def read_one_way(lstm: nn.LSTM, inputs: Tensor, initial: Tensor, layout: Layout) -> Tensor:
    """(words, width) already in the layout's places -> (words, hidden): states of an LSTM started from `initial`."""
    weights = _Weights.of(lstm)
    projected = torch.addmm(weights.bias, inputs, weights.word.t())
    first = layout.sizes[0]
    # The initial state acts once, so it joins the first step's input; the initial cell is zero.
    started = torch.cat([projected[:first] + initial @ weights.recurrent.t(), projected[first:]])
    hidden, _ = _side_by_side(started[None], weights.recurrent[None], layout)
    return hidden[0]


def _both_ways(lstm: nn.LSTM, words: Tensor, layout: Layout, rows: Tensor | None = None) -> tuple[Tensor, Tensor]:
    forward, backward = _Weights.of(lstm), _Weights.of(lstm, "_reverse")
    places = torch.cat([layout.forward, layout.backward])
    weights = torch.stack([forward.word.t(), backward.word.t()])  # laid out for the way back, where it costs more
    bias = torch.stack([forward.bias, backward.bias])[:, None]
    if rows is None:
        # Narrow words are put in their places, not the wide gates that they become.
        inputs = words.index_select(0, places).view(2, len(layout.forward), -1)
        projected = torch.baddbmm(bias, inputs, weights)
    else:
        each = torch.baddbmm(bias, words.expand(2, *words.shape), weights).flatten(0, 1)
        chosen = rows[places].view(2, -1)
        chosen[1] += len(words)
        projected = each.index_select(0, chosen.flatten()).view(2, len(layout.forward), -1)
    return _side_by_side(projected, torch.stack([forward.recurrent, backward.recurrent]), layout)


def _side_by_side(projected: Tensor, recurrent: Tensor, layout: Layout) -> tuple[Tensor, Tensor]:
    ends = layout.last[layout.order]
    projected, recurrent = single(projected, recurrent)
    found: tuple[Tensor, Tensor] = _SideBySide.apply(projected, recurrent, layout.previous, ends, layout.sizes)  # type: ignore[no-untyped-call]
    return found
