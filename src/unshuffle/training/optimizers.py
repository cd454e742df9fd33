"""Optimisers and learning-rate schedules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from unshuffle.training.config import TrainingConfig

CHUNK = 1 << 16  # numbers; what one chunk needs stays in the processor's cache over all operations of a step


class Adadelta(torch.optim.Optimizer):
    """Adadelta (Zeiler, 2012) like torch's, walking each parameter in chunks that stay in the cache."""

    def __init__(self, parameters: Iterable[Any], *, lr: float, rho: float, eps: float, weight_decay: float) -> None:
        super().__init__(parameters, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """One update of every parameter that has a gradient."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["square_avg"] = torch.zeros_like(parameter)
                    state["acc_delta"] = torch.zeros_like(parameter)
                pieces = (
                    tensor.view(-1).split(CHUNK)
                    for tensor in (parameter, parameter.grad.contiguous(), state["square_avg"], state["acc_delta"])
                )
                for value, grad, square, moved in zip(*pieces, strict=True):
                    _update(value, grad, square, moved, group)


def _update(value: Tensor, grad: Tensor, square: Tensor, moved: Tensor, group: Mapping[str, float]) -> None:
    rho, eps = group["rho"], group["eps"]
    grad = grad.add(value, alpha=group["weight_decay"])
    square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    step = (moved + eps).div_(square + eps).sqrt_().mul_(grad)
    value.add_(step, alpha=-group["lr"])
    moved.mul_(rho).addcmul_(step, step, value=1 - rho)


def build_optimizer(module: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """An optimiser over what is to be trained; a pretrained encoder may have a learning rate of its own."""
    pretrained: list[nn.Parameter] = []
    rest: list[nn.Parameter] = []
    for name, parameter in module.named_parameters():
        if parameter.requires_grad:
            (pretrained if ".pieces.model." in f".{name}" else rest).append(parameter)
    groups: list[dict[str, Any]] = [{"params": rest, "lr": config.learning_rate}]
    if pretrained:
        groups.append({"params": pretrained, "lr": config.encoder_learning_rate or config.learning_rate})
    if config.optimizer == "adadelta":
        return Adadelta(
            groups, lr=config.learning_rate, rho=config.rho, eps=config.epsilon, weight_decay=config.weight_decay
        )
    kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    return kind(groups, lr=config.learning_rate, weight_decay=config.weight_decay, fused=True)


def rate(config: TrainingConfig, done: int, total: int) -> float:
    """The share of the learning rate that holds after `done` of `total` steps."""
    if config.warmup == 0:
        return 1.0
    rising = max(1, int(config.warmup * total))
    if done < rising:
        return (done + 1) / rising
    return max(0.0, (total - done) / max(1, total - rising))
