"""Optimisers and learning-rate schedules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from unshuffle.encoders.contracts import SentenceEncoder
from unshuffle.training.config import TrainingConfig

CHUNK = 1 << 18  # numbers; what one chunk needs stays in the processor's cache over all operations of a step


class Adadelta(torch.optim.Optimizer):
    """Adadelta (Zeiler, 2012) like torch's, walking each parameter in chunks that stay in the cache.

    Its running means are kept as (mean + epsilon) / (1 - rho): the step is a root of their quotient, in which the
    divisor is lost and both epsilons are there already, so that four of torch's operations need not be done.
    """

    def __init__(self, parameters: Iterable[Any], *, lr: float, rho: float, eps: float, weight_decay: float) -> None:
        super().__init__(parameters, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """One update of every parameter that has a gradient."""
        for group in self.param_groups:
            scratch: Tensor | None = None
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                if scratch is None:
                    scratch = parameter.new_empty(2, CHUNK)
                    epsilon = parameter.new_tensor(group["eps"])
                state = self.state[parameter]
                if not state:
                    start = group["eps"] / (1 - group["rho"])
                    state["squares"] = torch.full_like(parameter, start)
                    state["moves"] = torch.full_like(parameter, start)
                pieces = (
                    tensor.view(-1).split(CHUNK)
                    for tensor in (parameter, parameter.grad.contiguous(), state["squares"], state["moves"])
                )
                for value, grad, squares, moves in zip(*pieces, strict=True):
                    _update(value, grad, squares, moves, scratch[:, : len(value)], epsilon, group)


def _update(
    value: Tensor,
    grad: Tensor,
    squares: Tensor,
    moves: Tensor,
    scratch: Tensor,  # (2, numbers)
    epsilon: Tensor,
    group: Mapping[str, float],
) -> None:
    move, square = scratch
    torch.add(grad, value, alpha=group["weight_decay"], out=move)
    torch.addcmul(epsilon, move, move, out=square)
    torch.add(square, squares, alpha=group["rho"], out=squares)
    move.mul_(torch.div(squares, moves, out=square).rsqrt_())
    value.sub_(move, alpha=group["lr"])
    torch.addcmul(epsilon, move, move, out=square)
    torch.add(square, moves, alpha=group["rho"], out=moves)


def build_optimizer(module: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """An optimiser over what is to be trained; a pretrained encoder may have a learning rate of its own."""
    encoders = (part for part in module.modules() if isinstance(part, SentenceEncoder))
    own_rate = {id(parameter) for encoder in encoders for parameter in encoder.pretrained()}
    trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
    pretrained = [parameter for parameter in trained if id(parameter) in own_rate]
    rest = [parameter for parameter in trained if id(parameter) not in own_rate]
    groups: list[dict[str, Any]] = [{"params": rest, "lr": config.learning_rate}]
    if pretrained:
        groups.append({"params": pretrained, "lr": config.encoder_learning_rate or config.learning_rate})
    if config.optimizer == "adadelta":
        return Adadelta(
            groups, lr=config.learning_rate, rho=config.rho, eps=config.epsilon, weight_decay=config.weight_decay
        )
    kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    optimizer = kind(groups, lr=config.learning_rate, weight_decay=config.weight_decay, fused=True)
    # A fused step does not count as a change of the weights, and copies of them (`LaidOut`) would stay as they were.
    optimizer.register_step_post_hook(lambda *_: torch.autograd.graph.increment_version(trained))
    return optimizer


def rate(config: TrainingConfig, done: int, total: int) -> float:
    """The share of the learning rate that holds after `done` of `total` steps."""
    if config.warmup == 0:
        return 1.0
    rising = max(1, int(config.warmup * total))
    if done < rising:
        return (done + 1) / rising
    return max(0.0, (total - done) / max(1, total - rising))
