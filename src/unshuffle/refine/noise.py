"""Link weights to train on: the truth, some of it hidden, some of it wrong (4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Corrupted:
    """Link weights as the iterative classifier sees them in training."""

    weights: Tensor  # (pairs,)
    changed: Tensor  # (pairs,) whether the weight does not tell the truth


def corrupt(
    truth: Tensor, *, known: float, noise_share: float, mask_share: float, generator: torch.Generator
) -> Corrupted:
    """`truth`: (pairs,) 1 where a pair's first sentence truly comes first, else 0.

    A share is hidden (0.5, what undecided pairs look like), a share gets a value on the wrong side, drawn uniformly.
    """
    # Drawn where the generator is, so that a seed draws the same on every device.
    draw = torch.rand(truth.shape, generator=generator, device=generator.device).to(truth.device)
    wrong_by = torch.rand(truth.shape, generator=generator, device=generator.device).to(truth.device)
    wrong_by = wrong_by * 0.5  # in [0, 0.5): the wrong side of the truth
    weights = torch.where(truth > 0.5, known, 1 - known)
    hidden = draw < mask_share
    wrong = (draw >= mask_share) & (draw < mask_share + noise_share)
    weights = torch.where(hidden, 0.5, weights)
    weights = torch.where(wrong, torch.where(truth > 0.5, wrong_by, 1 - wrong_by), weights)
    return Corrupted(weights, hidden | wrong)


def degraded(truth: Tensor, document: Tensor, documents: int, generator: torch.Generator) -> Tensor:
    """(pairs,) weights as a judge of some reliability q leaves them: q or 1 - q, right with chance q, or not asked.

    Each document draws its q from [0.5, 1] and how many of its pairs were asked, all of them in half the documents,
    so that what reads the weights can trust each by its value. `document`: (pairs,) that each pair belongs to.
    """
    # Drawn where the generator is, so that a seed draws the same on every device.
    drawn = torch.rand((2, documents), generator=generator, device=generator.device).to(truth.device)
    luck = torch.rand((2, len(truth)), generator=generator, device=generator.device).to(truth.device)
    reliability, asked = 0.5 + 0.5 * drawn[0, document], (2 * drawn[1, document]).clamp_max(1.0)
    first = (luck[0] < reliability) == (truth > 0.5)  # whether the judge says that the first comes first
    return torch.where(luck[1] < asked, torch.where(first, reliability, 1 - reliability), 0.5)
