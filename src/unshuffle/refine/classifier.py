"""The graph-based classifier: two sentence states to the probability of "comes first" (Lai et al., 4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, SentenceEncoder
from unshuffle.encoders.paragraph.grn import GRN
from unshuffle.graph.batch import Batch, GraphBatch
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.products import Linear
from unshuffle.layers.segments import select_rows


class PairHead(nn.Module):
    """[one; other] -> hidden -> hidden -> logit, without biases; the first layer is split per sentence."""

    def __init__(self, *, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.from_one = Linear(width, hidden, bias=False)
        self.from_other = Linear(width, hidden, bias=False)
        self.rest = nn.Sequential(
            nn.ReLU(),
            Dropout(dropout),
            Linear(hidden, hidden, bias=False),
            nn.ReLU(),
            Dropout(dropout),
            nn.Linear(hidden, 1, bias=False),
        )

    def forward(self, states: Tensor, pairs: Tensor) -> Tensor:
        """(sentences, width), (2, pairs) -> (2, pairs) logits: the first comes first; the second does."""
        one, other = self.from_one(states), self.from_other(states)
        first, second = pairs
        both = torch.stack(  # (2, pairs, hidden)
            [select_rows(one, first) + select_rows(other, second), select_rows(one, second) + select_rows(other, first)]
        )
        logits: Tensor = self.rest(both).squeeze(-1)
        return logits


class PairClassifier(nn.Module):
    """A graph network and a head on it, with a sentence encoder of its own unless it shares the ordering model's."""

    def __init__(self, sentence_encoder: SentenceEncoder | None, grn: GRN, head: PairHead) -> None:
        super().__init__()
        self.sentence_encoder = sentence_encoder
        self.grn = grn
        self.head = head

    def encode(self, batch: Batch, shared: Encoded | None) -> Encoded:
        """The sentences' vectors: its own, or those handed to it."""
        if self.sentence_encoder is not None:
            return self.sentence_encoder(batch)
        if shared is None:
            raise ValueError("a classifier without an encoder of its own needs the ordering model's vectors")
        return shared

    def forward(self, encoded: Encoded, graph: GraphBatch, weights: Tensor) -> Tensor:
        """(2, pairs) logits of both directions under these link weights."""
        logits: Tensor = self.head(self.grn(encoded, graph, weights).sentences, graph.pairs)
        return logits

    def probabilities(self, encoded: Encoded, graph: GraphBatch) -> Tensor:
        """(pairs,) chance that a pair's first sentence comes first, asked while nothing is decided yet."""
        return normalised(self(encoded, graph, undecided_weights(graph)))


def undecided_weights(graph: GraphBatch) -> Tensor:
    """(pairs,) the link weights of pairs of which nothing is known: 0.5 each."""
    return torch.full((graph.pairs.shape[1],), 0.5, device=graph.pairs.device)


def normalised(logits: Tensor) -> Tensor:
    """(2, pairs) logits of both directions -> (pairs,) chance that the first comes first; both scores are fresh."""
    # p / (p + q) by way of logarithms: where both are tiny, a quotient would settle pairs by their input order.
    forward, backward = nn.functional.logsigmoid(logits)
    share: Tensor = (forward - backward).sigmoid()
    return share


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
