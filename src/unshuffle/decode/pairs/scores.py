"""Networks that score every ordered pair of a document's sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn

from unshuffle.encoders.contracts import States
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import GraphBatch, ordered_pairs
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.segments import pad_documents
from unshuffle.refine.classifier import PairHead

Network = Literal["mlp", "classifier", "antisymmetric", "encoded"]


def pair_table(values: Tensor, pairs: Tensor, graph: GraphBatch) -> Tensor:
    """(pairs,) and (2, pairs) flat sentence numbers -> (documents, longest, longest), zeros elsewhere."""
    document = graph.document_of_sentence[pairs[0]]
    row, column = pairs - graph.first_sentence[document]
    longest = int(graph.sizes.max())
    return values.new_zeros(graph.documents, longest, longest).index_put((document, row, column), values)


class MLPScore(nn.Module):
    """[one; other] -> hidden -> logit (Chen, Qiu & Huang, 2016); the first layer is split per sentence."""

    def __init__(self, *, width: int, hidden: int, dropout: float, activation: str) -> None:
        super().__init__()
        self.from_one = nn.Linear(width, hidden)
        self.from_other = nn.Linear(width, hidden, bias=False)
        self.rest = nn.Sequential(
            nn.Tanh() if activation == "tanh" else nn.ReLU(), Dropout(dropout), nn.Linear(hidden, 1)
        )

    def forward(self, states: States, graph: GraphBatch) -> Tensor:
        """(documents, longest, longest) logits."""
        one = pad_documents(self.from_one(states.sentences), graph)
        other = pad_documents(self.from_other(states.sentences), graph)
        logits: Tensor = self.rest(one[:, :, None] + other[:, None]).squeeze(-1)
        return logits


class ClassifierScore(nn.Module):
    """The refiner's pair classifier on the ordering model's states (Lai et al., 4.2)."""

    def __init__(self, *, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.head = PairHead(width=width, hidden=hidden, dropout=dropout)

    def forward(self, states: States, graph: GraphBatch) -> Tensor:
        """(documents, longest, longest) logits."""
        pairs = ordered_pairs(graph)
        once = pairs[:, pairs[0] < pairs[1]]  # the head scores both directions
        forward, backward = self.head(states.sentences, once)
        return pair_table(torch.cat([forward, backward]), torch.cat([once, once.flip(0)], 1), graph)


class AntisymmetricScore(nn.Module):
    """W sin(one - other): the chances of both directions add up to 1 (STaCK, EMNLP 2021)."""

    def __init__(self, *, width: int, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.weight = nn.Linear(width, 1, bias=False)  # a bias would favour one direction

    def forward(self, states: States, graph: GraphBatch) -> Tensor:
        """(documents, longest, longest) logits."""
        rows = pad_documents(self.dropout(states.sentences), graph)
        logits: Tensor = self.weight(torch.sin(rows[:, :, None] - rows[:, None])).squeeze(-1)
        return logits


class EncodedScore(nn.Module):
    """A linear layer on a pair encoder's vectors (Prabhumoye et al., 2020: B-TSort)."""

    def __init__(self, *, pair_width: int, dropout: float) -> None:
        super().__init__()
        if not pair_width:
            raise ConfigError("decoder.network: 'encoded' needs a sentence encoder that encodes pairs. Use 'mlp'.")
        self.dropout = Dropout(dropout)
        self.score = nn.Linear(pair_width, 1)

    def forward(self, states: States, graph: GraphBatch) -> Tensor:
        """(documents, longest, longest) logits."""
        if states.encoded.pairs is None:
            raise ConfigError("decoder.network: 'encoded', but the sentence encoder gave no pairs. Use 'mlp'.")
        logits = self.score(self.dropout(states.encoded.pairs)).squeeze(-1)
        return pair_table(logits, ordered_pairs(graph), graph)


def pair_score(
    network: Network, *, width: int, pair_width: int, hidden: int, dropout: float, activation: str
) -> nn.Module:
    """The network of that name."""
    build: dict[str, Callable[[], nn.Module]] = {
        "mlp": lambda: MLPScore(width=width, hidden=hidden, dropout=dropout, activation=activation),
        "classifier": lambda: ClassifierScore(width=width, hidden=hidden, dropout=dropout),
        "antisymmetric": lambda: AntisymmetricScore(width=width, dropout=dropout),
        "encoded": lambda: EncodedScore(pair_width=pair_width, dropout=dropout),
    }
    return build[network]()
